"""The HTTP server: uvicorn with our settings, which tells when it listens and leaves signals to us."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from tidings.service.door.slow_peers import patient_protocol
from tidings.service.listening import BACKLOG
from tidings.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI


_KEEP_ALIVE = 60  # seconds that a connection may stay open between two requests
_PATIENCE = 10  # seconds for the requests under way when the service stops


class HttpServer(uvicorn.Server):
    """Tells when it listens, and leaves signals to us."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def configuration(app: FastAPI, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app, http=patient_protocol(settings), ws="none", log_config=None, log_level="warning", access_log=False,
        server_header=False,
        proxy_headers=False,  # any process on this machine could name any address as its own
        backlog=BACKLOG, timeout_keep_alive=_KEEP_ALIVE, timeout_graceful_shutdown=_PATIENCE,
    )  # fmt: skip
