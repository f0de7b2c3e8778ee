"""One channel's queue: the numbers of its due deliveries, and those under way."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from tidings.store import DeliveryContents

Key = tuple[str, str]  # subscription and owner
Loaded = tuple[float, DeliveryContents]  # when it was read, by the event loop's clock, and what


@dataclass(slots=True, eq=False)
class Lane:
    """`run` is how many first attempts are read at once; it grows when they are sent faster than read."""

    key: Key
    run: int
    firsts: list[int] = field(default_factory=list)  # a heap: by number is in order
    retries: deque[int] = field(default_factory=deque)
    more_firsts: bool = False  # more are due, but only in the store
    more_retries: bool = False
    known: int = 0  # numbers here, under way, or sent and not recorded
    busy: bool = False  # first attempts are under way, or about to be
    going: Pick | None = None  # those first attempts, once they were started
    loading: bool = False  # more are being read for it
    queued: bool = False  # it is in the queue, or parked at a destination
    asleep: bool = False  # nothing is sent until it is woken
    destination: str | None = None  # where it went the last time
    recent: list[int] = field(default_factory=list)  # times of first attempts, where there is a rate
    recent_until: int = 0  # until when they matter

    @property
    def is_hungry(self) -> bool:
        """Whether to read more first attempts: none are under way, or half of them are sent."""
        if self.going is None:
            return not self.busy
        return not self.loading and len(self.going.left) <= self.run // 2

    @property
    def has_work(self) -> bool:
        return bool(self.retries or (self.firsts and self.is_hungry))

    @property
    def is_idle(self) -> bool:
        return not (self.known or self.busy or self.queued or self.more_firsts or self.more_retries)


@dataclass(slots=True, eq=False)
class Pick:
    """Deliveries of one lane, sent one after the other: first attempts, or one retry. First attempts may be added while
    it is under way."""

    lane: Lane
    first: bool
    left: deque[Loaded]

    @property
    def numbers(self) -> list[int]:
        return [one.delivery.number for _, one in self.left]
