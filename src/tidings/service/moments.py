"""Moments as people write them: a date, a time, or an age such as 7d."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from tidings.errors import ServiceError, shown
from tidings.schema import Instant

WHEN = "2026-05-01, 2026-05-01T10:00:00Z, or 7d for so long ago"
_SECONDS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}


class NoMoment(ServiceError):
    """(parameter, text)"""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name, text)

    def __str__(self) -> str:
        name, text = self.args
        return f"{name}: {shown(text)} is no time; write it like {WHEN}"


def moment(name: str, text: str, now: Instant) -> Instant:
    """`name` says what the text was given for. Raises NoMoment."""
    found = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?([a-z]+)", text.strip())
    try:
        if found is not None and found[2] in _SECONDS:
            ago = timedelta(seconds=float(found[1]) * _SECONDS[found[2]])
            return Instant.of(datetime.fromisoformat(str(now)) - ago)
        return Instant.parse(text)
    except (ValueError, OverflowError):  # no time, or one before the year 1
        raise NoMoment(name, text) from None
