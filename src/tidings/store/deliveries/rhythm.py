"""When a channel may send, as far as the store must know: the outbox hands it in, read from the channel's settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from tidings.schema import Instant


class Rhythm(Protocol):
    """When a channel may send."""

    @property
    def most(self) -> int:
        """Notifications in one delivery; 1: there is no digest."""

    @property
    def longest(self) -> int:
        """Microseconds for which a digest collects."""

    def due(self, now: Instant, recent: Sequence[int]) -> tuple[Instant, list[int]]:
        """The time of a first attempt, and the recent ones with it; the times asked for never decrease."""

    def awake(self, now: Instant) -> Instant:
        """That time, or the end of the quiet hours it falls into."""


Rhythms = Callable[[str], Rhythm]  # from a channel's settings, as JSON
