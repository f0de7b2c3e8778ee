"""A real Tidings server, and a real site on loopback whose pages a test writes."""

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.client.conftest import ann, settings, url  # noqa: F401  # fixtures
from tests.service.conftest import service  # noqa: F401  # a fixture
from tidings.feeds.mapping.mapping import Mapping
from tidings.feeds.mapping.mapping_file import mapping_of
from tidings.feeds.sources import sources

EXAMPLES = Path(__file__).parents[2] / "examples" / "feeds"


@dataclass
class Site:
    """`pages` has the body of each path; `headers` go with all of them; `asked` is what was asked for, and answered."""

    port: int = 0
    pages: dict[str, bytes] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/html"})
    asked: list[tuple[str, int]] = field(default_factory=list)
    status: int = 200
    cut: int | None = None  # only so many bytes are sent

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture
def site() -> Iterator[Site]:
    told = Site()

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = told.pages.get(self.path)
            status = 404 if body is None else told.status
            if status == 200 and told.headers.get("ETag", "-") == self.headers.get("If-None-Match"):
                status, body = 304, b""
            told.asked.append((self.path, status))
            self.send_response(status)
            for name, value in told.headers.items():
                self.send_header(name, value)
            self.end_headers()
            body = body or b""
            for _ in range(told.headers.get("Content-Encoding", "").count("gzip")):
                body = gzip.compress(body)
            with suppress(ConnectionError):  # whoever asked may have had enough
                self.wfile.write(body[: told.cut])

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    told.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield told
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def soon_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests write files and have them read at once."""
    monkeypatch.setattr(sources, "_SETTLED", 0.02)


Map = Callable[..., Mapping]


@pytest.fixture
def mapped(tmp_path: Path) -> Map:
    """A mapping of these keys, as a file `own.toml` would say them."""

    def make(**keys: Any) -> Mapping:
        return mapping_of(keys, "own.toml", tmp_path)

    return make
