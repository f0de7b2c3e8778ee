"""One term of leading: starts attempts, one after the other for each channel, and gathers their results.

    numbers chosen, contents read ──load──> lanes ──start──> attempts ──> results, which the outbox records

The next term starts from the store, with whatever was not recorded. Nothing here calls the store.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from tidings.notifying.delivery import destination_of
from tidings.notifying.outbox.delivery_sender import DeliverySender, rhythm_of
from tidings.notifying.outbox.lane import Lane, Pick
from tidings.notifying.outbox.lanes import Lanes
from tidings.notifying.outbox.limits import Limits
from tidings.notifying.outbox.schedule import MICROSECONDS
from tidings.schema import Instant
from tidings.store import AttemptResult, DeliveryContents

_ASKED_AGAIN = 60 * MICROSECONDS  # the owner may have changed the settings
_LONGEST_GATHERING = 0.1  # seconds that a result waits for others, to be recorded with them

Chosen = tuple[Lane, list[int], list[int]]


class Term:
    """`woken` is set when the outbox has something to do."""

    def __init__(
        self, limits: Limits, sender: DeliverySender, clock: Callable[[], Instant], woken: asyncio.Event
    ) -> None:
        self.lanes = Lanes(limits)
        self.results: list[AttemptResult] = []
        self.gone: list[Lane] = []  # their receiver wants nothing more (410), which is not recorded yet
        self.tasks: set[asyncio.Task[None]] = set()
        self.looked = (0, 0)  # all that is due up to this time and number is in the lanes
        self.tidied = 0
        self.is_ending = False  # nothing is begun any more
        self._limits, self._sender, self._clock, self._woken = limits, sender, clock, woken
        self._gathering_since = 0.0

    @property
    def under_way(self) -> int:
        """Attempts that have begun, and results that are not recorded."""
        return self.lanes.places.running + len(self.results)

    def is_worth_recording(self, enough: int) -> bool:
        waited = time.monotonic() - self._gathering_since
        return len(self.results) >= enough or waited >= _LONGEST_GATHERING or not self.lanes.places.running

    def recorded(self, count: int) -> None:
        del self.results[:count]
        self._gathering_since = time.monotonic()

    def load(self, chosen: Iterable[Chosen], found: Iterable[DeliveryContents], now: Instant) -> None:
        """`found` are the contents of those chosen that are still to be sent."""
        by_number = {one.delivery.number: one for one in found}
        read = time.monotonic()
        for lane, firsts, retries in chosen:
            self.lanes.forget(number for number in (*firsts, *retries) if number not in by_number)
            if firsts:
                self._ready(lane, True, [by_number[number] for number in firsts if number in by_number], read, now)
            for number in retries:
                if number in by_number:
                    self._ready(lane, False, [by_number[number]], read, now)

    def start(self, destination: str | None = None) -> None:
        for name, pick in self.lanes.startable(time.monotonic(), destination):
            task = asyncio.create_task(self._run(name, pick))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def finish(self, seconds: float) -> None:
        """Begins nothing new and waits for attempts under way."""
        self.is_ending = True
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=seconds)

    def end(self) -> None:
        """Cancels what is under way."""
        self.is_ending = True
        for task in self.tasks:
            task.cancel()

    def _ready(self, lane: Lane, first: bool, contents: Sequence[DeliveryContents], read: float, now: Instant) -> None:
        """The pick waits at its destination or, during quiet hours and above the rate, in its lane."""
        pick = Pick(lane, first, deque((read, one) for one in contents))
        if not contents:
            self.lanes.put_back(pick)
            return
        channel = contents[0].channel
        allowed = rhythm_of(channel).allowed(now, lane.recent if first else ())
        if allowed > now:
            if not lane.asleep:
                self.lanes.sleep(lane, min(allowed, now + _ASKED_AGAIN))
            self.lanes.put_back(pick)
            return
        self.lanes.wait(pick, destination_of(channel))

    async def _run(self, destination: str, pick: Pick) -> None:
        """Sends one after the other, until the channel must be read again or wait."""
        places, lane, left = self.lanes.places, pick.lane, pick.left
        try:
            while left and not self.is_ending and self._may_go_on(pick):
                places.begin(destination, pick, time.monotonic())
                result = await self._sender.attempt(left[0][1])
                places.attempted(destination, result, time.monotonic())
                left.popleft()
                if not self.results:
                    self._gathering_since = time.monotonic()
                self.results.append(result)
                if result.gone:  # nothing more until the channel is disabled
                    lane.asleep = True
                    self.gone.append(lane)
                    break
                if pick.first and lane.is_hungry and (lane.firsts or lane.more_firsts):
                    self.lanes.queue(lane)
                    self._woken.set()
        finally:
            self.lanes.ended(pick, destination)
            if not self.is_ending:
                self.start(destination)
            self._woken.set()

    def _may_go_on(self, pick: Pick) -> bool:
        read, one = pick.left[0]
        if time.monotonic() - read > self._limits.fresh:
            return False
        if pick.first and pick.lane.firsts and pick.lane.firsts[0] < one.delivery.number:  # it was held meanwhile
            return False
        rhythm = rhythm_of(one.channel)
        if pick.first and rhythm.rate is not None:
            now, lane = self._clock(), pick.lane
            if rhythm.allowed(now, lane.recent) > now:
                return False
            lane.recent = [*lane.recent, int(now)][-rhythm.rate.count :]
            lane.recent_until = now + rhythm.rate.seconds * MICROSECONDS
        return True
