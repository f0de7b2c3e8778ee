"""What is to be sent next: a lane for each channel, and for each destination how much is under way.

    due parcels ──> lanes ──> picks (with their contents) ──> destinations ──> started

First attempts of a lane go one after the other, retries beside them. A destination that hangs holds what goes there,
and nobody else. Nothing here waits or sends; the outbox does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

from tidings.schema import Instant
from tidings.store import Contents, DueParcel

Key = tuple[str, str]  # subscription and owner


@dataclass(frozen=True, slots=True)
class Limits:
    """How much at once. `run` is how many of one channel are read ahead, and `fresh` how many seconds they serve
    before a channel's settings are read again."""

    at_once: int = 500
    per_destination: int = 20
    ahead: int = 200  # read for one destination before it has room
    run: int = 50
    lane: int = 200  # due parcels of one channel that are remembered; of more, it is remembered that there are
    page: int = 2_000  # notifications made into parcels, or due parcels looked at, in one go
    fresh: float = 1.0
    longest_attempt: float = 60.0  # seconds; a channel has a shorter limit of its own
    lease: float = 15.0
    renew: float = 5.0
    keep: float = 30 * 86_400.0  # seconds after which a delivery is forgotten


@dataclass(slots=True, eq=False)
class Lane:
    key: Key
    firsts: list[int] = field(default_factory=list)  # a heap: by number is in order
    retries: deque[int] = field(default_factory=deque)
    more_firsts: bool = False  # others are due but not remembered here
    more_retries: bool = False
    busy: bool = False  # a first attempt is under way
    queued: bool = False  # it is in the queue, or parked at a destination
    asleep: bool = False  # nothing of it is to be sent before it is woken
    destination: str | None = None  # where it went the last time
    recent: list[int] = field(default_factory=list)  # times of first attempts, where there is a rate
    recent_until: int = 0  # until when they matter

    @property
    def has_work(self) -> bool:
        return bool(self.retries or (self.firsts and not self.busy))

    @property
    def is_idle(self) -> bool:
        return not (self.retries or self.firsts or self.busy or self.queued or self.more_firsts or self.more_retries)


@dataclass(slots=True, eq=False)
class Pick:
    """Parcels of one lane to be sent one after the other: first attempts, or one retry."""

    lane: Lane
    first: bool
    contents: list[Contents]
    read: float  # by the event loop's clock


@dataclass(slots=True, eq=False)
class Destination:
    running: int = 0
    waiting: deque[Pick] = field(default_factory=deque)
    parked: deque[Lane] = field(default_factory=deque)


