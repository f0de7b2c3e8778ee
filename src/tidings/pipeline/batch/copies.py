"""Copies of the journal by column, made ahead in quiet moments, so that the first query is as quick as the next.

The pipeline runs it beside the matching. Several may run on one store: a stretch is copied in one transaction, and what
another has copied stays."""

from __future__ import annotations

import logging
import threading
import time

from tidings.errors import StoreError
from tidings.pipeline.batch.query import copy_stretch
from tidings.store import Store
from tidings.store.journal import event_columns

_EVERY = 15.0  # seconds between two looks
_QUIET = 1_000  # entries between two looks, up to which nothing else needs the processor
_REST = 4.0  # times as long as it works, so that matching hardly notices
_log = logging.getLogger(__name__)


class Copies:
    """What cannot be copied (events that are damaged or very large) is tried once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: int | None = None
        self._tried: set[int] = set()

    def run(self, stopped: threading.Event) -> None:
        """Until stopped. What fails in the store is logged and tried again later."""
        while not stopped.wait(_EVERY):
            try:
                self.round(stopped)
            except StoreError as problem:
                _log.warning("copying by column waits for the store: %s", problem)

    def round(self, stopped: threading.Event | None = None) -> int:
        """Copies all that can be, the newest first, unless events are coming in; returns how many stretches. Raises
        StoreError."""
        stopped = stopped or threading.Event()
        made = 0
        if not self._is_quiet():
            return made
        for stretch in self._missing():
            if stopped.is_set() or not self._is_quiet():
                break
            begun = time.monotonic()
            if copy_stretch(self._store, stretch):
                made += 1
            else:
                self._tried.add(stretch)
            stopped.wait(_REST * (time.monotonic() - begun))
        return made

    def _is_quiet(self) -> bool:
        """Whether little came since the last look; at the first one nobody knows."""
        tail = self._store.tail()
        before, self._seen = self._seen, tail
        return before is not None and tail - before <= _QUIET

    def _missing(self) -> list[int]:
        """The stretches that have their last entry and no copy."""
        first = event_columns.stretch_of(max(1, self._store.complete_from()))
        whole = self._store.tail() // event_columns.STRETCH
        copied = self._store.copied_stretches(first, whole)
        self._tried.intersection_update(range(first, whole))
        return [one for one in range(whole - 1, first - 1, -1) if one not in copied and one not in self._tried]
