"""Refused records in a file, as JSON Lines: where each stands, what was read of it, and every rule that it breaks."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from tidings.feeds.records.json_values import Damaged
from tidings.feeds.records.records import Located


class Rejects:
    """Of all feeds of one run; begins empty. Raises OSError."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")
        self._lock = threading.Lock()

    def add(self, feed: str, place: str, found: Located, refused: dict[str, Any]) -> None:
        line = json.dumps(rejected(feed, place, found, refused), default=repr)
        with self._lock:
            self._file.write(line + "\n")

    def flush(self) -> None:
        with self._lock:
            self._file.flush()

    def close(self) -> None:
        self._file.close()


def rejected(feed: str, place: str, found: Located, refused: dict[str, Any]) -> dict[str, Any]:
    """One refused record, for JSON."""
    where = {"line": found.line} if found.line else {"number": found.number}
    told = {"feed": feed, "file": place, **where, "id": refused.get("id"), "errors": refused["errors"]}
    record = {"(unreadable)": (found.record.text,)} if type(found.record) is Damaged else found.record
    return {**told, "record": record}
