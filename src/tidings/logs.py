"""Logs: one form for every process of the service, written to standard error.

Each record is one line with time, level, process and message, and the id of the request that it belongs to: plain text
for people (`2026-05-01T10:00:00.000Z WARNING gateway: …`) or JSON for programs, by the setting `log_format`. Values
come from strangers, so control characters are escaped: nobody can forge a line or steer a terminal. In plain text a
traceback follows on indented lines.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

VARIABLE = "TIDINGS_LOG_FORMAT"
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")

# Their messages may hold whole URLs, and with them other people's tokens.
_NEVER_LOGGED = ("apprise", "httpcore", "httpx", "requests", "requests_oauthlib", "urllib3")
_OURS = "tidings"
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_TEXT_LINE = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z +(?P<level>[A-Z]+) +\S+: (?P<message>.*)")
_BAD = ("error", "fatal", "critical")


def escaped(text: str) -> str:
    """On one line, without control characters, bidirectional marks and unpaired surrogates."""
    return _UNSAFE.sub(lambda found: repr(found[0])[1:-1], text)


@contextmanager
def logged(process: str, form: str) -> Iterator[None]:
    """Writes the log of this process for as long as the context lasts."""
    root, ours = logging.getLogger(), logging.getLogger(_OURS)
    handler = _StandardError(process, form)
    before = ours.level
    root.addHandler(handler)
    ours.setLevel(logging.INFO)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)
        ours.setLevel(before)


def is_logged() -> bool:
    """Whether this process writes a log: then messages of commands are records of it."""
    return any(isinstance(handler, _StandardError) for handler in logging.getLogger().handlers)


def last_message(log: str) -> str:
    """Of the last error in a log of either form; where there is none, of the last line."""
    lines = log.splitlines()
    for line in reversed(lines):
        level, message = _read(line)
        if level in _BAD:
            return message
    return (_read(lines[-1])[1] or lines[-1]) if lines else ""


class _StandardError(logging.Handler):
    def __init__(self, process: str, form: str) -> None:
        super().__init__()
        self.addFilter(lambda record: record.name.partition(".")[0] not in _NEVER_LOGGED)
        self.setFormatter(_Json(process) if form == "json" else _Text(process))

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(f"{self.format(record)}\n")
            sys.stderr.flush()
        except Exception:
            self.handleError(record)


class _Formatter(logging.Formatter):
    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process


class _Text(_Formatter):
    def format(self, record: logging.LogRecord) -> str:
        request = f" [request {id}]" if (id := REQUEST_ID.get()) else ""
        line = f"{_time(record)} {record.levelname:7} {self._process}: {escaped(record.getMessage())}{request}"
        if record.exc_info:
            trace = self.formatException(record.exc_info)
            line += "".join(f"\n    {escaped(part)}" for part in trace.splitlines())
        return line


class _Json(_Formatter):
    def format(self, record: logging.LogRecord) -> str:
        members = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "process": self._process,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if id := REQUEST_ID.get():
            members["request_id"] = id
        if record.exc_info:
            members["exception"] = self.formatException(record.exc_info)
        return json.dumps(members)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _read(line: str) -> tuple[str, str]:
    """Level and message, both empty for a line of another form."""
    if line.startswith("{"):
        try:
            members = json.loads(line)
            return str(members["level"]), str(members["message"])
        except (ValueError, KeyError):
            return "", ""
    found = _TEXT_LINE.match(line)
    return (found["level"].lower(), found["message"]) if found else ("", "")
