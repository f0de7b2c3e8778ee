"""Chooses what to send next: a lane for each channel, and for each destination a queue.

    due deliveries ──> lanes ──> picks (with their contents) ──> destinations ──> started, where `places` has room

First attempts of a lane go one after the other, retries beside them. A destination that hangs delays only deliveries to
itself. Nothing here waits or sends; the outbox does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from tidings.notifying.outbox.lane import Key, Lane, Pick
from tidings.notifying.outbox.limits import Limits
from tidings.notifying.outbox.places import Places
from tidings.schema import Instant
from tidings.store import DueDelivery


@dataclass(slots=True, eq=False)
class Destination:
    waiting: deque[Pick] = field(default_factory=deque)
    parked: deque[Lane] = field(default_factory=deque)


class Lanes:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.places = Places(limits)
        self._lanes: dict[Key, Lane] = {}
        self._known: dict[int, Lane] = {}  # in a lane, under way, or sent and not recorded
        self._queue: deque[Lane] = deque()
        self._destinations: dict[str, Destination] = {}
        self._sleepers: list[tuple[int, int, Lane]] = []
        self._slept = 0  # tells apart lanes that wake at the same time

    def add(self, deliveries: Iterable[DueDelivery]) -> int:
        """Returns how many were new. A full lane takes nothing until `refill`: no delivery overtakes one that is due
        before it."""
        new = 0
        for delivery in deliveries:
            if delivery.number in self._known:
                continue
            lane = self._lane((delivery.subscription, delivery.owner))
            most = self._most(lane)
            if delivery.attempts == 0:
                lane.more_firsts = lane.more_firsts or len(lane.firsts) >= most
                if lane.more_firsts and delivery.number > max(lane.firsts, default=0):
                    continue
                heappush(lane.firsts, delivery.number)  # before others where it was held meanwhile
            else:
                lane.more_retries = lane.more_retries or len(lane.retries) >= most
                if lane.more_retries:
                    continue
                lane.retries.append(delivery.number)
            self._known[delivery.number] = lane
            lane.known += 1
            self.queue(lane)
            new += 1
        return new

    def short(self) -> list[tuple[Lane, bool, int]]:
        """Lanes without remembered first attempts, or retries, while more are due; with how many due deliveries to
        read, from the first on, to fill the lane again."""
        found = []
        for lane in self._lanes.values():
            if lane.more_firsts and not lane.firsts and lane.is_hungry:
                found.append((lane, True, lane.known + self._most(lane)))
            if lane.more_retries and not lane.retries:
                found.append((lane, False, lane.known + self._most(lane)))
        return found

    def refill(self, lane: Lane, first: bool, deliveries: Iterable[DueDelivery], more: bool) -> None:
        """Adds the lane's next deliveries; `more` says whether others follow."""
        if first:
            lane.more_firsts = False
        else:
            lane.more_retries = False
        self.add(deliveries)
        if first:
            lane.more_firsts |= more
        else:
            lane.more_retries |= more

    def queue(self, lane: Lane) -> None:
        if lane.has_work and not lane.queued and not lane.asleep:
            lane.queued = True
            self._queue.append(lane)

    def forget(self, numbers: Iterable[int]) -> None:
        """Their results were recorded, or they are not to be sent now. Those due again are found again."""
        for number in numbers:
            if (lane := self._known.pop(number, None)) is not None:
                lane.known -= 1

    def sleep(self, lane: Lane, until: int) -> None:
        """Sends nothing of it before this time."""
        lane.asleep = True
        self._slept += 1
        heappush(self._sleepers, (until, self._slept, lane))

    def wake(self, now: int) -> None:
        while self._sleepers and self._sleepers[0][0] <= now:
            lane = heappop(self._sleepers)[2]
            lane.asleep = False
            self.queue(lane)

    def choose(self, most: int) -> Iterator[tuple[Lane, list[int], list[int]]]:
        """Yields lanes, each with the first attempts and retries to read now: about `most` deliveries in all."""
        while self._queue and most > 0:
            lane = self._queue.popleft()
            if lane.destination is not None and self._free(lane.destination) <= 0:
                self._destination(lane.destination).parked.append(lane)
                continue
            lane.queued = False
            if lane.asleep:
                continue
            firsts: list[int] = []
            if lane.is_hungry:
                while lane.firsts and len(firsts) < lane.run:
                    firsts.append(heappop(lane.firsts))
            if firsts:
                lane.busy = lane.loading = True
            retries = [lane.retries.popleft() for _ in range(min(len(lane.retries), self._limits.per_destination))]
            self.queue(lane)
            if firsts or retries:
                most -= len(firsts) + len(retries)
                yield lane, firsts, retries

    def wait(self, pick: Pick, destination: str) -> None:
        """Queues the pick at its destination. First attempts join those under way to the same destination; when earlier
        ones have come in meanwhile, or the lane sleeps, they are put back."""
        lane = pick.lane
        passed = pick.first and lane.going is None and lane.firsts and lane.firsts[0] < pick.numbers[0]
        if lane.asleep or passed:
            self.put_back(pick)
        elif not pick.first or lane.going is None:
            lane.busy = lane.busy or pick.first
            lane.loading = lane.loading and not pick.first
            lane.destination = destination
            self._destination(destination).waiting.append(pick)
        elif lane.destination == destination:
            lane.loading = False
            lane.going.left.extend(pick.left)
        else:  # no more is read until those under way have ended
            self._remember(lane, True, pick.numbers)

    def startable(self, now: float, destination: str | None = None) -> list[tuple[str, Pick]]:
        """Picks that may start, there or anywhere; they count as running. Picks read too long ago are put back."""
        found = []
        for name in list(self._destinations) if destination is None else [destination]:
            if (there := self._destinations.get(name)) is None:
                continue
            while there.waiting and self.places.may_start(name):
                pick = there.waiting.popleft()
                if now - pick.left[0][0] > self._limits.fresh:
                    self.put_back(pick)
                    continue
                self.places.start(name)
                if pick.first:
                    pick.lane.going = pick
                found.append((name, pick))
            for _ in range(min(len(there.parked), self._free(name), self._limits.page)):
                lane = there.parked.popleft()
                lane.queued = False
                self.queue(lane)
            if not (there.waiting or there.parked):
                del self._destinations[name]
        return found

    def ended(self, pick: Pick, destination: str) -> None:
        """The pick has ended; part of it may be left."""
        self.places.end(destination, pick)
        lane = pick.lane
        if pick.first:
            lane.going = None
            if pick.left:  # it grew stale: read fewer at once
                lane.run = self._limits.run
            elif lane.firsts or lane.more_firsts:  # it waited for more to be read
                lane.run = min(2 * lane.run, self._limits.longest_run)
        self.put_back(pick)

    def put_back(self, pick: Pick) -> None:
        """Returns what is left to its lane, to be read again."""
        lane = pick.lane
        if pick.first:
            lane.busy, lane.loading = lane.going is not None, False
        self._remember(lane, pick.first, pick.numbers)

    def tidy(self, now: Instant) -> None:
        """Drops lanes with nothing to remember."""
        for key in [key for key, lane in self._lanes.items() if lane.is_idle and lane.recent_until <= now]:
            del self._lanes[key]

    @property
    def can_choose(self) -> bool:
        return bool(self._queue) and self.places.has_any

    def _remember(self, lane: Lane, first: bool, numbers: Sequence[int]) -> None:
        for number in numbers if first else ():
            heappush(lane.firsts, number)
        lane.retries.extend(() if first else numbers)
        self.queue(lane)

    def _lane(self, key: Key) -> Lane:
        return self._lanes.get(key) or self._lanes.setdefault(key, Lane(key, self._limits.run))

    def _most(self, lane: Lane) -> int:
        return max(self._limits.lane, 2 * lane.run)

    def _destination(self, name: str) -> Destination:
        return self._destinations.get(name) or self._destinations.setdefault(name, Destination())

    def _free(self, name: str) -> int:
        there = self._destinations.get(name)
        return self.places.free(name, len(there.waiting) if there else 0)
