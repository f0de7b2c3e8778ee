"""The lines of a web server's log, in the Common or the Combined Log Format: one record for each.

127.0.0.1 - ann [10/Oct/2025:13:55:36 -0700] "GET /cars HTTP/1.1" 200 2326 "http://example.org/" "Firefox"

The work for a line is bounded: lines longer than LONGEST are not taken apart. A line of another form is a record that
has only `line` and `text`, so that it is refused and counted, not lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tidings.errors import one_of
from tidings.feeds.errors import WrongPath
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.sources.content import Content
from tidings.feeds.sources.lines import lines

LONGEST = 20_000  # characters of a line
LOG_PATHS = (
    "line",
    "text",
    "host",
    "ident",
    "user",
    "time",
    "request",
    "method",
    "path",
    "protocol",
    "status",
    "bytes",
    "referer",
    "agent",
)
_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_LINE = re.compile(
    rf"(\S{{1,300}}) (\S{{1,300}}) ([^\[\]]{{1,300}}?) \[([^\[\]]{{1,100}})\] {_QUOTED} (\d{{3}}|-) (\d{{1,18}}|-)"
    rf"(?: {_QUOTED} {_QUOTED})?"
)
_NAMES = ("host", "ident", "user", "time", "request", "status", "bytes", "referer", "agent")
_REQUEST = re.compile(r"([A-Z]{1,20}) (\S+)(?: (HTTP/[\d.]{1,5}))?")

LogLine = dict[str, tuple[str, ...]]


def log_lines(content: Content, layout: Layout) -> Iterator[tuple[int, LogLine]]:
    """All lines that are not blank. Raises UnreadableFeed where they are not text."""
    for number, raw in enumerate(lines(content, layout, "\n"), 1):
        line = raw.rstrip("\r\n")
        if line.strip():
            yield number, {"line": (str(number),), "text": (line[:LONGEST],), **(parts(line) or {})}


def parts(line: str) -> LogLine | None:
    """What its fields say, without those that say `-`; None: it is of another form."""
    found = _LINE.match(line) if len(line) <= LONGEST else None
    if found is None:
        return None
    said: LogLine = {
        name: (part,) for name, part in zip(_NAMES, found.groups(), strict=True) if part not in (None, "-", "")
    }
    request = _REQUEST.fullmatch(said["request"][0]) if "request" in said else None
    if request is not None:
        asked = zip(("method", "path", "protocol"), request.groups(), strict=True)
        said |= {name: (part,) for name, part in asked if part is not None}
    return said


def log_path(path: str) -> str:
    """Raises WrongPath."""
    if path not in LOG_PATHS:
        raise WrongPath(path, f"does not exist in a log; expected {one_of(LOG_PATHS)}")
    return path


def is_combined(line: str) -> bool:
    """Whether it says the referer and the agent too, be it by `-`."""
    found = _LINE.match(line)
    return found is not None and found[9] is not None
