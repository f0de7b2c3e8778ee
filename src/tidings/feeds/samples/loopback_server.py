"""An HTTP server on loopback, in a thread of its own while a `with` lasts."""

from __future__ import annotations

import threading
from http.server import ThreadingHTTPServer
from types import TracebackType
from typing import Self


class LoopbackServer:
    """`server` listens already; it is closed at the end of the `with`."""

    def __init__(self, server: ThreadingHTTPServer, name: str) -> None:
        self._server = server
        self._server.daemon_threads = True
        self.port: int = server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=server.serve_forever, args=(0.1,), name=name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
