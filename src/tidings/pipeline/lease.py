"""One pipeline matches the journal of a store at a time; a second one, with a data folder of its own, waits.

Two would store nothing twice, but do all work twice and sweep up each other's staged matches. The lease is a row of the
store. A holder is named by host, boot and data folder, which has a lock of its own: so a pipeline that was killed and
is started again goes on at once, and one elsewhere takes over when the lease runs out."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tidings.errors import Explained, PipelineError, StoreError
from tidings.store import Store
from tidings.store.clock.clock import now

_SECONDS = 15.0
_RENEWALS = 3  # before it runs out
_STANDBY = 1.0  # seconds between two tries to take it


class StoreInUse(Explained, PipelineError):
    holder: str
    template = "another pipeline works on this store ({holder}); stop it first, or let it do the work"


class PipelineLease:
    def __init__(self, store: Store, data: Path, seconds: float = _SECONDS, standby: float = _STANDBY) -> None:
        self._store, self._seconds, self._standby = store, seconds, standby
        self.holder = f"{socket.gethostname()}, {data.absolute()}, boot {now.steady().boot[:8]}"
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)
        self.lost: StoreInUse | None = None  # another took it, since it was not renewed in time

    def take(self, stopped: threading.Event, once: bool, waiting: Callable[[str], None]) -> bool:
        """Waits until no other pipeline has it; False where it is stopped first. `waiting` is called with the other's
        name. A run that ends by itself waits no longer than a pipeline that was killed could hold it; then it raises
        StoreInUse."""
        patience = time.monotonic() + 1.1 * self._seconds
        while not stopped.is_set():
            holder = self._store.take_pipeline_lease(self.holder, self._seconds)
            if holder == self.holder:
                self._thread.start()
                return True
            if once and time.monotonic() > patience:
                raise StoreInUse(holder)
            waiting(holder)
            stopped.wait(self._standby)
        return False

    def give_back(self) -> None:
        if self._thread.ident is None:
            return
        self._ended.set()
        self._thread.join()
        if self.lost is None:
            with suppress(StoreError):  # then it runs out
                self._store.take_pipeline_lease(self.holder, 0)

    def _keep(self) -> None:
        while not self._ended.wait(self._seconds / _RENEWALS):
            try:
                holder = self._store.take_pipeline_lease(self.holder, self._seconds)
            except StoreError:  # it may be back before the lease runs out
                continue
            if holder != self.holder:
                self.lost = StoreInUse(holder)
                return
