"""Where a feed's bytes come from: a URL that is asked again and again, a folder whose new files are read, one file.

`look` gives what is new since the last look and forgets nothing by failing: what could not be read comes again."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import httpx

from tidings.feeds.errors import SourceUnreachable
from tidings.feeds.mapping import Origin
from tidings.feeds.records import LARGEST, Content

_TIMEOUT = 30.0  # seconds without a byte
_DEADLINE = 300.0  # seconds for a whole page
_MOST_FILES = 100_000  # remembered
_SETTLED = 1.0  # seconds for which a file has not changed: whoever writes it is done


class Source(Protocol):
    def look(self) -> Iterator[Content]:
        """What is new. Raises SourceUnreachable."""

    def done(self, content: Content) -> None:
        """It need not come again."""

    def close(self) -> None: ...


def open_source(origin: Origin, once: bool = False) -> Source:
    """`once`: files are taken as they are, without waiting until nobody writes to them."""
    if origin.url:
        return UrlSource(origin.url)
    if origin.folder is not None:
        return FolderSource(origin.folder, origin.pattern, 0.0 if once else _SETTLED)
    assert origin.file is not None
    return FolderSource(origin.file.parent, origin.file.name, 0.0 if once else _SETTLED, one=True)


class UrlSource:
    """Asks only for what changed, where the site can tell (ETag, Last-Modified)."""

    def __init__(self, url: str, largest: int = LARGEST) -> None:
        self.url = url
        self._largest = largest
        self._http = httpx.Client(
            timeout=_TIMEOUT,
            follow_redirects=True,
            max_redirects=5,
            headers={"user-agent": "tidings-feed", "accept": "*/*"},
            trust_env=httpx.URL(url).host not in ("127.0.0.1", "localhost", "::1"),
        )
        self._known: dict[str, str] = {}
        self._offered: dict[str, str] = {}

    def look(self) -> Iterator[Content]:
        try:
            with self._http.stream("GET", self.url, headers=self._known) as answer:
                if answer.status_code == httpx.codes.NOT_MODIFIED:
                    return
                if answer.status_code != httpx.codes.OK:
                    raise SourceUnreachable(self.url, f"it answered {answer.status_code} {answer.reason_phrase}")
                body = self._body(answer)
                named = {"etag": "if-none-match", "last-modified": "if-modified-since"}
                self._offered = {said: answer.headers[name] for name, said in named.items() if name in answer.headers}
                content = Content(self.url, body, answer.charset_encoding or "")
        except httpx.HTTPError as problem:
            raise SourceUnreachable(self.url, str(problem) or type(problem).__name__) from None
        yield content

    def _body(self, answer: httpx.Response) -> bytes:
        end = time.monotonic() + _DEADLINE
        pieces, size = [], 0
        for piece in answer.iter_bytes():
            size += len(piece)
            if size > self._largest:
                raise SourceUnreachable(self.url, f"it sends more than {self._largest:,} bytes")
            if time.monotonic() > end:
                raise SourceUnreachable(self.url, f"it was not through after {_DEADLINE:g} seconds")
            pieces.append(piece)
        return b"".join(pieces)

    def done(self, content: Content) -> None:
        self._known = self._offered

    def close(self) -> None:
        self._http.close()


class FolderSource:
    """Each file once, oldest first, and again when it has changed; hidden files and `*.part` are not looked at."""

    def __init__(
        self, folder: Path, pattern: str, settled: float, clock: Callable[[], float] = time.time, one: bool = False
    ) -> None:
        self.folder, self._pattern, self._settled, self._clock, self._one = folder, pattern, settled, clock, one
        self._read: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._offered: dict[str, tuple[int, int]] = {}

    def look(self) -> Iterator[Content]:
        """A file that cannot be opened holds up no other, and is told at the end."""
        problem: SourceUnreachable | None = None
        for name in self._names():
            path = self.folder / name
            try:
                stat = path.stat()
                mark = (stat.st_size, stat.st_mtime_ns)
                if self._read.get(name) == mark or abs(self._clock() - stat.st_mtime) < self._settled:
                    continue
                with path.open("rb") as file:
                    body = file.read(LARGEST + 1)
            except FileNotFoundError:
                continue  # gone since it was listed
            except OSError as failed:
                problem = SourceUnreachable(str(path), failed.strerror or str(failed))
                continue
            self._offered = {str(path): mark}
            yield Content(str(path), body)
        if problem is not None:
            raise problem

    def _names(self) -> list[str]:
        if self._one:
            if not (self.folder / self._pattern).is_file():
                raise SourceUnreachable(str(self.folder / self._pattern), "there is no such file")
            return [self._pattern]
        try:
            found = [path for path in self.folder.glob(self._pattern) if path.is_file()]
        except OSError as problem:
            raise SourceUnreachable(str(self.folder), problem.strerror or str(problem)) from None
        if not self.folder.is_dir():
            raise SourceUnreachable(str(self.folder), "there is no such folder")
        shown = [path.name for path in found if not path.name.startswith(".") and path.suffix != ".part"]
        return sorted(shown, key=lambda name: (_age(self.folder / name), name))

    def done(self, content: Content) -> None:
        mark = self._offered.get(content.place)
        if mark is not None:
            self._read[os.path.basename(content.place)] = mark
        while len(self._read) > _MOST_FILES:
            self._read.popitem(last=False)

    def close(self) -> None:
        pass


def _age(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
