"""Moments as people write them: a date, a time, or an age such as 7d. Commands and the service read them so."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from tidings.schema.values import Instant

WHEN = "2026-05-01, 2026-05-01T10:00:00Z, or 7d for the last seven days"
_SECONDS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_AGE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?([a-z]+)")


def moment(text: str, now: Instant) -> Instant:
    """Raises ValueError where it is no time, or one before the year 1."""
    found = _AGE.fullmatch(text.strip())
    if found is None or found[2] not in _SECONDS:
        return Instant.parse(text)
    try:
        return Instant.of(datetime.fromisoformat(str(now)) - timedelta(seconds=float(found[1]) * _SECONDS[found[2]]))
    except OverflowError as problem:
        raise ValueError(str(problem)) from None
