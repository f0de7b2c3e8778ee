"""Ticks: while nothing is accepted and composites wait for time, the journal says each second how late it is."""

from __future__ import annotations

import logging
import threading

from tidings.errors import StoreError
from tidings.store import ClockJumped, Store, Tick

_SECOND = 1.0
_log = logging.getLogger(__name__)


def keep_ticking(store: Store, lateness: float, stopped: threading.Event) -> None:
    """Until stopped. While the clock is wrong, or the store cannot be reached, time stands still."""
    while not stopped.wait(_SECOND):
        try:
            if store.waits_for_time(int(lateness * 1_000_000)):
                store.append([Tick()])
        except (StoreError, ClockJumped) as problem:
            _log.warning("no tick: %s", problem)
