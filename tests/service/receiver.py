"""Real receivers on loopback: of webhooks over HTTP, and of mails over SMTP (the sink of tests/notifying)."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.notifying.smtp_sink import Sink
from tidings.notifying.signatures import verify


@dataclass
class Received:
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found

    def verify(self, secret: str) -> None:
        """Raises SignatureError."""
        verify(self.headers, self.body, secret, time.time())


@dataclass
class Receiver:
    """`consents`: what it answers to OPTIONS as WebHook-Allowed-Origin. `status` is that of every POST."""

    consents: str = "*"
    status: int = 200
    origins: list[str] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    port: int = 0
    news: threading.Condition = field(default_factory=threading.Condition)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def wait(self, count: int, seconds: float = 60) -> list[Received]:
        with self.news:
            assert self.news.wait_for(lambda: len(self.received) >= count, seconds), len(self.received)
            return list(self.received)


@contextmanager
def receiver(**how: Any) -> Iterator[Receiver]:
    running = Receiver(**how)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_OPTIONS(self) -> None:
            running.origins.append(self.headers["WebHook-Request-Origin"])
            self._answer(200, [("WebHook-Allowed-Origin", running.consents)] if running.consents else [])

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with running.news:
                running.received.append(Received({name.lower(): value for name, value in self.headers.items()}, body))
                running.news.notify_all()
            self._answer(running.status, [])

        def _answer(self, status: int, headers: list[tuple[str, str]]) -> None:
            self.send_response(status)
            for name, value in (*headers, ("Content-Length", "2")):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    running.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def mail_sink() -> Iterator[tuple[Sink, int]]:
    """The sink, and its port."""
    sink = Sink()
    started = threading.Event()
    port, loops = [], []

    async def serve() -> None:
        server = await asyncio.start_server(sink.serve, "127.0.0.1", 0, limit=1 << 20)
        ending = asyncio.Event()
        port.append(server.sockets[0].getsockname()[1])
        loops.append((asyncio.get_running_loop(), ending))
        started.set()
        await ending.wait()
        server.close()
        for writer in tuple(sink.writers):
            writer.close()
        await asyncio.sleep(0.01)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert started.wait(120)
    try:
        yield sink, port[0]
    finally:
        loop, ending = loops[0]
        loop.call_soon_threadsafe(ending.set)
        thread.join(120)
