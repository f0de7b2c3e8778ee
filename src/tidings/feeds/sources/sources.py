"""Where a feed's bytes come from: a URL that is asked again and again, a folder whose new files are read, one file.

`look` gives what is new since the last look and forgets nothing by failing: what could not be read comes again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, Protocol

from tidings.feeds.mapping.mapping import Origin
from tidings.feeds.sources.content import Content
from tidings.feeds.sources.folder_source import FolderSource
from tidings.feeds.sources.url_source import UrlSource

_SETTLED = 1.0  # seconds
_PATIENCE = 5.0


class Source(Protocol):
    def look(self, stop: threading.Event | None = None) -> Iterator[Content]:
        """What is new; nothing more once `stop` is set. Raises SourceUnreachable."""

    def done(self, content: Content) -> None:
        """It need not come again."""

    def again(self, place: str) -> None:
        """What was done there shall come once more, though it has not changed."""

    def kept(self, without: set[str]) -> dict[str, Any]:
        """What is done, for JSON, apart from these places."""

    def restore(self, kept: dict[str, Any]) -> None:
        """Goes on from what was kept. Raises ValueError or TypeError where it is of another form."""

    def close(self) -> None: ...


def open_source(origin: Origin, once: bool = False, sample: bool = False) -> Source:
    """`once`: there is no later look, so this one waits for files that are being written. `sample`: nothing is
    published of it, so files are taken as they are."""
    settled, patience = 0.0 if sample else _SETTLED, _PATIENCE if once else 0.0
    if origin.url:
        return UrlSource(origin.url)
    if origin.folder is not None:
        return FolderSource(origin.folder, origin.pattern, settled, patience=patience)
    assert origin.file is not None
    return FolderSource(origin.file.parent, origin.file.name, settled, one=True, patience=patience)
