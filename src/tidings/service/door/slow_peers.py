"""Slow peers: a connection that makes no progress with its request or its answer is closed, and so is one with endless
headers.

uvicorn itself waits forever for the rest of a request. Here each connection is checked four times within
`idle_seconds`: its headers must arrive within that time, and its body, or the reading of its answer, must progress.
URL and headers, or trailers, have 64 KiB at most: the parser joins what arrives of one header in time that grows with
its square, while nobody else is served. One address has its share of the connections (`places`). When all are taken, a
new one takes the place of the one that has waited longest without asking for anything, so silence keeps nobody out.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tidings.service.door.addresses import Proxies
from tidings.service.door.connection_limits import ConnectionLimits, TooManyConnections
from tidings.service.door.joined_writes import JoinedWrites
from tidings.service.door.raw_answers import raw_problem
from tidings.service.door.request_id import request_id
from tidings.settings import Settings

_LEAST_RATE = 500  # bytes a second of a body, on average over idle_seconds
_LOOKS = 4  # within idle_seconds
LARGEST_HEAD = 1 << 16  # bytes of URL and headers
_TOO_LARGE = "headers-too-large", f"the URL and the headers have more than {LARGEST_HEAD:,} bytes"
_MALFORMED = "bad-request", "the request is not valid HTTP"


class _HeadTooLarge(Exception):
    """Ends the parsing."""


def patient_protocol(settings: Settings) -> type[HttpToolsProtocol]:
    """The class for uvicorn's `http` setting."""
    places = ConnectionLimits(settings.connections, Proxies(settings.trusted_proxies))
    shared = {"settings": settings, "places": places, "idle": OrderedDict()}
    return type("PatientProtocol", (_PatientProtocol,), shared)


class _PatientProtocol(HttpToolsProtocol):
    settings: Settings
    places: ConnectionLimits
    idle: OrderedDict[_PatientProtocol, None]  # those that ask for nothing, the one that waits longest first

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._since = 0.0  # when the peer was last where we had no reason to wait
        self._received = 0  # bytes of the body since then
        self._written = 0  # what it had left to read, then
        self._in_headers = self._in_body = False
        self._data = 0  # bytes that are being parsed
        self._arrived = 0  # the same with all before them, from those in which the request began
        self._unfinished = 0  # bytes in which no request or body began, and no headers ended, one after another
        self._gets_on = False  # whether something of that was in those that are being parsed
        self._looking: asyncio.TimerHandle | None = None
        self._place: str | None = None  # the address that it was taken for

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(JoinedWrites(transport, self.loop))  # type: ignore[arg-type]
        if not self._find_place(self.client[0] if self.client else ""):
            self._turn_away("too-many-connections", "too many connections; retry in a second")
            return
        self.idle[self] = None
        self._since = self.loop.time()
        self._in_headers = True  # a peer that says nothing at all is as slow as any
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        self._leave_place()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """As in uvicorn, but without a warning in the log for whatever a stranger sends."""
        self._unset_keepalive_if_required()
        self._data, self._gets_on = len(data), False
        self._arrived += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.cycle.keep_alive = False  # it is served, but what follows may be of another protocol
        except httptools.HttpParserError as error:
            self._turn_away(*(_TOO_LARGE if isinstance(error.__context__, _HeadTooLarge) else _MALFORMED))
        else:
            self._unfinished = 0 if self._gets_on else self._unfinished + len(data)
            if self._unfinished > LARGEST_HEAD and (self._in_headers or self._in_body):
                self._turn_away(*_TOO_LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._arrived = self._data
        self._in_headers = self._gets_on = True
        self._since = self.loop.time()

    def on_headers_complete(self) -> None:
        if self._arrived > LARGEST_HEAD and self._head_size() > LARGEST_HEAD:
            raise _HeadTooLarge
        self._gets_on = True
        self.idle.pop(self, None)
        super().on_headers_complete()
        self._in_headers, self._in_body = False, True
        self._since, self._received = self.loop.time(), 0

    def on_body(self, body: bytes) -> None:
        self._received += len(body)
        self._gets_on = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._place is not None and (self.cycle is None or self.cycle.response_complete):
            self.idle[self] = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._since, self._written = self.loop.time(), self.transport.get_write_buffer_size()

    def _find_place(self, address: str) -> bool:
        try:
            self.places.take(address)
        except TooManyConnections as full:
            longest = next(iter(self.idle), None)
            if full.args[1] or longest is None:  # only its own share is taken; or all are busy
                return False
            longest._make_room()
            self.places.take(address)
        self._place = address
        return True

    def _make_room(self) -> None:
        """What was served before may be closed at any time; an answer out of turn would only confuse it."""
        self._leave_place()
        if self.cycle is not None:
            self.transport.close()
            return
        self._turn_away("too-many-connections", "others need the connection; open a new one to ask for something")

    def _leave_place(self) -> None:
        self.idle.pop(self, None)
        if self._place is not None:
            self.places.leave(self._place)
            self._place = None

    def _look_later(self) -> None:
        self._looking = self.loop.call_later(self.settings.idle_seconds / _LOOKS, self._look)

    def _look(self) -> None:
        if self.transport.is_closing():
            return
        now = self.loop.time()
        if now - self._since >= self.settings.idle_seconds:
            if self.flow.write_paused:
                left = self.transport.get_write_buffer_size()
                if left >= self._written:  # not a byte more was read
                    self.transport.abort()
                    return
                self._since, self._written = now, left
            elif self._in_headers:
                self._turn_away("request-timeout", "the request did not arrive in time")
                return
            elif self._in_body and not self.flow.read_paused:
                if self._received < _LEAST_RATE * (now - self._since):
                    self._turn_away("request-timeout", "the body arrived too slowly")
                    return
                self._since, self._received = now, 0
        self._look_later()

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _turn_away(self, name: str, detail: str) -> None:
        """Closes the connection, with a problem of this type unless an answer has begun."""
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            path = "" if self.scope is None else self.scope.get("path", "")  # of a request whose headers are complete
            self.transport.write(raw_problem(name, detail, path, request_id(dict(self.headers or ()))))
        self.transport.close()
