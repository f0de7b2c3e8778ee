"""Receivers on loopback, most of them ill-behaved, and one request to them."""

import asyncio
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from tidings.notifying.http.addresses import Target
from tidings.notifying.http.response import HttpResponse
from tidings.notifying.http.sender import HttpSender, SendingFailed

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@dataclass(frozen=True)
class Request:
    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Answers each request by `answer`: bytes to send, or a function that does as it likes with the connection."""

    answer: bytes | Callable[["Receiver", asyncio.StreamWriter], Awaitable[None]] = OK
    tls: ssl.SSLContext | None = None
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def __aenter__(self) -> "Receiver":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.over.set()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.sleep(0.01)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        try:
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = dict(line.split(": ", 1) for line in head[1:] if line)
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                self.requests.append(Request(head[0], headers, body))
                if isinstance(self.answer, bytes):
                    writer.write(self.answer)
                else:
                    await self.answer(self, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()

    def target(self, host: str = "127.0.0.1", path: str = "/hook") -> Target:
        return Target("https" if self.tls else "http", host, self.port, path, ("127.0.0.1",))

    @property
    def url(self) -> str:
        return self.target().url


def reset(writer: asyncio.StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def post(sender: HttpSender, receiver: Receiver, body: bytes = b"{}", **named: Any) -> HttpResponse:
    return await sender.send(receiver.target(**named), "POST", [("content-type", "application/json")], body)


def answered(answer: Any, **settings: Any) -> tuple[HttpResponse | str, Receiver, int]:
    """The answer or the reason, the receiver, and how many connections are left open, after one request."""

    async def once() -> tuple[HttpResponse | str, Receiver, int]:
        async with Receiver(answer) as receiver:
            sender = HttpSender(**settings)
            try:
                got: HttpResponse | str = await post(sender, receiver)
            except SendingFailed as problem:
                got = problem.reason
            await asyncio.sleep(0.02)
            left = sender.open_connections
            await sender.close()
            return got, receiver, left

    return asyncio.run(once())


async def endless(receiver: Receiver, writer: asyncio.StreamWriter, head: bytes, line: bytes) -> None:
    writer.write(head)
    while True:
        writer.write(line)
        await writer.drain()
        await asyncio.sleep(0)


async def closing(receiver: Receiver, writer: asyncio.StreamWriter, before: bytes = b"") -> None:
    writer.write(before)
    await writer.drain()
    writer.close()


async def resetting(receiver: Receiver, writer: asyncio.StreamWriter) -> None:
    reset(writer)


async def silent(receiver: Receiver, writer: asyncio.StreamWriter) -> None:
    await receiver.over.wait()


async def dripping(receiver: Receiver, writer: asyncio.StreamWriter) -> None:
    for byte in OK:
        writer.write(bytes([byte]))
        await asyncio.sleep(0.05)


async def ok_then(receiver: Receiver, writer: asyncio.StreamWriter, then: Any) -> None:
    """A connection's first request is answered; at its second, `then`."""
    seen: dict[Any, int] = receiver.__dict__.setdefault("seen", {})
    seen[writer] = seen.get(writer, 0) + 1
    if seen[writer] == 1:
        writer.write(OK)
    else:
        await then(receiver, writer)
