"""One channel's way out: the numbers of what it is owed now, and what is under way of it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from tidings.store import DeliveryContents

Key = tuple[str, str]  # subscription and owner
Loaded = tuple[float, DeliveryContents]  # when it was read, by the event loop's clock, and what


@dataclass(slots=True, eq=False)
class Lane:
    """`run` is how many first attempts are read in one go; it grows where they are sent quicker than read."""

    key: Key
    run: int
    firsts: list[int] = field(default_factory=list)  # a heap: by number is in order
    retries: deque[int] = field(default_factory=deque)
    more_firsts: bool = False  # others are due but not remembered here
    more_retries: bool = False
    known: int = 0  # numbers here, under way, or sent and not settled
    busy: bool = False  # first attempts are under way, or about to be
    going: Pick | None = None  # those first attempts, once they were started
    loading: bool = False  # more are being read for it
    queued: bool = False  # it is in the queue, or parked at a destination
    asleep: bool = False  # nothing of it is to be sent before it is woken
    destination: str | None = None  # where it went the last time
    recent: list[int] = field(default_factory=list)  # times of first attempts, where there is a rate
    recent_until: int = 0  # until when they matter

    @property
    def is_hungry(self) -> bool:
        """Whether more first attempts are to be read: there are none, or those under way come to their end."""
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
    """Deliveries of one lane to be sent one after the other: first attempts, or one retry. What is left of the former
    may be added to while they are under way."""

    lane: Lane
    first: bool
    left: deque[Loaded]

    @property
    def numbers(self) -> list[int]:
        return [one.delivery.number for _, one in self.left]
