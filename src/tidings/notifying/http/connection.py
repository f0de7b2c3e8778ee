"""A connection to a receiver, kept open for the next request: request bytes in, an HttpResponse out."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable
from typing import cast

from tidings.notifying.http.response import HttpResponse, Reading

Key = tuple[str, str, int, str]  # scheme, host, port, address


class BrokenConnection(Exception):
    """This connection gives no answer: why. `is_silent`: it was used before, and nothing at all came back."""

    def __init__(self, reason: str, is_silent: bool = False) -> None:
        super().__init__(reason, is_silent)
        self.reason, self.is_silent = reason, is_silent


class Connection(asyncio.Protocol):
    """One request at a time. After it `is_fit` says whether another may follow."""

    def __init__(self, key: Key, lost: Callable[[Connection], None]) -> None:
        self.key = key
        self.is_fit = False
        self._lost = lost
        self._used = 0
        self._answer: asyncio.Future[HttpResponse] | None = None
        self._reading = Reading()
        self._transport: asyncio.Transport | None = None

    async def exchange(self, request: bytes) -> HttpResponse:
        if (transport := self._transport) is None or transport.is_closing():
            raise BrokenConnection("the connection was closed", is_silent=True)
        self._used += 1
        self.is_fit = False
        self._reading = Reading()
        self._answer = asyncio.get_running_loop().create_future()
        transport.write(request)
        return await self._answer

    def missing(self) -> str:
        if self._unsent:
            return "the receiver did not read the request"
        return "the answer was not complete" if self._reading.received else "no answer came"

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
            self._answer.set_exception(BrokenConnection(problem))

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost(self)
        self.is_fit = False
        if self._answer is None or self._answer.done():
            return
        reading = self._reading
        if reading.ends_with_connection and exc is None:
            self._answer.set_result(reading.answer())
            return
        how = "the connection was closed" if exc is None else in_plain_words(exc)
        until = "the answer was complete" if reading.received else "an answer came"
        is_silent = self._used > 1 and not reading.received
        self._answer.set_exception(BrokenConnection(f"{how} before {until}", is_silent))


def in_plain_words(problem: Exception) -> str:
    if isinstance(problem, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {problem.verify_message}"
    if isinstance(problem, ssl.SSLError):
        return f"TLS failed: {(problem.reason or str(problem)).lower().replace('_', ' ')}"
    if isinstance(problem, ConnectionResetError | BrokenPipeError):
        return "the connection was reset"
    if isinstance(problem, OSError) and problem.errno:
        return os.strerror(problem.errno).lower()
    return str(problem) or type(problem).__name__
