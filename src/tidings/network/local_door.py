"""Between the gateway, which others can reach, and the node beside it: requests and answers over a connection on this
machine. Each is a length, then MessagePack: a number, what is asked, its arguments."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from hmac import compare_digest
from typing import Any

import msgspec

from tidings.errors import Explained, ServiceError, TidingsError

_log = logging.getLogger(__name__)
_LENGTH = 4  # bytes
_LARGEST = 32 << 20
_LOOK = 0.1  # seconds
Ask = Callable[[str, list[Any]], Awaitable[Any]]


class NetworkAway(Explained, ServiceError):
    template = "the network process of this server is not running; `tidings network` and network.log say why"


class NodeRefused(Explained, ServiceError):
    """What the node said."""

    reason: str
    template = "{reason}"


async def _read(reader: asyncio.StreamReader) -> Any:
    length = int.from_bytes(await reader.readexactly(_LENGTH), "big")
    if length > _LARGEST:
        raise ConnectionError("too long")
    return msgspec.msgpack.decode(await reader.readexactly(length))


def _write(writer: asyncio.StreamWriter, value: Any) -> None:
    data = msgspec.msgpack.encode(value)
    writer.write(len(data).to_bytes(_LENGTH, "big"))
    writer.write(data)


class LocalDoor:
    """At the node: answers whoever knows the secret."""

    def __init__(self, secret: str, ask: Ask) -> None:
        self._secret, self._ask = secret, ask
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> int:
        """The port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ended = (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, msgspec.DecodeError)
        with suppress(*ended):
            if not compare_digest(str(await _read(reader)), self._secret):
                writer.close()
                return
            while True:
                number, what, arguments = await _read(reader)
                task = asyncio.create_task(self._answer(writer, number, what, arguments))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                if what == "messages":
                    await task  # in order
        writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, number: int, what: str, arguments: list[Any]) -> None:
        try:
            done, value = True, await self._ask(what, arguments)
        except TidingsError as problem:
            done, value = False, str(problem)
        except Exception as problem:
            _log.exception("%s failed", what)
            done, value = False, f"it failed: {problem!r}"
        with suppress(ConnectionError):
            _write(writer, (number, done, value))
            await writer.drain()


class NodeClient:
    """At the gateway. The connection is made when it is needed, and again when it broke."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._port = 0
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self._connecting = asyncio.Lock()

    def is_at(self, port: int) -> None:
        """From any thread."""
        self._port = port

    async def ask(self, what: str, *arguments: Any, patience: float = 30.0) -> Any:
        """Raises NetworkAway or NodeRefused."""
        writer = await self._connected(patience)
        self._number += 1
        number = self._number
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            _write(writer, (number, what, arguments))
            await writer.drain()
            done, value = await asyncio.wait_for(answer, patience)
        except (TimeoutError, ConnectionError):
            raise NetworkAway from None
        finally:
            self._waiting.pop(number, None)
        if not done:
            raise NodeRefused(value)
        return value

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait((self._reading,))
        if self._writer is not None:
            self._writer.close()

    async def _connected(self, patience: float) -> asyncio.StreamWriter:
        for _ in range(int(patience / _LOOK)):  # it may just have been started
            if self._port:
                break
            await asyncio.sleep(_LOOK)
        async with self._connecting:
            if self._writer is None or self._writer.is_closing():
                if not self._port:
                    raise NetworkAway
                try:
                    reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
                except OSError:
                    raise NetworkAway from None
                _write(self._writer, self._secret)
                self._reading = asyncio.create_task(self._read(reader, self._writer))
            return self._writer

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                number, done, value = await _read(reader)
                if (answer := self._waiting.get(number)) and not answer.done():
                    answer.set_result((done, value))
        except (asyncio.IncompleteReadError, ConnectionError, msgspec.DecodeError):
            pass
        finally:
            writer.close()
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(ConnectionError())
