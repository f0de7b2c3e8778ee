"""The outbox sends deliveries while it holds the lease; a second one waits to take over.

    notifications ──create──> deliveries ──due──> lanes ──contents──> Channel.send ──results──> the store

One task makes all calls to the store, in turns; sending goes on beside it. Whatever is killed and wherever, a delivery
whose result was not recorded is sent again under the same id.
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
from tidings.notifying.delivery import Channel
from tidings.notifying.outbox.delivery_sender import DeliverySender, MailNotice, rhythm_of_text
from tidings.notifying.outbox.limits import Limits
from tidings.notifying.outbox.notice_mailer import NoticeMailer
from tidings.notifying.outbox.schedule import MICROSECONDS, WAITS, gives_up
from tidings.notifying.outbox.term import Term
from tidings.schema import Instant
from tidings.store import ClockJumped, DeliveryContents, LeaseLost, Store

_POLL = 0.05  # seconds between looks for new notifications
_GROUP = 0.02  # seconds in which results gather to be recorded together
_ENOUGH = 500  # results that are recorded at once
_STANDBY = 1.0  # seconds between tries to take the lease
_GRACE = 5.0  # seconds that attempts under way have at the end
_SET_BACK = 60 * MICROSECONDS
_TIDY = 60 * MICROSECONDS
_SWEPT_AT_ONCE = 500  # deliveries, notices and channels, so that sending need not wait long
_log = logging.getLogger(__name__)
T = TypeVar("T")


class Outbox:
    """`random` gives numbers from 0 up to 1. `clock` says when something is due: the store's time unless set, which
    goes on evenly even while the host's clock is wrong."""

    def __init__(
        self,
        store: Store,
        channels: Mapping[str, Channel],
        clock: Callable[[], Instant] | None = None,
        random: Callable[[], float] = random.random,
        limits: Limits | None = None,
        holder: str | None = None,
        waits: Sequence[float] = WAITS,  # seconds, after the first failure, the second, …
        mail_notice: MailNotice | None = None,  # None: notices are not mailed
    ) -> None:
        self.holder = holder or f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._store = store
        self._limits = limits or Limits()
        longest = self._limits.longest_attempt
        self._sender = DeliverySender(channels, self._now, random, longest, waits, lambda: store.known_catalog)
        self._mailer = NoticeMailer(store, self.holder, self._sender, mail_notice, self._in_thread)
        self._clock = clock or store.clock.now
        self._latest = Instant(0)
        self._term: Term | None = None
        self._renew_at = 0
        self._woken = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "outbox-store")

    @property
    def is_leading(self) -> bool:
        return self._term is not None

    def busiest(self, most: int) -> list[tuple[str, int, str]]:
        """Destinations, the places that each takes now, and how it answers."""
        return [] if self._term is None else [*self._term.lanes.places.busiest(most)]

    @property
    def under_way(self) -> int:
        """Attempts that have begun, and results that are not recorded."""
        return 0 if self._term is None else self._term.under_way

    async def run(self, stopped: asyncio.Event) -> None:
        """Runs until stopped. Failures of the store are logged, and the turn is tried again."""
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
        """One round of everything to do now; returns whether there is more. Raises StoreError."""
        if self._clock() < self._latest - _SET_BACK:  # an operator confirmed it: what was due is looked for again
            self._stand_by()
            self._latest = self._clock()
        now = self._now()
        if not await self._hold_lease(now):
            return False
        assert self._term is not None
        term = self._term
        try:
            await self._record(term)
            created = await self._create(now)
            found = await self._look(term, now)
            term.lanes.wake(now)
            term.lanes.places.look(time.monotonic())
            await self._load(term, now)
            await self._mailer.look(now)
            await self._tidy(term, now)
        except LeaseLost as lost:
            _log.warning("%s", lost)
            self._stand_by()
            return False
        return created or found or term.lanes.can_choose or len(term.results) >= _ENOUGH

    async def close(self) -> None:
        """Waits some seconds for attempts under way, then gives the lease back."""
        try:
            if self._term is not None:
                term = self._term
                await asyncio.gather(term.finish(_GRACE), self._mailer.finish(_GRACE))
                await self._record(term)
                await self._in_thread(self._store.take_lease, self.holder, 0)
        except StoreError as problem:
            _log.warning("the outbox could not record its last results: %s", problem)
        finally:
            self._stand_by()
            self._thread.shutdown(wait=False)

    async def _hold_lease(self, now: Instant) -> bool:
        if self._term is not None and now < self._renew_at:
            return True
        if not await self._in_thread(self._store.take_lease, self.holder, self._limits.lease):
            self._stand_by()
            return False
        self._renew_at = now + int(self._limits.renew * MICROSECONDS)
        if self._term is None:
            _log.info("the outbox %s sends", self.holder)
            self._term = Term(self._limits, self._sender, self._now, self._woken)
        return True

    def _stand_by(self) -> None:
        """The next leader begins with what was not recorded."""
        if self._term is not None:
            self._term.end()
            self._mailer.end()
        self._term = None

    async def _record(self, term: Term) -> None:
        """Records the results gathered, once they are worth a transaction or nothing else is under way."""
        results, gone = term.results[:], term.gone[:]
        if results and (term.is_worth_recording(_ENOUGH) or term.is_ending):
            await self._in_thread(self._store.record_results, self.holder, results, self._now(), gives_up)
            term.recorded(len(results))
            term.lanes.forget(one.number for one in results)
            del term.gone[: len(gone)]
            for lane in gone:
                lane.asleep = False
                term.lanes.queue(lane)

    async def _create(self, now: Instant) -> bool:
        if not await self._in_thread(self._store.has_deliveries_to_create, now):
            return False
        page = self._limits.page
        return await self._in_thread(self._store.create_deliveries, self.holder, now, page, rhythm_of_text) > 0

    async def _look(self, term: Term, now: Instant) -> bool:
        """Adds what has become due to the lanes; returns whether there is more. Deliveries due at the time of the last
        look are read again: some may have come after it."""
        page = self._limits.page
        new = 0
        while not new:
            found = await self._in_thread(self._store.due, now, page, term.looked)
            new = term.lanes.add(found)
            if len(found) < page:
                term.looked = (int(now), 0)
                break
            term.looked = (int(found[-1].due), found[-1].number)
        for lane, first, many in term.lanes.short():
            rest = await self._in_thread(self._store.due_of, *lane.key, first, now, many)
            term.lanes.refill(lane, first, rest, len(rest) == many)
        return len(found) == page

    async def _load(self, term: Term, now: Instant) -> None:
        chosen = list(term.lanes.choose(2 * self._limits.at_once))
        if chosen:
            numbers = [number for _, firsts, retries in chosen for number in (*firsts, *retries)]
            term.load(chosen, await self._in_thread(self._contents, numbers), now)
        term.start()

    async def _tidy(self, term: Term, now: Instant) -> None:
        if now - term.tidied < _TIDY:
            return
        term.lanes.tidy(now)
        term.lanes.places.tidy(time.monotonic())
        before = Instant(max(0, now - int(self._limits.keep * MICROSECONDS)))
        try:
            removed = await self._in_thread(self._store.sweep, before, _SWEPT_AT_ONCE)
        except ClockJumped:  # nothing is removed or given up until it is right, but sending goes on
            removed = 0
        if removed < _SWEPT_AT_ONCE:
            term.tidied = now

    async def _pause(self, stopping: asyncio.Future[Any]) -> None:
        """Waits until something was sent, or it is time to look for new notifications."""
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

    def _contents(self, numbers: Sequence[int]) -> list[DeliveryContents]:
        self._store.catalog()  # whose headlines the titles are
        return self._store.contents(numbers)

    async def _in_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def _now(self) -> Instant:
        """Never earlier than before, whatever the clock does: what is due is looked for from the last look on."""
        self._latest = max(self._latest, self._clock())
        return self._latest
