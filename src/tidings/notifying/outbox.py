"""The outbox sends what is owed, for as long as it holds the lease; a second one waits to take over.

    notifications ──spread──> parcels ──due──> lanes ──contents──> Channel.send ──settle──> the store

One task does all that concerns the store, in turns; the sending goes on beside it. Whatever is killed where, a parcel
whose result was not settled is sent again, under the same id.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import secrets
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from tidings.errors import StoreError
from tidings.notifying.lanes import Lane, Lanes, Limits, Pick
from tidings.notifying.parcel import Channel
from tidings.notifying.schedule import MICROSECONDS, WAITS, gives_up
from tidings.notifying.sending import Sending, destination_of, rhythm_of, rhythm_of_text
from tidings.schema import Instant
from tidings.store import Contents, LeaseLost, Result, Store
from tidings.store.clock import now as time_now

_POLL = 0.05  # seconds between looks for new notifications
_GROUP = 0.02  # seconds in which results gather to be settled together
_ENOUGH = 500  # results that are settled at once
_STANDBY = 1.0  # seconds between tries to take the lease
_GRACE = 5.0  # seconds that attempts under way have at the end
_TIDY = 60 * MICROSECONDS
_log = logging.getLogger(__name__)
T = TypeVar("T")


class _Term:
    """All that one time of holding the lease knows; the next begins with nothing."""

    def __init__(self, limits: Limits) -> None:
        self.lanes = Lanes(limits)
        self.results: list[Result] = []
        self.gone: list[Lane] = []  # whose receiver wants nothing any more, which is not settled yet
        self.tasks: set[asyncio.Task[None]] = set()
        self.looked = (0, 0)  # all that is due up to this time and number is in the lanes
        self.tidied = 0


class Outbox:
    """`random` gives numbers from 0 up to 1. Everything that is late is so by `clock`."""

    def __init__(
        self,
        store: Store,
        channels: Mapping[str, Channel],
        clock: Callable[[], Instant] = time_now,
        random: Callable[[], float] = random.random,
        limits: Limits | None = None,
        holder: str | None = None,
        waits: Sequence[float] = WAITS,  # seconds, after the first failure, the second, …
    ) -> None:
        self.holder = holder or f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._store = store
        self._limits = limits or Limits()
        self._sending = Sending(channels, self._now, random, self._limits.longest_attempt, waits)
        self._clock = clock
        self._latest = Instant(0)
        self._term: _Term | None = None
        self._renew_at = 0
        self._stopping = False
        self._woken = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "outbox-store")

    @property
    def is_leading(self) -> bool:
        return self._term is not None

    @property
    def under_way(self) -> int:
        """Attempts that have begun, and results that are not settled."""
        return 0 if self._term is None else self._term.lanes.running + len(self._term.results)

    async def run(self, stopped: asyncio.Event) -> None:
        """Until stopped. What fails in the store is logged and tried again."""
        stopping = asyncio.ensure_future(stopped.wait())
        try:
            while not stopped.is_set():
                try:
                    busy = await self.turn()
                except StoreError as problem:
                    _log.warning("the outbox waits for the store: %s", problem)
                    await asyncio.wait([stopping], timeout=_STANDBY)
                    continue
                if not busy:
                    await self._pause(stopping)
        finally:
            stopping.cancel()
            await self.close()

    async def turn(self) -> bool:
        """One round of all that is to be done now; whether there is more. Raises StoreError."""
        now = self._now()
        if not await self._hold_lease(now):
            return False
        assert self._term is not None
        term = self._term
        try:
            await self._settle(term)
            spread = await self._spread(now)
            found = await self._look(term, now)
            term.lanes.wake(now)
            await self._load(term, now)
            await self._tidy(term, now)
        except LeaseLost as lost:
            _log.warning("%s", lost)
            self._stand_by()
            return False
        return spread or found or term.lanes.can_choose or len(term.results) >= _ENOUGH

    async def close(self) -> None:
        """Lets attempts that are under way end, for some seconds, and gives the lease back."""
        self._stopping = True
        try:
            if self._term is not None:
                term = self._term
                if term.tasks:
                    await asyncio.wait(term.tasks, timeout=_GRACE)
                await self._settle(term)
                await self._in_thread(self._store.take_lease, self.holder, self._now(), self._now())
        except StoreError as problem:
            _log.warning("the outbox could not settle its last results: %s", problem)
        finally:
            self._stand_by()
            self._thread.shutdown(wait=False)

    async def _hold_lease(self, now: Instant) -> bool:
        if self._term is not None and now < self._renew_at:
            return True
        until = Instant(now + int(self._limits.lease * MICROSECONDS))
        if not await self._in_thread(self._store.take_lease, self.holder, until, now):
            self._stand_by()
            return False
        self._renew_at = now + int(self._limits.renew * MICROSECONDS)
        if self._term is None:
            _log.info("the outbox %s sends", self.holder)
            self._term = _Term(self._limits)
        return True

    def _stand_by(self) -> None:
        """Whoever sends now begins with what was not settled; what is in the air here is of no more use."""
        if self._term is not None:
            for task in self._term.tasks:
                task.cancel()
        self._term = None

    async def _settle(self, term: _Term) -> None:
        results, gone = term.results[:], term.gone[:]
        if results:
            await self._in_thread(self._store.settle, self.holder, results, self._now(), gives_up)
            del term.results[: len(results)]
            term.lanes.forget(one.number for one in results)
            del term.gone[: len(gone)]
            for lane in gone:
                lane.asleep = False
                term.lanes.queue(lane)

    async def _spread(self, now: Instant) -> bool:
        if not await self._in_thread(self._store.unspread, now):
            return False
        return await self._in_thread(self._store.spread, self.holder, now, self._limits.page, rhythm_of_text) > 0

    async def _look(self, term: _Term, now: Instant) -> bool:
        """Puts what has become due into the lanes; whether there is more. What is due at the time of the last look is
        looked at again: it may have come after it."""
        page = self._limits.page
        new = 0
        while not new:
            found = await self._in_thread(self._store.due, now, page, term.looked)
            new = term.lanes.add(found)
            if len(found) < page:
                term.looked = (int(now), 0)
                break
            term.looked = (int(found[-1].due), found[-1].number)
        many = self._limits.lane + self._limits.per_destination + self._limits.ahead  # more than are under way
        for lane, first in term.lanes.short():
            rest = await self._in_thread(self._store.due_of, *lane.key, first, now, many)
            term.lanes.refill(lane, first, rest, len(rest) == many)
        return len(found) == page

    async def _load(self, term: _Term, now: Instant) -> None:
        chosen = list(term.lanes.choose(2 * self._limits.at_once))
        if chosen:
            numbers = [number for _, firsts, retries in chosen for number in (*firsts, *retries)]
            found = await self._in_thread(self._store.contents, numbers)
            by_number = {one.parcel.number: one for one in found}
            term.lanes.forget(number for number in numbers if number not in by_number)
            read = time.monotonic()
            for lane, firsts, retries in chosen:
                if firsts:
                    contents = [by_number[number] for number in firsts if number in by_number]
                    self._ready(term, Pick(lane, True, contents, read), now)
                for number in retries:
                    if number in by_number:
                        self._ready(term, Pick(lane, False, [by_number[number]], read), now)
        self._start(term)

    def _ready(self, term: _Term, pick: Pick, now: Instant) -> None:
        """It waits at its destination; or, while the channel is quiet or over its rate, in its lane. That is asked
        again every minute: the owner may have changed the settings."""
        if not pick.contents:
            term.lanes.put_back(pick, [])
            return
        channel = pick.contents[0].channel
        allowed = rhythm_of(channel).allowed(now, pick.lane.recent if pick.first else ())
        if allowed > now:
            if not pick.lane.asleep:
                term.lanes.sleep(pick.lane, min(allowed, now + _TIDY))
            term.lanes.put_back(pick, pick.contents)
            return
        term.lanes.wait(pick, destination_of(channel))

    def _start(self, term: _Term, destination: str | None = None) -> None:
        for name, pick in term.lanes.startable(time.monotonic(), destination):
            task = asyncio.create_task(self._run(term, name, pick))
            term.tasks.add(task)
            task.add_done_callback(term.tasks.discard)

    async def _run(self, term: _Term, destination: str, pick: Pick) -> None:
        """One after the other, until something changes that must be looked at first."""
        unsent = pick.contents[:]
        try:
            while unsent and not self._stopping and self._may_go_on(pick, unsent[0]):
                result = await self._sending.attempt(unsent[0])
                del unsent[0]
                term.results.append(result)
                if result.gone:  # nothing more until the channel is disabled
                    pick.lane.asleep = True
                    term.gone.append(pick.lane)
                    break
        finally:
            term.lanes.ended(pick, destination, unsent)
            if term is self._term and not self._stopping:
                self._start(term, destination)
            self._woken.set()

    def _may_go_on(self, pick: Pick, one: Contents) -> bool:
        if time.monotonic() - pick.read > self._limits.fresh:
            return False
        rhythm = rhythm_of(one.channel)
        if pick.first and rhythm.rate is not None:
            now, lane = self._now(), pick.lane
            if rhythm.allowed(now, lane.recent) > now:
                return False
            lane.recent = [*lane.recent, int(now)][-rhythm.rate.count :]
            lane.recent_until = now + rhythm.rate.seconds * MICROSECONDS
        return True

    async def _tidy(self, term: _Term, now: Instant) -> None:
        if now - term.tidied < _TIDY:
            return
        term.lanes.tidy(now)
        before = Instant(max(0, now - int(self._limits.keep * MICROSECONDS)))
        if await self._in_thread(self._store.sweep, before, _ENOUGH) < _ENOUGH:
            term.tidied = now

    async def _pause(self, stopping: asyncio.Future[Any]) -> None:
        """Until something was sent, or it is time to look for new notifications."""
        if self._term is None:
            await asyncio.wait([stopping], timeout=_STANDBY)
            return
        try:
            async with asyncio.timeout(_POLL):
                await self._woken.wait()
        except TimeoutError:
            return
        self._woken.clear()
        if len(self._term.results) < _ENOUGH:
            await asyncio.sleep(_GROUP)

    async def _in_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def _now(self) -> Instant:
        """Never earlier than before, whatever the clock does: what is due is looked for from the last look on."""
        self._latest = max(self._latest, self._clock())
        return self._latest
