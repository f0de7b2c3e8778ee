"""The demo may run for days: events older than a day go, but for those that are still owed to somebody."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from tidings.errors import StoreError
from tidings.schema import Instant

KEPT = 24 * 60 * 60 * 1_000_000  # microseconds
EVERY = 600.0  # seconds


def keep_house(place: str | Path, stop: threading.Event, tell: Callable[[str], None], every: float = EVERY) -> None:
    """Until `stop`; what goes wrong is told, and tried again the next time."""
    while not stop.wait(every):
        try:
            trim(place)
        except StoreError as problem:
            tell(f"old events were not removed: {problem}")


def trim(place: str | Path, kept: int = KEPT) -> int:
    """How many events were removed from the store there. Raises StoreError."""
    from tidings.store import Store  # with SQLAlchemy, which publishing does without
    from tidings.store.clock import now

    with Store.open(place) as store:
        return store.trim(Instant(now() - kept))
