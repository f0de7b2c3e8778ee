"""`python -m tidings.bench.composite_stream [COMPOSITES] [EVENTS] [often]`: events a second, by the clock, through the
query of composites on Spark, local[2], with the states in SQLite: all stages, shuffle and transactions. Beside it, the
processor time that all processes take for each event, Java's and the workers' too: on a busy machine only that says
something.

The composites and events are those of `tidings.bench.composite_stages`; the first fifth of the events, in which workers
start, learn the composites and load compiled code, is not measured."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from tidings.bench.composite_stages import LATENESS, chosen, fill
from tidings.bench.machine import Machine, commit
from tidings.pipeline.composites.query import CompositeQuery
from tidings.pipeline.spark.session import spark_session
from tidings.pipeline.stream.staging import StagedFiles
from tidings.store import Store
from tidings.store.notifications.progress import COMPOSITES

_HOLDER = "bench"
_AN_HOUR = 3600.0


def main() -> None:
    composites, events, often = chosen(500_000)
    print(f"{Machine.here()}; commit {commit()}")
    session = spark_session()
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "tidings.db") as store:
        fill(store, composites, events, often)
        store.take_pipeline_lease(_HOLDER, _AN_HOUR)
        staging = StagedFiles(Path(folder) / "staged")
        query = CompositeQuery(
            session, store, LATENESS / 1e6, _HOLDER, staging, lambda: f"{folder}/checkpoint", lambda: None, print
        )
        running = query.run_once()
        assert running is not None
        tail = store.tail()
        warm, begun, first, used = tail - 4 * events // 5, 0.0, 0, 0.0
        while running.isActive:
            done = store.committed(COMPOSITES)
            if not begun and done >= warm:
                begun, first, used = time.monotonic(), done, tree_seconds()
            time.sleep(0.05)
        used = tree_seconds() - used
        running.awaitTermination()
        done, seconds = store.committed(COMPOSITES), time.monotonic() - begun
        print(
            f"{composites:,} composites: {done - first:,} events in {seconds:.1f} s, {(done - first) / seconds:,.0f} "
            f"events/s; {store.last_cursor():,} detections; {1e6 * used / (done - first):.0f} µs of processor time "
            f"each, at most {2 * (done - first) / used:,.0f} events/s of two processors",
            flush=True,
        )
    session.stop()


def tree_seconds() -> float:
    """The processor time of this process and of those that it started, and they; on Linux."""
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(fields[1])
            seconds[int(folder.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    family = {os.getpid()}
    while below := {one for one, parent in parents.items() if parent in family} - family:
        family |= below
    return sum(seconds.get(one, 0.0) for one in family)


if __name__ == "__main__":
    main()
