"""How much the outbox does at once, and for how long."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """`run` is how many deliveries of one channel are read at once, up to `longest_run` when they are sent faster than
    read; `fresh` is how many seconds they may be sent before the channel's settings are read again. Destinations that
    answer may exceed `at_once` by half: see `places`."""

    at_once: int = 500
    per_destination: int = 20
    ahead: int = 200  # read for one destination before it has places
    run: int = 50
    longest_run: int = 400
    lane: int = 200  # due deliveries of one channel that are kept in memory
    page: int = 2_000  # notifications turned into deliveries, or due deliveries read, at once
    fresh: float = 1.0
    hanging: float = 2.0  # seconds after which an unfinished attempt makes its destination slow
    longest_attempt: float = 60.0  # seconds; a channel has a shorter limit of its own
    lease: float = 15.0
    renew: float = 5.0
    keep: float = 30 * 86_400.0  # seconds that done deliveries are kept
