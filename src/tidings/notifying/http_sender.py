"""A small HTTP/1.1 client that does not trust whom it talks to: a vetted Target and a request in, an Answer out.

    WebhookChannel ──> HttpSender.send ──> _Connection (kept open, by scheme, host, port and address) ──> receiver

It connects to the addresses it is given and to no other, follows no redirect, reads a little of the answer, and is
done after `seconds` whatever the other side does.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast
from weakref import WeakValueDictionary

import httptools

from tidings.errors import ChannelError, shown
from tidings.notifying.addresses import Target

LONGEST_HEAD = 16 * 1024  # bytes of an answer before its body
LONGEST_BODY = 16 * 1024
KEPT = 2 * 1024  # bytes of the body, as text
_LONGEST_ANSWER = 64 * 1024  # with what chunks add to a body
_ADDRESSES_TRIED = 4
_FRAMING = {"content-length", "transfer-encoding"}
_Key = tuple[str, str, int, str]  # scheme, host, port, address


class SendingFailed(ChannelError):
    """No whole answer came: where from, and why."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)

    @property
    def reason(self) -> str:
        return str(self.args[1])

    def __str__(self) -> str:
        url, reason = self.args
        return f"no answer from {shown(url)}: {reason}; see that a receiver listens there and answers in time"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: tuple[tuple[str, str], ...]  # names in lower case
    text: str  # the body's beginning

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known == name), None)


def request_bytes(target: Target, method: str, headers: Sequence[tuple[str, str]], body: bytes) -> bytes:
    """Raises ValueError for what would be more than one line: nobody's id may become a header."""
    lines = [f"{method} {target.path} HTTP/1.1", f"host: {target.authority}"]
    lines += [f"{name}: {value}" for name, value in headers]
    lines += [f"content-length: {len(body)}", "", ""]
    head = "\r\n".join(lines)
    ends = len(lines) - 1
    if not head.isascii() or "\0" in head or head.count("\r") != ends or head.count("\n") != ends:
        raise ValueError("a header, the method or the path has a line end or a character that is not ASCII")
    return head.encode("ascii") + body


