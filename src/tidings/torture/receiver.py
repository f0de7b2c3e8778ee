"""A webhook receiver that is slow, fails, resets, hangs and lies, at random; it notes all that reaches it.

It stands in the torture's own process, on loopback. Once `calm` it takes everything at once.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from tidings.errors import ChannelError
from tidings.notifying.signatures import verify
from tidings.torture.record import Delivered, Record

_LONGEST = 1 << 20
_CHANCES = {
    "200": 600,
    "204": 50,
    "slow": 60,
    "500": 60,
    "503": 30,
    "503, later": 20,
    "429": 30,
    "301": 10,
    "410": 2,  # which disables the channel, until its owner resumes it
    "reset": 40,
    "reset unread": 20,
    "hang": 1,
    "too short": 30,  # less than it said
    "too long": 20,  # more than it said
    "trickle": 15,
    "no HTTP": 12,
}
_TAKEN = frozenset({"200", "204", "slow", "too short", "too long", "trickle"})
_HANG = 20.0  # seconds: longer than anybody waits
_Headers = dict[str, str]


class Receiver:
    """Use as an async context. `secrets` are the signing secrets of subscriptions, as far as they are known yet."""

    def __init__(self, record: Record, draw: random.Random) -> None:
        self.calm = False
        self.secrets: dict[str, list[str]] = {}
        self.port = 0
        self._record = record
        self._draw = draw
        self._unverified: list[tuple[str, _Headers, bytes, float]] = []
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Receiver:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=_LONGEST, backlog=1_000)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path}"

    def verify_rest(self) -> None:
        """What came before its secret was known to us."""
        rest, self._unverified = self._unverified, []
        for subscription, headers, body, at in rest:
            self._verify(subscription, headers, body, at, is_last=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                while await self._one(reader, writer):
                    pass
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self._connections.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request; whether another may follow on this connection."""
        how = "200" if self.calm else self._draw.choices(list(_CHANCES), list(_CHANCES.values()))[0]
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        if "ce-sequence" in headers and "ce-test" not in headers:
            self._record.tried.append((headers["ce-source"].rpartition("/")[2], int(headers["ce-sequence"])))
        if how == "reset unread" and "ce-type" in headers and "ce-sequence" not in headers:
            how = "reset"  # only the body of a digest says what was tried
        if how == "reset unread":
            self._record.answers[how] += 1
            writer.transport.abort()
            return False
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if first.startswith("OPTIONS "):
            return await self._consent(writer, how)
        self._record.answers[how] += 1
        self._note(headers, body, how in _TAKEN)
        return await self._answer(writer, how)

    async def _consent(self, writer: asyncio.StreamWriter, how: str) -> bool:
        """Mostly; a channel without it is not confirmed until its owner asks again."""
        refused = how in ("500", "503", "429", "reset")
        writer.write(_head(503) if refused else _head(200, "", "WebHook-Allowed-Origin: *"))
        await writer.drain()
        return True

    def _note(self, headers: _Headers, body: bytes, taken: bool) -> None:
        at = time.monotonic()
        told: dict[str, Any] = json.loads(body)
        self._verify(str(told["subscription"]), headers, body, time.time(), is_last=False)
        if "ce-test" in headers:
            return
        for one in told.get("notifications", (told,)):
            if "ce-sequence" not in headers:  # several in one
                self._record.tried.append((one["subscription"], one["sequence"]))
            self._record.delivered.append(
                Delivered(one["id"], one["subscription"], one["event"]["id"], one["sequence"], at, taken)
            )

    def _verify(self, subscription: str, headers: _Headers, body: bytes, at: float, is_last: bool) -> None:
        secrets = self.secrets.get(subscription)
        if secrets is None and not is_last:
            self._unverified.append((subscription, headers, body, at))
            return
        try:
            verify(headers, body, secrets or (), at)
        except ChannelError:
            self._record.unsigned += 1

    async def _answer(self, writer: asyncio.StreamWriter, how: str) -> bool:
        act = _ACTS.get(how)
        if act is not None:
            return await act(writer, self._draw)
        writer.write(_head(int(how), "" if how == "204" else "so be it"))
        await writer.drain()
        return True


def _head(status: int, body: str = "", *fields: str) -> bytes:
    length = () if status == 204 else (f"Content-Length: {len(body)}",)
    return "\r\n".join([f"HTTP/1.1 {status} Said", *length, *fields, "", body]).encode()


async def _slow(writer: asyncio.StreamWriter, draw: random.Random) -> bool:
    await asyncio.sleep(draw.uniform(0.1, 2.0))
    writer.write(_head(200, "at last"))
    await writer.drain()
    return True


async def _unavailable_for_now(writer: asyncio.StreamWriter, draw: random.Random) -> bool:
    writer.write(_head(503, "", f"Retry-After: {draw.choice((1, 2))}"))
    await writer.drain()
    return True


async def _too_many(writer: asyncio.StreamWriter, draw: random.Random) -> bool:
    writer.write(_head(429, "", "Retry-After: 1"))
    await writer.drain()
    return True


async def _elsewhere(writer: asyncio.StreamWriter, draw: random.Random) -> bool:
    writer.write(_head(301, "", "Location: http://127.0.0.1:9/"))
    await writer.drain()
    return True


async def _reset(writer: asyncio.StreamWriter, draw: random.Random) -> bool:
    writer.transport.abort()
    return False


async def _hang(writer: asyncio.StreamWriter, draw: random.Random) -> bool:
    await asyncio.sleep(_HANG)
    return False


async def _too_short(writer: asyncio.StreamWriter, draw: random.Random) -> bool:
    writer.write(b"HTTP/1.1 200 Said\r\nContent-Length: 1000\r\n\r\nthat is all")
    await writer.drain()
    return False


async def _too_long(writer: asyncio.StreamWriter, draw: random.Random) -> bool:
    writer.write(b"HTTP/1.1 200 Said\r\nContent-Length: 3\r\n\r\nand more than that" + _head(500))
    await writer.drain()
    return False


async def _trickle(writer: asyncio.StreamWriter, draw: random.Random) -> bool:
    for byte in _head(200, "drop by drop"):
        writer.write(bytes((byte,)))
        await writer.drain()
        await asyncio.sleep(0.01)
    return True


async def _no_http(writer: asyncio.StreamWriter, draw: random.Random) -> bool:
    writer.write(b"\x00\xff 200 is a number\r\n\r\n")
    await writer.drain()
    return False


_ACTS: dict[str, Callable[[asyncio.StreamWriter, random.Random], Awaitable[bool]]] = {
    "slow": _slow,
    "503, later": _unavailable_for_now,
    "429": _too_many,
    "301": _elsewhere,
    "reset": _reset,
    "hang": _hang,
    "too short": _too_short,
    "too long": _too_long,
    "trickle": _trickle,
    "no HTTP": _no_http,
}
