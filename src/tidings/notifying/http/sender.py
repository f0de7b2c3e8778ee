"""A small HTTP/1.1 client for untrusted receivers: a vetted Target and a request in, an HttpResponse out.

    WebhookChannel ──> HttpSender.send ──> Connection (kept open, by scheme, host, port and address) ──> receiver

It connects to the addresses it is given and to no other, follows no redirect, reads a little of the answer, and is
done after `seconds` whatever the other side does.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakValueDictionary

from tidings.errors import ChannelError, Explained
from tidings.notifying.http.addresses import Target
from tidings.notifying.http.connection import BrokenConnection, Connection, Key, in_plain_words
from tidings.notifying.http.response import HttpResponse

_ADDRESSES_TRIED = 4


class SendingFailed(Explained, ChannelError):
    """No whole answer came: where from, and why."""

    url: str
    reason: str
    template = "no answer from {url!v}: {reason}; check that a receiver listens there and answers in time"


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
        self._busy: set[Connection] = set()
        self._idle: OrderedDict[Connection, float] = OrderedDict()  # since when; the longest unused first
        self._idle_by_key: dict[Key, list[Connection]] = {}
        self._sweeping: asyncio.TimerHandle | None = None
        self._closed = False

    async def send(
        self, target: Target, method: str, headers: Sequence[tuple[str, str]], body: bytes = b""
    ) -> HttpResponse:
        """Raises SendingFailed; ValueError for a header that would be more than one line."""
        request = request_bytes(target, method, headers, body)
        progress = _Progress()
        try:
            async with asyncio.timeout(self.seconds), self._place(target):
                return await self._send(target, request, progress)
        except TimeoutError:
            reason = f"{progress.missing} within {self.seconds:g} s"
        except BrokenConnection as problem:
            reason = problem.reason
        except OSError as problem:
            reason = in_plain_words(problem)
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

    async def _send(self, target: Target, request: bytes, progress: _Progress) -> HttpResponse:
        if (kept := self._take(target)) is not None:
            try:
                return await self._exchange(kept, request, progress)
            except BrokenConnection as problem:
                if not problem.is_silent:
                    raise
        # Nothing came back on a connection that was open from before: it was most likely closed meanwhile. Should the
        # receiver have read the request after all, it gets it twice under one id, as at-least-once allows.
        progress.missing = "no connection was made"
        return await self._exchange(await self._connect(target), request, progress)

    async def _exchange(self, connection: Connection, request: bytes, progress: _Progress) -> HttpResponse:
        self._busy.add(connection)
        try:
            if self._closed:  # while it was made
                raise BrokenConnection("the sender is closed")
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

    async def _connect(self, target: Target) -> Connection:
        """To the first address that takes it; each but the last has an even share of the time."""
        if self._closed:
            raise BrokenConnection("the sender is closed")
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

    async def _connect_to(self, target: Target, address: str) -> Connection:
        tls = target.scheme == "https"
        if tls and self._tls is None:
            self._tls = ssl.create_default_context()
            self._tls.set_alpn_protocols(["http/1.1"])
        key = (target.scheme, target.host, target.port, address)
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: Connection(key, self._forget),
            address,  # never the name
            target.port,
            ssl=self._tls if tls else None,
            server_hostname=target.host if tls else None,
        )
        return connection

    def _take(self, target: Target) -> Connection | None:
        """The one used last: it is the likeliest to be open still."""
        for address in target.addresses:
            if waiting := self._idle_by_key.get((target.scheme, target.host, target.port, address)):
                connection = waiting[-1]
                self._forget(connection)
                return connection
        return None

    def _keep(self, connection: Connection) -> None:
        loop = asyncio.get_running_loop()
        self._idle[connection] = loop.time()
        self._idle_by_key.setdefault(connection.key, []).append(connection)
        if self._sweeping is None:
            self._sweeping = loop.call_later(self._idle_seconds, self._sweep)

    def _forget(self, connection: Connection) -> None:
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
