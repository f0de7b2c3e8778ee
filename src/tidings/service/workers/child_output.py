"""What a child process says: lines of JSON about its progress, and the last error in its log."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

from tidings.logs import last_message

_READ_OF_LOG = 64 << 10
_LAST_WORDS = 500  # characters


def last_words(log: Path, start: int) -> str:
    """The last error that was written from there on, else the last line."""
    with log.open("rb") as file:
        file.seek(max(start, file.seek(0, os.SEEK_END) - _READ_OF_LOG))
        text = file.read().decode(errors="replace").strip()
    return last_message(text)[:_LAST_WORDS] or "it left no message"


def ending(code: int) -> str:
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def look_of(line: bytes) -> dict[str, Any] | None:
    """At the progress; None for what Spark itself may write."""
    if not line.startswith(b"{"):
        return None
    try:
        look: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return look


def busiest_of(look: dict[str, Any]) -> tuple[tuple[str, int, str], ...]:
    return tuple((str(place), int(count), str(trust)) for place, count, trust in look.get("busiest", ()))