class HttpSender:
    """`connections` at once, `per_host` of them to one host. Waiting for a free one is part of the `seconds`: whoever
    sends more than `per_host` at once to a host that hangs sees the rest fail too, and other hosts do not notice.

    `tls` replaces the system's certificates: for tests, and for who has an authority of their own."""

    def __init__(
        self,
        *,
        seconds: float = 15.0,
        connections: int = 512,
        per_host: int = 32,
        idle_seconds: float = 20.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.seconds = seconds
        self.per_host = per_host
        self.connections = connections
        self._idle_seconds = idle_seconds
        self._tls = tls
        self._places = asyncio.Semaphore(connections)
        # A host is forgotten when nobody uses it or waits for it.
        self._hosts: WeakValueDictionary[tuple[str, int], asyncio.Semaphore] = WeakValueDictionary()
        self._used = 0  # places, each with a connection or about to have one
        self._busy: set[_Connection] = set()
        self._idle: OrderedDict[_Connection, float] = OrderedDict()  # since when; the longest unused first
        self._idle_by_key: dict[_Key, list[_Connection]] = {}
        self._sweeping: asyncio.TimerHandle | None = None
        self._closed = False

    async def send(self, target: Target, method: str, headers: Sequence[tuple[str, str]], body: bytes = b"") -> Answer:
        """Raises SendingFailed; ValueError for a header that would be more than one line."""
        request = request_bytes(target, method, headers, body)
        progress = _Progress()
        try:
            async with asyncio.timeout(self.seconds), self._place(target):
                return await self._send(target, request, progress)
        except TimeoutError:
            reason = f"{progress.missing} within {self.seconds:g} s"
        except _Broken as problem:
            reason = problem.reason
        except OSError as problem:
            reason = _in_plain_words(problem)
        raise SendingFailed(target.url, reason)

    async def close(self) -> None:
        """Ends every connection, also those in use, and opens no other."""
        self._closed = True
        if self._sweeping is not None:
            self._sweeping.cancel()
        for connection in [*self._idle, *self._busy]:
            connection.end()
        await asyncio.sleep(0)  # the transports close when the loop next turns

    @property
    def open_connections(self) -> int:
        return len(self._busy) + len(self._idle)

    @asynccontextmanager
    async def _place(self, target: Target) -> AsyncIterator[None]:
        """First of the host, then of all: those who wait for one host take no place from the others."""
        host = self._hosts.setdefault((target.host, target.port), asyncio.Semaphore(self.per_host))
        async with host, self._places:
            self._used += 1
            try:
                yield
            finally:
                self._used -= 1

    async def _send(self, target: Target, request: bytes, progress: _Progress) -> Answer:
        if (kept := self._take(target)) is not None:
            try:
                return await self._exchange(kept, request, progress)
            except _Broken as problem:
                if not problem.is_silent:
                    raise
        # Nothing came back on a connection that was open from before: it was most likely closed meanwhile. Should the
        # receiver have read the request after all, it gets it twice under one id, as at-least-once allows.
        progress.missing = "no connection was made"
        return await self._exchange(await self._connect(target), request, progress)

    async def _exchange(self, connection: _Connection, request: bytes, progress: _Progress) -> Answer:
        self._busy.add(connection)
        try:
            if self._closed:  # while it was made
                raise _Broken("the sender is closed")
            answer = await connection.exchange(request)
        except BaseException:  # also when time is up
            progress.missing = connection.missing()
            connection.end()
            raise
        finally:
            self._busy.discard(connection)
        if connection.is_fit and not self._closed:
            self._keep(connection)
        else:
            connection.end()
        return answer

    async def _connect(self, target: Target) -> _Connection:
        """To the first address that takes it; each but the last has an even share of the time."""
        if self._closed:
            raise _Broken("the sender is closed")
        while self._idle and self._used + len(self._idle) > self.connections:
            next(iter(self._idle)).end()
        addresses = target.addresses[:_ADDRESSES_TRIED]
        for address in addresses[:-1]:
            try:
                async with asyncio.timeout(self.seconds / len(addresses)):
                    return await self._connect_to(target, address)
            except OSError:  # TimeoutError and ssl.SSLError are such
                continue
        return await self._connect_to(target, addresses[-1])

    async def _connect_to(self, target: Target, address: str) -> _Connection:
        tls = target.scheme == "https"
        if tls and self._tls is None:
            self._tls = ssl.create_default_context()
            self._tls.set_alpn_protocols(["http/1.1"])
        key = (target.scheme, target.host, target.port, address)
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: _Connection(key, self._forget),
            address,  # never the name
            target.port,
            ssl=self._tls if tls else None,
            server_hostname=target.host if tls else None,
        )
        return connection

    def _take(self, target: Target) -> _Connection | None:
        """The one used last: it is the likeliest to be open still."""
        for address in target.addresses:
            if waiting := self._idle_by_key.get((target.scheme, target.host, target.port, address)):
                connection = waiting[-1]
                self._forget(connection)
                return connection
        return None

    def _keep(self, connection: _Connection) -> None:
        loop = asyncio.get_running_loop()
        self._idle[connection] = loop.time()
        self._idle_by_key.setdefault(connection.key, []).append(connection)
        if self._sweeping is None:
            self._sweeping = loop.call_later(self._idle_seconds, self._sweep)

    def _forget(self, connection: _Connection) -> None:
        if self._idle.pop(connection, None) is not None:
            waiting = self._idle_by_key[connection.key]
            waiting.remove(connection)
            if not waiting:
                del self._idle_by_key[connection.key]

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        for connection, since in list(self._idle.items()):
            if since + self._idle_seconds > loop.time():
                break
            connection.end()
        self._sweeping = loop.call_later(self._idle_seconds, self._sweep) if self._idle else None


@dataclass(slots=True)
class _Progress:
    """What had not happened yet, should the time be up."""

    missing: str = "no connection came free"


class _Broken(Exception):
    """This connection gives no answer: why. `is_silent`: it was used before, and nothing at all came back."""

    def __init__(self, reason: str, is_silent: bool = False) -> None:
        super().__init__(reason, is_silent)
        self.reason, self.is_silent = reason, is_silent


