"""`python -m tidings.bench.composite_stream [COMPOSITES] [EVENTS]`: events a second, by the clock, through the query of
composites on Spark, local[2], with the states in SQLite: all stages, shuffle and transactions.

The composites and events are those of `tidings.bench.composite_stages`; the first fifth of the events, in which workers
start, learn the composites and load compiled code, is not measured."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tidings.bench.composite_stages import LATENESS, fill
from tidings.bench.machine import Machine, commit
from tidings.pipeline.composites.query import CompositeQuery
from tidings.pipeline.spark.session import spark_session
from tidings.store import Store
from tidings.store.notifications.progress import COMPOSITES

_HOLDER = "bench"
_AN_HOUR = 3600.0


def main() -> None:
    composites = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    events = int(sys.argv[2]) if len(sys.argv) > 2 else 500_000
    print(f"{Machine.here()}; commit {commit()}")
    session = spark_session()
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "tidings.db") as store:
        fill(store, composites, events)
        store.take_pipeline_lease(_HOLDER, _AN_HOUR)
        query = CompositeQuery(
            session, store, LATENESS / 1e6, _HOLDER, lambda: f"{folder}/checkpoint", lambda: None, print
        )
        running = query.run_once()
        assert running is not None
        tail = store.tail()
        warm, begun, first = tail - 4 * events // 5, 0.0, 0
        while running.isActive:
            done = store.committed(COMPOSITES)
            if not begun and done >= warm:
                begun, first = time.monotonic(), done
            time.sleep(0.05)
        running.awaitTermination()
        done, seconds = store.committed(COMPOSITES), time.monotonic() - begun
        print(
            f"{composites:,} composites: {done - first:,} events in {seconds:.1f} s, {(done - first) / seconds:,.0f} "
            f"events/s; {store.last_cursor():,} detections",
            flush=True,
        )
    session.stop()


if __name__ == "__main__":
    main()
