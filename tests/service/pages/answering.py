"""A receiver of webhooks on loopback that answers every request alike, with a body of the test's choice."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Answering:
    url: str
    bodies: list[bytes] = field(default_factory=list)  # of what it was sent


@contextmanager
def answering(status: int, body: str) -> Iterator[Answering]:
    content = body.encode()
    bodies: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Answering(f"http://127.0.0.1:{server.server_port}/hook", bodies)
        server.shutdown()
        thread.join()
