"""How much the outbox does at once, and for how long: one frozen value that its parts share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """`run` is how many of one channel are read in one go, up to `longest_run` where they are sent quicker than read;
    and `fresh` how many seconds they serve before a channel's settings are read again. `at_once` is passed by half at
    most, by those that answer: see `places`."""

    at_once: int = 500
    per_destination: int = 20
    ahead: int = 200  # read for one destination before it has room
    run: int = 50
    longest_run: int = 400
    lane: int = 200  # due deliveries of one channel that are remembered; of more, it is remembered that there are
    page: int = 2_000  # notifications made into deliveries, or due deliveries looked at, in one go
    fresh: float = 1.0
    hanging: float = 2.0  # seconds after which an attempt that is not over makes its destination a slow one
    longest_attempt: float = 60.0  # seconds; a channel has a shorter limit of its own
    lease: float = 15.0
    renew: float = 5.0
    keep: float = 30 * 86_400.0  # seconds after which a delivery is forgotten
