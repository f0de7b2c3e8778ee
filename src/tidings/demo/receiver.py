"""A receiver of webhooks on loopback: `/inbox` takes all, `/flaky` fails every other time, `/gone` wants nothing."""

from __future__ import annotations

import errno
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

from tidings.feeds.samples.loopback_server import LoopbackServer

_LARGEST = 16 << 20  # bytes of a body


class Receiver(LoopbackServer):
    """`with Receiver(port) as receiver: receiver.url`. Where the port is taken, or 0, it is any that is free."""

    def __init__(self, port: int = 0) -> None:
        try:
            server = _Server(("127.0.0.1", port), _Answers)
        except OSError as problem:
            if problem.errno != errno.EADDRINUSE:
                raise
            server = _Server(("127.0.0.1", 0), _Answers)
        super().__init__(server, "receiver")


class _Server(ThreadingHTTPServer):
    numbers = count()  # of what came to /flaky

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # else the sender went away, which it notes itself
            super().handle_error(request, client_address)


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_OPTIONS(self) -> None:
        """Whether it wants deliveries, as CloudEvents' webhooks ask."""
        self._answer(200, "", ("WebHook-Allowed-Origin", "*"))

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _LARGEST:
            self.close_connection = True
            return self._answer(413, "too large")
        self.rfile.read(int(length))
        if self.path == "/gone":
            self._answer(410, "no more of this, please")
        elif self.path == "/flaky" and next(_Server.numbers) % 2 == 0:
            self._answer(500, "out of order, try again")
        else:
            self._answer(200, "thank you")

    def _answer(self, status: int, said: str, *headers: tuple[str, str]) -> None:
        body = said.encode()
        self.send_response(status)
        for name, value in (*headers, ("Content-Type", "text/plain"), ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """The service's pages show each attempt."""
