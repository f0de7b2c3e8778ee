"""Flights and weather without end: from this day of the year on, and from January when the year is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tidings.client import Client, ServerRefused, ServerUnreachable
from tidings.feeds.samples.flights import replay
from tidings.schema import Instant

YEAR = 2013  # of the data
PASSES_BY_ITSELF = frozenset({429, 500, 502, 503, 504})
_FIRST_HOUR = 10  # UTC: five or six in New York, when the first flights leave
_PAUSE = 1.0  # seconds until a server that does not answer is asked again


def same_day(now: float) -> Instant:
    """The early morning of this day, in the year of the data."""
    today = datetime.fromtimestamp(now, UTC)
    day = datetime(YEAR, 1, 1, _FIRST_HOUR, tzinfo=UTC) + timedelta(days=min(today.timetuple().tm_yday, 365) - 1)
    return Instant.of(day)


def fly(
    client: Client,
    speed: float,
    stop: threading.Event,
    tell: Callable[[str], None],
    *,
    start: Instant | None = None,
    clock: Callable[[], float] = time.time,
) -> None:
    """Until `stop`. A server that restarts is waited for; raises ServerRefused where it will not pass by itself."""
    at = same_day(clock()) if start is None else start
    while not stop.is_set():
        begun = clock()
        try:
            replay(client, speed, stop, start=at)
            at = Instant.of(datetime(YEAR, 1, 1, _FIRST_HOUR, tzinfo=UTC))
        except (ServerUnreachable, ServerRefused) as problem:
            if isinstance(problem, ServerRefused) and problem.status not in PASSES_BY_ITSELF:
                raise
            tell(f"flights: {problem}")
            at = Instant(at + round((clock() - begun) * speed * 1_000_000))  # time went on meanwhile
            stop.wait(_PAUSE)