class _Connection(asyncio.Protocol):
    """One request at a time. After it `is_fit` says whether another may follow."""

    def __init__(self, key: _Key, lost: Callable[[_Connection], None]) -> None:
        self.key = key
        self.is_fit = False
        self._lost = lost
        self._used = 0
        self._answer: asyncio.Future[Answer] | None = None
        self._reading = _Reading()
        self._transport: asyncio.Transport | None = None

    async def exchange(self, request: bytes) -> Answer:
        if (transport := self._transport) is None or transport.is_closing():
            raise _Broken("the connection was closed", is_silent=True)
        self._used += 1
        self.is_fit = False
        self._reading = _Reading()
        self._answer = asyncio.get_running_loop().create_future()
        transport.write(request)
        return await self._answer

    def missing(self) -> str:
        if self._unsent:
            return "the receiver did not read the request"
        return "the answer did not end" if self._reading.received else "no answer came"

    @property
    def _unsent(self) -> int:
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def end(self) -> None:
        """At once: no peer can draw it out."""
        self._lost(self)
        self.is_fit = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._answer is None or self._answer.done():
            self.end()  # unasked for: it would be taken for the next answer
            return
        problem = (reading := self._reading).feed(data)
        if reading.is_whole:
            self.is_fit = reading.is_fit and not self._unsent  # the rest would be taken for the next request
            self._answer.set_result(reading.answer())
        elif problem:
            self._answer.set_exception(_Broken(problem))

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost(self)
        self.is_fit = False
        if self._answer is None or self._answer.done():
            return
        reading = self._reading
        if reading.ends_with_connection and exc is None:
            self._answer.set_result(reading.answer())
            return
        how = "the connection was closed" if exc is None else _in_plain_words(exc)
        until = "the answer was as long as it said" if reading.received else "an answer came"
        is_silent = self._used > 1 and not reading.received
        self._answer.set_exception(_Broken(f"{how} before {until}", is_silent))


class _Reading:
    """One answer as it comes in; httptools calls the methods that begin with `on_`."""

    def __init__(self) -> None:
        self.received = 0  # bytes
        self.is_whole = False
        self.is_fit = False  # whether another answer may follow it
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)
        self._status = 0
        self._headers: list[tuple[str, str]] = []
        self._head_bytes = 0
        self._in_body = False
        self._body = bytearray()
        self._body_bytes = 0

    def feed(self, data: bytes) -> str | None:
        """What is wrong with it, once that is known."""
        if (parser := self._parser) is None:
            return None
        self.received += len(data)
        try:
            parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.is_fit = False
        except httptools.HttpParserError as problem:
            self.is_fit = False  # after the end of the answer: more came than its length
            if not self.is_whole:
                return f"the answer is no HTTP: {problem}"
        if max(self._head_bytes, 0 if self._in_body else self.received) > LONGEST_HEAD:
            self.is_whole = False
            return f"the answer's headers are longer than {LONGEST_HEAD:,} bytes"
        if self._in_body and (self._body_bytes > LONGEST_BODY or self.received > _LONGEST_ANSWER):
            self.is_whole, self.is_fit = True, False  # its status is known, and that is all we came for
        if self.is_whole:
            self._parser = None  # they hold each other
        return None

    def answer(self) -> Answer:
        text = self._body.decode("utf-8", "replace").replace("\0", "\ufffd")  # databases refuse the character 0
        return Answer(self._status, tuple(self._headers), text)

    @property
    def ends_with_connection(self) -> bool:
        """Without a length, the end of the connection is the end of the answer."""
        return self._in_body and {name for name, _ in self._headers}.isdisjoint(_FRAMING)

    def on_message_begin(self) -> None:
        if self.is_whole:
            self.is_fit = False  # a second answer to one request

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value)
        if not self._in_body and not self.is_whole:
            self._headers.append((name.decode("latin-1").lower(), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        if self._parser is not None and not self.is_whole:
            self._status = self._parser.get_status_code()
            self._in_body = not 100 <= self._status < 200 or self._status == 101  # 100 and 103 announce the answer

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        if len(self._body) < KEPT and not self.is_whole:
            self._body += body[: KEPT - len(self._body)]

    def on_message_complete(self) -> None:
        if self._parser is None or self.is_whole:
            return
        if not self._in_body:
            self._headers.clear()
            return
        self.is_whole = True
        self.is_fit = self._parser.should_keep_alive() and self._status != 101


def _in_plain_words(problem: Exception) -> str:
    if isinstance(problem, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {problem.verify_message}"
    if isinstance(problem, ssl.SSLError):
        return f"TLS failed: {(problem.reason or str(problem)).lower().replace('_', ' ')}"
    if isinstance(problem, ConnectionResetError | BrokenPipeError):
        return "the connection was reset"
    if isinstance(problem, OSError) and problem.errno:
        return os.strerror(problem.errno).lower()
    return str(problem) or type(problem).__name__
