"""One server of a network at work: the machine, its store, its clock and its postmen.

The machine runs in the event loop. What it wants stored is written by one thread, in order and many at once; what it
wants sent leaves when everything before it is on the disk. `schema_log` has its schema, `following` what the gateway
wrote, `customs` what neighbours may send, `answers` who waits for what.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from uuid import uuid4

from tidings.errors import StoreError, TidingsError
from tidings.network.answers import Answers
from tidings.network.contents import Content
from tidings.network.customs import bears, not_takeable
from tidings.network.departures import Departures
from tidings.network.engine_filters import EngineFilters
from tidings.network.following import Following, subscribed
from tidings.network.moving_in import stowing
from tidings.network.postman import Postman
from tidings.network.rates import Rates
from tidings.network.schema_log import SchemaLog
from tidings.network.stored import Stamps, Writing, load
from tidings.network.wire import decode
from tidings.overlay import messages as m
from tidings.overlay.durable import Arrived, Journaled, Ordered
from tidings.overlay.machine import receive, start
from tidings.overlay.server import Outcome
from tidings.overlay.values import BEGINNING, Event, Growth, Limits, Order, Timing
from tidings.store import DeadLetter, Heard, Refused, Store
from tidings.store import Outcome as Stored
from tidings.store.network.nodes import StoredLink

_log = logging.getLogger(__name__)
_LOOK = 0.02  # seconds between two looks at the journal
_TICK = 0.1  # seconds; interests and trees follow with the next one
_MOST_AT_ONCE = 200  # changes in one transaction
_LOOK_AT_ACCOUNTS = 1.0  # seconds: commands on the store tell nobody
_CLEAN_EVERY = 600.0  # seconds
# For one request of a neighbour. The rest is dropped and sent again; and for as long as it took, only heartbeats of
# that neighbour count, so that whatever it sends, half of the time is left for others.
_MOST_SECONDS = 0.5
_MOST_SEARCHES = 2  # at once; others wait, since each is work for all servers
_MOST_LOGGED = 100  # messages that failed


class Node:
    """Made inside the event loop that runs it."""

    def __init__(self, store: Store, timing: Timing | None = None, limits: Limits | None = None) -> None:
        self.store = store
        tail = store.tail()  # before the rest: what is accepted meanwhile is followed
        found = store.node()
        assert found is not None, "the service gives a server its name before it starts the node"
        self._began = time.time() - time.monotonic()
        self._stamps = Stamps()
        self._writing = Writing(store.catalog(), self._own_after)
        self._schema = SchemaLog(store, self._stamps, EngineFilters(self._writing.catalog))
        self._thread = ThreadPoolExecutor(1, "tidings-network")
        self._queue: deque[Outcome] = deque()
        self._work = asyncio.Event()
        self.postmen: dict[str, Postman] = {}
        self.links: dict[str, StoredLink] = {}
        self._answers = Answers()
        self._paused: dict[str, float] = {}  # until when only heartbeats of a neighbour count
        self._searching = asyncio.Semaphore(_MOST_SEARCHES)
        self.counts: Counter[str] = Counter()
        self.rates = Rates()
        self.stored_orders = len(found.orders)
        self.problem = ""
        self._advertised = store.advertised()
        durable = load(store, found, self._stamps, self.filters)
        durable.subscriptions.update(subscribed(store, self.filters))
        self.server, outcome = start(
            found.name, found.identity, durable, self.filters, self.now(), timing=timing, limits=limits
        )
        self.departures = Departures(store, self.server, self._stamps)
        followed = max(tail, found.position)
        self._following = Following(
            store, self.server, self._stamps, self._schema, followed, self.command, self._complete_orders
        )
        self.server.refuses = self._schema.why_not
        self.server.size_of = _size_of
        self.server.size_of_order = _size_of_order
        self._take(outcome)
        self._complete_orders()
        self.read_links()
        self._tasks = [asyncio.create_task(one) for one in (self._follow(), self._tick(), self._write())]

    @property
    def filters(self) -> EngineFilters:
        return self._schema.filters

    def now(self) -> float:
        """By the clock at the start, and steady from then on."""
        return self._began + time.monotonic()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        for postman in self.postmen.values():
            await postman.close()
        self._thread.shutdown()

    @property
    def failed(self) -> BaseException | None:
        """Why one of its tasks ended, which none does by itself."""
        for task in self._tasks:
            if task.done() and not task.cancelled():
                return task.exception() or RuntimeError("a task ended")
        return None

    # What comes in

    def command(self, command: m.Command) -> None:
        self._take(receive(self.server, command, self.now())[1])

    def hear(self, neighbour: str, data: bytes) -> int:
        """What a neighbour sent. Raises WrongMessage; a filter that is none counts as not sent."""
        messages = decode(data)
        self.rates.count("from", neighbour, len(messages))
        self.follow_changes()
        begun = time.monotonic()
        paused = begun < self._paused.get(neighbour, 0.0)
        for message in messages:
            late = paused or time.monotonic() - begun > _MOST_SECONDS
            if late and not isinstance(message, m.Heartbeat | m.HeartbeatAnswer):
                self.counts["dropped"] += 1
                continue
            if (problem := not_takeable(self.server, self.filters, message)) is not None:
                self._refuse(*problem)
            elif bears(self.server, self.filters, message):
                self._receive(neighbour, message)
            else:
                self.counts["refused"] += 1
        if (spent := time.monotonic() - begun) > _MOST_SECONDS:
            self._paused[neighbour] = begun + 2 * spent
        return len(messages)

    def _receive(self, neighbour: str, message: m.Message) -> None:
        """A message that fails is dropped: no neighbour can end this process. What it changed before stays."""
        try:
            outcome = receive(self.server, m.From(neighbour, message), self.now())[1]
        except StoreError:
            raise
        except Exception:
            self.counts["failed"] += 1
            if self.counts["failed"] <= _MOST_LOGGED:
                _log.exception("%s of %s was dropped", type(message).__name__, neighbour)
            outcome = self.server.outcome()
        self._take(outcome)

    def _own_after(self, change: Arrived) -> int:
        """How far the old server of a subscription that arrived had this server's own events."""
        mark = dict(change.given).get(self.server.name, BEGINNING)
        return self.server.durable.count_of(mark)

    def _refuse(self, offer: m.MoveIn, reason: str) -> None:
        """The subscription does not move in: nothing of it stays."""
        self.counts["refused"] += 1
        self.server.arrived.pop((offer.giver, offer.subscription), None)
        self.server.route(offer.giver, m.MoveRefused(offer.subscription, reason))
        self._take(self.server.outcome())

    def follow_changes(self) -> None:
        """What the gateway wrote into the journal."""
        self._following.look()

    def _take(self, outcome: Outcome) -> None:
        if any(isinstance(change, Ordered) for change in outcome.changes):
            self._bind_anew(self._schema.learn(self.server, outcome.changes))
        if outcome.changes or outcome.sends or outcome.told:
            self._queue.append(outcome)
            self._work.set()

    def _bind_anew(self, changed: bool) -> None:
        if changed:
            self.command(m.Adopt(self.filters))

    def _complete_orders(self) -> None:
        if count := self._schema.complete(self.server):
            self.stored_orders += count
            outcome = self.server.outcome()
            self._take(Outcome([], outcome.sends, outcome.told))
            self._writing.catalog = self.store.catalog()
            self._bind_anew(self._schema.adopt(self._writing.catalog))

    # Tasks

    async def _follow(self) -> None:
        while True:
            with self._store_troubles():
                self.follow_changes()
            await asyncio.sleep(_LOOK)

    async def _tick(self) -> None:
        cleaned = looked = self.now()
        while True:
            with self._store_troubles():
                self.follow_changes()
                self.rates.look(self.now())
                if self.now() - looked > _LOOK_AT_ACCOUNTS:
                    looked = self.now()
                    if self.store.advertised() != self._advertised:
                        self.read_advertisements()
                self.command(m.Tick())
                for to, move in self.departures.due(self.now(), self.filters):
                    self._offer(to, move)
                if self.now() - cleaned > _CLEAN_EVERY:
                    cleaned = self.now()
                    self.command(m.Forget(self.store.complete_from() - 1))
                    await asyncio.get_running_loop().run_in_executor(self._thread, self.store.forget_arrivals)
            await asyncio.sleep(_TICK)

    def _offer(self, to: str, move: m.Move | m.Luggage) -> None:
        if isinstance(move, m.Move):
            self.command(move)
        else:
            self.server.route(to, move)
            self._take(self.server.outcome())

    def _store_troubles(self) -> suppress:
        return suppress(StoreError)  # told by the writer, which does not go on

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._work.wait()
            if not self._queue:
                self._work.clear()
                continue
            some = [self._queue.popleft() for _ in range(min(len(self._queue), _MOST_AT_ONCE))]
            heard = [one for outcome in some for change in outcome.changes if (one := self._writing.heard(change))]
            if heard:
                outcomes = await loop.run_in_executor(self._thread, self.store.store_heard, heard)
                self.stored_orders += sum(len(one.orders) for one in heard)
                self.counts["journaled"] += sum(not isinstance(one, Refused) for one in outcomes)
                self._note_refusals(some, heard, outcomes)
            self._bury()
            for outcome in some:
                self._send(outcome)

    def _note_refusals(self, some: list[Outcome], heard: list[Heard], outcomes: list[Stored]) -> None:
        """The store did not take a subscription that arrived: its old server hears why, instead of that it did."""
        ends = itertools.accumulate(len(one.arrivals) + (one.moved_in is not None) for one in heard)
        for one, end in zip(heard, ends, strict=True):
            result = outcomes[end - 1] if one.moved_in is not None else None
            if one.moved_in is None or not isinstance(result, Refused):
                continue
            id, giver = one.moved_in.subscription.id, one.moved_in.giver
            for outcome in some:
                outcome.sends = [(to, sent) for to, sent in outcome.sends if not _says_moved_in(sent, giver, id)]
            self.server.arrived.pop((giver, id), None)
            self.server.route(giver, m.MoveRefused(id, str(result.error)))
            self._take(self.server.outcome())
            self._following.subscribe({id})

    def _bury(self) -> None:
        """What neighbours sent that is no event here: somebody should know of it."""
        refused, self._writing.refused = self._writing.refused, []
        self.counts["refused"] += len(refused)
        letters = [
            DeadLetter(f"network:{event.origin}", f"{event.stamp}", event.id, _payload(event)[:10_000], why.errors)
            for event, why in refused[:100]
        ]
        if letters:
            self.store.bury(letters)

    def _send(self, outcome: Outcome) -> None:
        for neighbour, message in outcome.sends:
            if postman := self.postmen.get(neighbour):
                postman.send(message)
                self.rates.count("to", neighbour, 1)
        for change in outcome.changes:
            if isinstance(change, Journaled):
                self.counts["taken"] += len(change.events)
        for told in outcome.told:
            self._tell(told)

    def _stow(self, luggage: m.Luggage) -> None:
        """Notifications that come before their subscription; its old server hears how far they are here."""
        try:
            upto = self.store.stow(stowing(luggage, self._writing.catalog), luggage.after, luggage.upto)
            answer = m.Stowed(luggage.subscription, upto)
        except Exception as problem:  # what a neighbour wrote may fail in any way
            self.counts["refused"] += 1
            answer = m.Stowed(luggage.subscription, 0, str(problem))
        self.server.route(luggage.giver, answer)
        self._take(self.server.outcome())

    def _tell(self, told: m.Told) -> None:
        match told:
            case m.Left(reason):
                self.problem = f"it left the network: {reason}"
                _log.error("%s", self.problem)
            case m.Settled(name) | m.Granted(name) | m.Found(name) | m.Refused(m.Request(name)):
                self._answers.tell(name, told)
            case m.Luggage():
                self._stow(told)
            case m.Stowed():
                self.departures.stowed(told)
            case m.Departed(subscription):
                self.store.departed(subscription)
            case m.Refused(m.Move(subscription, marks=None), reason):
                self.departures.refused(subscription, reason)
            case m.Refused(m.Move()):
                pass  # it cannot be reached now; offered again
            case _:
                _log.warning("%s", told)

    # What the gateway asks

    async def ask(self, command: Callable[[str], m.Command], patience: float, name: str = "") -> m.Told | None:
        """What the machine tells of a command of this name; None if it says nothing in time."""
        name = name or uuid4().hex
        with self._answers.awaited(name) as answer:
            self.follow_changes()
            self.command(command(name))
            self.command(m.Tick())
            try:
                return await asyncio.wait_for(answer, patience)
            except TimeoutError:
                return None
            finally:
                self.server.settling.pop(name, None)

    async def search(self, text: str, most: int, patience: float) -> tuple[list[m.Found], list[str]]:
        """What the servers in reach answered, and the names of those that did not in time. Raises LanguageError."""
        name = uuid4().hex
        self.filters.check(text)
        expected = {*self.server.hops, self.server.name}
        away = sorted(set(self.server.states) - expected)
        found: list[m.Found] = []
        with self._answers.searching(name) as answers, suppress(TimeoutError):
            async with asyncio.timeout(patience), self._searching:
                self.command(m.Query(name, text, most))
                while expected:
                    found.append(one := await answers.get())
                    expected.discard(one.server)
        return found, sorted({*expected, *away})

    def read_advertisements(self) -> None:
        """After one was posted or withdrawn, or an account with some was disabled or deleted."""
        self._advertised = self.store.advertised()  # before the rest: what changes meanwhile is read again
        wanted = {one.id: self.filters.travelling(one.filter) for one in self.store.advertisements()}
        known = self.server.durable.advertisements
        for id in known.keys() - wanted.keys():
            self.command(m.Withdraw(id))
        for id in wanted.keys() - known.keys():
            self.command(m.Advertise(id, wanted[id]))
        self.command(m.Tick())

    def read_links(self) -> None:
        """After one was joined or removed."""
        links = {one.name: one for one in self.store.links()}
        for name in set(self.links) - set(links):
            self.command(m.Part(name))
        for name, postman in list(self.postmen.items()):
            if self.links[name] != links.get(name):
                del self.postmen[name]
                asyncio.create_task(postman.close())  # noqa: RUF006 - nobody waits for it
        for name, link in links.items():
            if name not in self.postmen:
                try:
                    self.postmen[name] = Postman(link.url, link.token)
                except TidingsError as problem:
                    _log.error("link to %s: %s", name, problem)
                    continue
            if name not in self.server.links:
                self.command(m.Join(name))
        self.links = links


def _says_moved_in(message: m.Message, giver: str, subscription: str) -> bool:
    match message:
        case m.Routed(to, _, m.MovedIn(id)):
            return (to, id) == (giver, subscription)
    return False


def _payload(event: Event) -> str:
    assert isinstance(event.content, Content)
    return event.content.payload


def _size_of_order(order: Order) -> int:
    return len(str(order.change)) if isinstance(order, Growth) else 0


def _size_of(content: object) -> int:
    assert isinstance(content, Content)
    return len(content.payload)