class Lanes:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lanes: dict[Key, Lane] = {}
        self._known: set[int] = set()  # in a lane, under way, or sent and not settled
        self._queue: deque[Lane] = deque()
        self._destinations: dict[str, Destination] = {}
        self._sleepers: list[tuple[int, int, Lane]] = []
        self._slept = 0  # tells apart lanes that wake at the same time
        self.running = 0

    def add(self, parcels: Iterable[DueParcel]) -> int:
        """How many were new. Once a lane is full, none is added until `refill`: those that are due before must not be
        passed."""
        new = 0
        for parcel in parcels:
            if parcel.number in self._known:
                continue
            key = (parcel.subscription, parcel.owner)
            lane = self._lanes.get(key) or self._lanes.setdefault(key, Lane(key))
            if parcel.attempts == 0:
                lane.more_firsts = lane.more_firsts or len(lane.firsts) >= self._limits.lane
                if lane.more_firsts:
                    continue
                heappush(lane.firsts, parcel.number)
            else:
                lane.more_retries = lane.more_retries or len(lane.retries) >= self._limits.lane
                if lane.more_retries:
                    continue
                lane.retries.append(parcel.number)
            self._known.add(parcel.number)
            self.queue(lane)
            new += 1
        return new

    def refill(self, lane: Lane, first: bool, parcels: Iterable[DueParcel], more: bool) -> None:
        """With the lane's next ones; whether there are more after them."""
        if first:
            lane.more_firsts = False
        else:
            lane.more_retries = False
        self.add(parcels)
        if first:
            lane.more_firsts |= more
        else:
            lane.more_retries |= more

    def queue(self, lane: Lane) -> None:
        if lane.has_work and not lane.queued and not lane.asleep:
            lane.queued = True
            self._queue.append(lane)

    def forget(self, numbers: Iterable[int]) -> None:
        """They were settled, or are not to be sent now; those that come due again are found again."""
        self._known.difference_update(numbers)

    def sleep(self, lane: Lane, until: int) -> None:
        """Nothing of it is to be sent before this time."""
        lane.asleep = True
        self._slept += 1
        heappush(self._sleepers, (until, self._slept, lane))

    def wake(self, now: int) -> None:
        while self._sleepers and self._sleepers[0][0] <= now:
            lane = heappop(self._sleepers)[2]
            lane.asleep = False
            self.queue(lane)

    def choose(self, most: int) -> Iterator[tuple[Lane, list[int], list[int]]]:
        """Lanes, each with the first attempts and retries to read now: about so many parcels in all."""
        while self._queue and most > 0:
            lane = self._queue.popleft()
            if lane.destination is not None and self._is_full(there := self._destination(lane.destination)):
                there.parked.append(lane)
                continue
            lane.queued = False
            if lane.asleep:
                continue
            firsts: list[int] = []
            while lane.firsts and not lane.busy and len(firsts) < self._limits.run:
                firsts.append(heappop(lane.firsts))
            lane.busy = lane.busy or bool(firsts)
            retries = [lane.retries.popleft() for _ in range(min(len(lane.retries), self._limits.per_destination))]
            self.queue(lane)
            if firsts or retries:
                most -= len(firsts) + len(retries)
                yield lane, firsts, retries

    def wait(self, pick: Pick, destination: str) -> None:
        """It is ready to be started there."""
        pick.lane.destination = destination
        self._destination(destination).waiting.append(pick)

    def startable(self, now: float, destination: str | None = None) -> list[tuple[str, Pick]]:
        """What may be started, there or anywhere; it counts as running. What was read too long ago is put back."""
        found = []
        for name in [destination] if destination is not None else list(self._destinations):
            there = self._destinations[name]
            while there.waiting and there.running < self._limits.per_destination and self._has_room:
                pick = there.waiting.popleft()
                if now - pick.read > self._limits.fresh:
                    self.put_back(pick, pick.contents)
                    continue
                there.running += 1
                self.running += 1
                found.append((name, pick))
            while there.parked and not self._is_full(there):
                lane = there.parked.popleft()
                lane.queued = False
                self.queue(lane)
                if len(self._queue) > self._limits.page:
                    break
            if not (there.running or there.waiting or there.parked):
                del self._destinations[name]
        return found

    def ended(self, pick: Pick, destination: str, unsent: list[Contents]) -> None:
        """It has run; some of it perhaps not."""
        self.running -= 1
        self._destination(destination).running -= 1
        self.put_back(pick, unsent)

    def put_back(self, pick: Pick, unsent: list[Contents]) -> None:
        numbers = [one.parcel.number for one in unsent]
        self.put_back_numbers(pick.lane, numbers if pick.first else [], [] if pick.first else numbers)
        if pick.first:
            pick.lane.busy = False
        self.queue(pick.lane)

    def put_back_numbers(self, lane: Lane, firsts: list[int], retries: list[int]) -> None:
        for number in firsts:
            heappush(lane.firsts, number)
        lane.retries.extend(retries)

    def short(self) -> list[tuple[Lane, bool]]:
        """Lanes that have sent all first attempts they remember, or all retries, and know that there are more."""
        found = []
        for lane in self._lanes.values():
            if lane.more_firsts and not lane.firsts and not lane.busy:
                found.append((lane, True))
            if lane.more_retries and not lane.retries:
                found.append((lane, False))
        return found

    def tidy(self, now: Instant) -> None:
        """Lets go of lanes that nothing is to be remembered of."""
        for key in [key for key, lane in self._lanes.items() if lane.is_idle and lane.recent_until <= now]:
            del self._lanes[key]

    @property
    def can_choose(self) -> bool:
        return bool(self._queue) and self._has_room

    @property
    def _has_room(self) -> bool:
        return self.running < self._limits.at_once

    def _destination(self, name: str) -> Destination:
        return self._destinations.get(name) or self._destinations.setdefault(name, Destination())

    def _is_full(self, there: Destination) -> bool:
        return there.running + len(there.waiting) >= self._limits.per_destination + self._limits.ahead
