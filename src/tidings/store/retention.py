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
_AT_ONCE = 1_000  # events, notifications, … that are removed at once, at first
_MOST = 20_000
_QUICK, _SLOW = 0.1, 0.3  # seconds: after a piece that took less, or more, the next is larger, or smaller
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
        """Removes what may go; returns how much. The kinds take turns, so that none waits for the backlog of another.
        It rests as long as it works, so that publishers are let in between. Raises StoreError."""
        stopped = stopped or threading.Event()
        kinds = [_Kind(remove) for remove in self._kinds()]
        removed, is_behind = 0, True
        while is_behind:
            is_behind = False
            for kind in kinds:
                if stopped.is_set() or not self._store.clock.look().is_right:
                    return removed
                begun, most = time.monotonic(), kind.most
                count = kind.remove_some()
                removed += count
                is_behind |= count >= most
                if count:
                    stopped.wait(time.monotonic() - begun)
        return removed

    def _kinds(self) -> Iterator[Callable[[int], int]]:
        """Each removes up to so many of one kind. Notifications and spans follow the events."""
        store, keep = self._store, self._keep
        if keep.events:
            yield lambda most: store.trim(self._ago(keep.events), limit=most)
        # Also without a limit: `tidings journal trim` removes events too, and these follow.
        yield store.forget
        yield store.forget_spans
        if keep.keys:
            yield lambda most: store.forget_keys(self._ago(keep.keys), most)
        if keep.dead_letters:
            yield lambda most: store.forget_letters(self._ago(keep.dead_letters), most)

    def _ago(self, days: int) -> Instant:
        return Instant(max(0, self._store.now() - days * _A_DAY))


class _Kind:
    """One kind of what is removed, and how many of it may go at once."""

    def __init__(self, remove: Callable[[int], int]) -> None:
        self._remove = remove
        self.most = _AT_ONCE

    def remove_some(self) -> int:
        begun = time.monotonic()
        count = self._remove(self.most)
        seconds = time.monotonic() - begun
        if seconds > _SLOW:
            self.most = max(1, min(_AT_ONCE, self.most), self.most // 2)
        elif seconds < _QUICK and count >= self.most:
            self.most = max(self.most, min(2 * self.most, _MOST))
        return count
