"""The composites' query beside the one that matches: it runs while there are composites, and its failures are its own.

What it has done is in the store, so its checkpoint may be lost or set aside at any time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from tidings.composite.trace import MOST_WAITING
from tidings.pipeline.composites.sink import CompositeSink
from tidings.pipeline.spark.session import parallelism
from tidings.pipeline.stream.queries import is_gap, reason
from tidings.pipeline.stream.staging import Staging
from tidings.store import Store
from tidings.store.notifications.progress import COMPOSITES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import StreamingQuery

_RHYTHM = "200 milliseconds"  # composites wait for seconds anyway
_LOOK = 1.0  # seconds between two looks whether there are composites
_UNTIL_NEXT_TRY = 5.0  # seconds after a failure


class CompositeQuery:
    """`checkpoint` gives the folder of its checkpoint, `set_aside` makes it another one. `lateness` is in seconds;
    `most_waiting` instances are kept in one operator for each key."""

    def __init__(
        self,
        session: SparkSession,
        store: Store,
        lateness: float,
        holder: str,
        staging: Staging,
        checkpoint: Callable[[], str],
        set_aside: Callable[[], object],
        tell: Callable[[str], None],
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self._session, self._store, self._holder = session, store, holder
        self._staging = staging
        self._lateness, self._most_waiting = int(lateness * 1_000_000), most_waiting
        self._checkpoint, self._set_aside, self._tell = checkpoint, set_aside, tell
        self._query: StreamingQuery | None = None
        self._next_look = 0.0

    def run_once(self) -> StreamingQuery | None:
        """Through all that is there now; None where there are no composites."""
        if not self._store.begin_composites():
            return None
        return self._start(once=True)

    def look(self) -> None:
        """Starts the query when the first composite was posted, or after a failure; ends it after the last one."""
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + _LOOK
        if self._query is not None and self._query.exception() is not None:
            self._failed(self._query)
        elif self._query is None and self._store.begin_composites():
            self._query = self._start(once=False)
        elif self._query is not None and not self._store.begin_composites():
            self.stop()

    def stop(self) -> None:
        """The batch under way is lost, and run again at the next start."""
        if self._query is not None:
            self._query.stop()
            self._query = None

    def _failed(self, query: StreamingQuery) -> None:
        self._tell(f"the query {COMPOSITES!r} failed and is started again: {reason(query)}")
        if is_gap(query):
            self._set_aside()
        self._query = None
        self._next_look = time.monotonic() + _UNTIL_NEXT_TRY

    def _start(self, once: bool) -> StreamingQuery:
        from tidings.pipeline.stream.source import format_of, journal_source

        tasks = parallelism(self._session)
        self._session.dataSource.register(journal_source(self._store.url, None, 100_000, tasks, COMPOSITES))
        self._staging.sweep(COMPOSITES)  # left by a sink that was killed
        sink = CompositeSink(self._store.url, self._lateness, tasks, self._holder, self._staging, self._most_waiting)
        writer = (
            self._session.readStream.format(format_of(COMPOSITES))
            .load()
            .writeStream.foreachBatch(sink)
            .queryName(COMPOSITES)
            .option("checkpointLocation", self._checkpoint())
        )
        return (writer.trigger(availableNow=True) if once else writer.trigger(processingTime=_RHYTHM)).start()
