"""Retention: removes what is older than it is to be kept, a little at a time, for as long as it runs.

The pipeline runs it beside the matching, and the gateway where it serves without a pipeline. Several may run on one
store: each piece is a short transaction under the database's lock and finds nothing where another was quicker.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tidings.errors import StoreError
from tidings.schema import Instant
from tidings.store.store import Store

_EVERY = 60.0  # seconds between two rounds
_ROUND = 30.0  # seconds that one round may take
_AT_ONCE = 1_000  # events, notifications, … of one transaction
_A_DAY = 24 * 60 * 60 * 1_000_000  # microseconds
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetentionDays:
    """For how many days what is kept; 0: for ever."""

    events: int = 0
    keys: int = 0  # of events that were removed
    dead_letters: int = 0


class Retention:
    """Before every piece it looks at the clock: while that is wrong, nothing is removed."""

    def __init__(self, store: Store, keep: RetentionDays) -> None:
        self._store = store
        self._keep = keep

    def run(self, stopped: threading.Event) -> None:
        """Until stopped. What fails in the store is logged and tried again in the next round."""
        while not stopped.is_set():
            try:
                self.round(stopped)
            except StoreError as problem:
                _log.warning("retention waits for the store: %s", problem)
            stopped.wait(_EVERY)

    def round(self, stopped: threading.Event | None = None) -> int:
        """Removes what may go, for at most half a minute; returns how much. It rests as long as it works, so that
        publishers are let in between. Raises StoreError."""
        stopped = stopped or threading.Event()
        end = time.monotonic() + _ROUND
        removed = 0
        for remove in self._kinds():
            while self._store.clock.look().is_right and time.monotonic() < end and not stopped.is_set():
                begun = time.monotonic()
                count = remove()
                removed += count
                if count < _AT_ONCE:
                    break
                stopped.wait(time.monotonic() - begun)
        return removed

    def _kinds(self) -> Iterator[Callable[[], int]]:
        """Each removes up to so many of one kind."""
        store, keep = self._store, self._keep
        if keep.events:
            yield lambda: store.trim(self._ago(keep.events), limit=_AT_ONCE)
        # Also without a limit: `tidings journal trim` removes events too, and these follow.
        yield lambda: store.forget(_AT_ONCE)
        yield lambda: store.forget_spans(_AT_ONCE)
        if keep.keys:
            yield lambda: store.forget_keys(self._ago(keep.keys), _AT_ONCE)
        if keep.dead_letters:
            yield lambda: store.forget_letters(self._ago(keep.dead_letters), _AT_ONCE)

    def _ago(self, days: int) -> Instant:
        return Instant(max(0, self._store.now() - days * _A_DAY))
