"""One connection of the XML daemon: bytes in, answers out, in the order of the requests.

Two tasks work for it. One takes whole documents, reads them and starts what they ask for; the other waits for the
answers and writes them. So a run of events is read while the run before it is being committed. Whoever sends faster
than the journal takes, or does not fetch the answers, is not read from until that has changed.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import cast

from tidings.errors import Explained, ServiceError, TidingsError
from tidings.events import Event
from tidings.service.api.problems import Failed
from tidings.service.door.addresses import network_of
from tidings.service.door.in_flight import SMALL, InFlight, TooManyBytes
from tidings.service.xml import answers as answers
from tidings.service.xml.framing import Document, Framing, MalformedRequest
from tidings.service.xml.operations import Asked, Operations
from tidings.service.xml.requests import Publication

_MOST_WAITING = 1 << 20  # bytes of whole documents; beyond, no more is read for a while
_MOST_EVENTS = 500  # appended at once
_UNDER_WAY = 3  # runs of events that are being committed or answered
_TURN = 0.005  # seconds of reading documents after which others have their turn
_LINGER = 2.0  # seconds in which a peer that was refused may still fetch the reason

_log = logging.getLogger(__name__)


class SlowPeer(Explained, ServiceError):
    """The seconds that it had."""

    limit: float
    template = "the request was not complete after {limit:g} s; send it in one go"


class UnfinishedRequests(Explained, ServiceError):
    template = "too many large requests from this address are not complete or not carried out; retry when they are"


class Connection(asyncio.Protocol):
    """`lost` is called when nothing is left to do for it."""

    def __init__(
        self, operations: Operations, largest: int, in_flight: InFlight, lost: Callable[[Connection], None]
    ) -> None:
        self.work: asyncio.Task[None] | None = None
        self._operations = operations
        self._framing = Framing(largest)
        self._lost = lost
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Document] = deque()
        self._bytes_waiting = 0
        self._in_flight = in_flight
        self._counted = 0  # bytes, of those that wait and of the request that is not whole
        self._something = asyncio.Event()  # to do for the reading task
        self._writable = asyncio.Event()
        self._writable.set()
        self._answers: asyncio.Queue[asyncio.Task[bytes] | None] = asyncio.Queue(_UNDER_WAY)
        self._ended = False  # no more will be read
        self._problem: TidingsError | None = None  # why not
        self._closing: float | None = None  # since when nothing is left to do
        self._closed = asyncio.Event()
        self._said_all = False  # the peer has closed its side
        self._gone = False  # no more can be written
        self._held = False  # we do not read, so the peer is not to blame for silence
        self._since = self._loop.time()  # when the request that is not whole began, or the last byte came
        self._stuck: float | None = None  # since when the answers are not fetched
        self._proven = False  # there was a valid request
        self.address = self._network = ""

    # What the event loop tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.address = address_of(transport)
        self._network = network_of(self.address)
        self.work = self._loop.create_task(self._converse())

    def data_received(self, data: bytes) -> None:
        if self._ended:
            return
        begun = self._framing.partial
        documents = self._framing.feed(data)
        if documents or not begun:
            self._since = self._loop.time()
        for document in documents:
            self._waiting.append(document)
            self._bytes_waiting += len(document.text)
        if self._framing.problem is not None:
            self._end(self._framing.problem)
        self._count(len(self._framing) + self._bytes_waiting)
        if self._bytes_waiting > _MOST_WAITING and not self._held:
            self._held = True
            self._transport.pause_reading()
        self._something.set()

    def _count(self, held: int) -> None:
        """As bytes in flight, unless they are few. One address has a small share of them before a valid request."""
        held = held if held > SMALL else 0
        try:
            self._in_flight.hold(self._network, self._counted, held, not self._proven)
            self._counted = held
        except TooManyBytes:
            self._framing.clear()
            self._end(UnfinishedRequests())

    def eof_received(self) -> bool:
        """The peer sends no more, but may still read: the answers are written first."""
        if self._ended:
            return False
        self._said_all = True
        partial = self._framing.partial
        self._end(
            MalformedRequest(0, 0, "the connection was closed before the request was complete") if partial else None
        )
        return True

    def connection_lost(self, problem: Exception | None) -> None:
        """What was asked before is done all the same; nobody hears the answers."""
        self._gone = True
        self._writable.set()
        self._closed.set()
        self._end(None)

    def pause_writing(self) -> None:
        self._stuck = self._loop.time()
        self._writable.clear()

    def resume_writing(self) -> None:
        self._stuck = None
        self._writable.set()

    # What the daemon tells

    def finish(self) -> None:
        """Answers what was asked, and closes."""
        if not self._ended:
            self._end(None)
            if not self._held and not self._transport.is_closing():
                self._held = True
                self._transport.pause_reading()

    def let_go_if_slow(self, now: float, seconds: float, idle: float) -> None:
        """`seconds` before the first valid request, in the middle of one, and while answers are not fetched; `idle`
        between two requests."""
        closing = _LINGER if self._problem else seconds
        if _passed(self._stuck, now, seconds) or _passed(self._closing, now, closing):
            self.abort()
        elif self._ended or self._held:
            return
        elif self._framing.partial and now - self._since > seconds:
            self._end(SlowPeer(seconds))
        elif (
            not self._framing.partial and not self._waiting and now - self._since > (idle if self._proven else seconds)
        ):
            self.finish()

    def abort(self) -> None:
        """At once; what is not begun is not done."""
        self._waiting.clear()
        self._transport.abort()

    def _end(self, problem: TidingsError | None) -> None:
        """Reads nothing more; answers the requests received so far, then sends the problem."""
        self._ended = True
        self._problem = self._problem or problem
        self._something.set()

    # The two tasks

    async def _converse(self) -> None:
        writing = self._loop.create_task(self._write_answers())
        await self._read_documents()
        if self._problem is not None:
            await self._answer(answers.refused(self._problem))
        await self._answers.put(None)
        await writing
        self._close()
        await self._closed.wait()
        self._count(0)
        self._lost(self)

    async def _read_documents(self) -> None:
        """Until there are no more."""
        run: list[bytes | Event] = []
        turn = self._loop.time()
        while True:
            if not self._waiting:
                run = await self._publish(run)
                if self._ended and not self._waiting:
                    return
                self._something.clear()
                if not self._waiting:
                    await self._something.wait()
                turn = self._loop.time()
                continue
            asked = await self._asked(self._taken())
            self._proven = self._proven or isinstance(asked, Asked)
            if asked is None:
                self._waiting.clear()
            elif isinstance(asked, bytes):
                run.append(asked)
            elif isinstance(asked.request, Publication):
                run.append(asked.request.event)
            else:
                run = await self._publish(run)
                await self._answers.join()  # what it reads or changes may depend on what came before
                await self._answer(await self._carried_out(asked))
            if len(run) >= _MOST_EVENTS:
                run = await self._publish(run)
            if self._loop.time() - turn > _TURN:
                await asyncio.sleep(0)
                turn = self._loop.time()

    async def _asked(self, document: Document) -> Asked | bytes | None:
        """None: it is not XML, so what follows cannot be trusted."""
        try:
            return await self._operations.ask(document, self.address)
        except MalformedRequest as problem:
            self._problem = None  # this one came first
            self._end(problem)
            return None
        except Exception:
            _log.exception("an XML request failed")
            return answers.refused(Failed())

    async def _carried_out(self, asked: Asked) -> bytes:
        try:
            return await self._operations.carry_out(asked)
        except Exception:
            _log.exception("an XML request failed")
            return answers.refused(Failed(), asked.name)

    def _taken(self) -> Document:
        document = self._waiting.popleft()
        self._bytes_waiting -= len(document.text)
        self._count(len(self._framing) + self._bytes_waiting)
        if self._held and self._bytes_waiting < _MOST_WAITING // 2 and not self._ended:
            self._held = False
            self._since = self._loop.time()
            self._transport.resume_reading()
        return document

    async def _publish(self, run: list[bytes | Event]) -> list[bytes | Event]:
        """Appends the events of the run at once; the answers stand in its order. Gives an empty run."""
        if run:
            await self._answers.put(self._loop.create_task(self._answers_of(run)))
        return []

    async def _answers_of(self, run: list[bytes | Event]) -> bytes:
        events = [one for one in run if isinstance(one, Event)]
        told = iter(await self._operations.publish(events) if events else ())
        return b"".join(one if isinstance(one, bytes) else next(told) for one in run)

    async def _answer(self, answer: bytes) -> None:
        async def given() -> bytes:
            return answer

        await self._answers.put(self._loop.create_task(given()))

    async def _write_answers(self) -> None:
        while (answer := await self._answers.get()) is not None:
            try:
                text = await answer
            except Exception:
                _log.exception("an XML request failed")
                text = answers.refused(Failed())
            await self._writable.wait()
            if not self._gone:
                self._transport.write(text)
            self._answers.task_done()

    def _close(self) -> None:
        """A peer that still sends would lose what was answered if the socket were closed at once."""
        self._closing = self._loop.time()
        if self._gone:
            return
        if self._problem is None or self._said_all or not self._transport.can_write_eof():  # TLS cannot
            self._transport.close()
            return
        self._transport.write_eof()
        if self._held:
            self._held = False
            self._transport.resume_reading()


def address_of(transport: asyncio.BaseTransport) -> str:
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if isinstance(peer, tuple) else ""


def _passed(since: float | None, now: float, seconds: float) -> bool:
    return since is not None and now - since > seconds
