"""The thesis's notification daemon: XML requests over TCP, one after another on a connection (chapter 5).

    <PUBLISH_EVENT contact="sbile@hotmail.com" token="tid_…">…</PUBLISH_EVENT>
    <OK request="PUBLISH_EVENT" position="17" id="…" duplicate="false"/>

A request ends where its root element ends; the answers come in the order of the requests, a line each. After a
request that is not well-formed the connection is closed, after one that is only wrong it goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from ssl import SSLContext
from typing import cast

from tidings.service.door.addresses import Proxies
from tidings.service.door.connection_limits import ConnectionLimits, TooManyConnections
from tidings.service.door.in_flight import InFlight
from tidings.service.gateway import Gateway
from tidings.service.xml import answers as answers
from tidings.service.xml.connection import Connection, address_of
from tidings.service.xml.operations import Operations

_PATIENCE = 10  # times `idle_seconds` that a connection may be silent between two requests, once one was valid
_BACKLOG = 1_024  # connections that wait to be accepted
_FAREWELL = 1.0  # seconds for a TLS peer to answer that the connection ends; else one that is idle would delay our end


class XmlDaemon:
    """Made inside the event loop that uses it."""

    def __init__(self, gateway: Gateway) -> None:
        self._settings = gateway.settings
        self._operations = Operations(gateway)
        self._connections: set[Connection] = set()
        self._places = ConnectionLimits(gateway.settings.connections, Proxies(gateway.settings.trusted_proxies))
        self._in_flight = InFlight(gateway.settings)
        self._server: asyncio.Server | None = None
        self._watching: asyncio.Task[None] | None = None

    async def start(self, host: str, port: int, certificate: SSLContext | None = None) -> None:
        """Raises OSError where it cannot listen there. With a certificate it speaks TLS."""
        loop = asyncio.get_running_loop()
        farewell = None if certificate is None else _FAREWELL
        self._server = await loop.create_server(
            lambda: _Door(self._let_in), host, port, backlog=_BACKLOG, ssl=certificate, ssl_shutdown_timeout=farewell
        )
        self._watching = loop.create_task(self._watch())

    @property
    def port(self) -> int:
        """Where it listens; useful when it was started on port 0."""
        assert self._server is not None, "not started"
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Takes nothing more, answers what was asked, and returns when all connections are closed."""
        if self._server is None:
            return
        self._server.close()
        for connection in tuple(self._connections):
            connection.finish()
        if works := [connection.work for connection in self._connections if connection.work is not None]:
            _, slow = await asyncio.wait(works, timeout=self._settings.idle_seconds)
            for connection in tuple(self._connections):
                connection.abort()
            if slow:
                await asyncio.wait(slow)
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])

    def _let_in(self, address: str) -> Connection:
        """Raises TooManyConnections."""
        self._places.take(address)
        connection = Connection(self._operations, self._settings.largest_event, self._in_flight, self._lost)
        self._connections.add(connection)
        return connection

    def _lost(self, connection: Connection) -> None:
        self._connections.discard(connection)
        self._places.leave(connection.address)

    async def _watch(self) -> None:
        """Lets go of those who do not finish what they began, or do not fetch what they asked for."""
        seconds = self._settings.idle_seconds
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(min(1.0, seconds / 4))
            now = loop.time()
            for connection in tuple(self._connections):
                connection.let_go_if_slow(now, seconds, seconds * _PATIENCE)


class _Door(asyncio.Protocol):
    """Where it is known who comes: they are let in, or turned away."""

    def __init__(self, let_in: Callable[[str], Connection]) -> None:
        self._let_in = let_in

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        try:
            connection = self._let_in(address_of(transport))
        except TooManyConnections as problem:
            door = cast(asyncio.Transport, transport)
            door.write(answers.refused(problem))
            door.close()
            return
        transport.set_protocol(connection)
        connection.connection_made(transport)
