"""`python -m tidings.bench.composite_stream [COMPOSITES,…] [EVENTS] [often]`: events a second, by the clock, through
the query of composites on Spark, local[2], with the states in SQLite: all stages, shuffle and transactions. Beside it,
the processor time that all processes take for each event, Java's and the workers' too: on a busy machine only that says
something.

The composites and events are those of `tidings.bench.composite_stages`. What comes first is not measured: workers
start, learn the composites and load compiled code. It is a fifth of the events, and more until three batches are of
like size, but at most half."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tidings.bench.composite_stages import LATENESS, chosen, fill
from tidings.bench.machine import Machine, commit
from tidings.bench.process_memory import memory_of
from tidings.pipeline.composites.query import CompositeQuery
from tidings.pipeline.spark.session import spark_session
from tidings.pipeline.stream.staging import StagedFiles
from tidings.store import Store
from tidings.store.notifications.progress import COMPOSITES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HOLDER = "bench"
_AN_HOUR = 3600.0


def main() -> None:
    counts, events, often = chosen(500_000)
    print(f"{Machine.here()}; commit {commit()}")
    session = spark_session()
    for composites in counts:
        _run(session, composites, events, often)
    session.stop()


class Look(NamedTuple):
    """At a batch that was just stored: its last position, when, and the processor time until then."""

    done: int
    at: float
    used: dict[str, float]


def _run(session: SparkSession, composites: int, events: int, often: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "tidings.db") as store:
        fill(store, composites, events, often)
        store.take_pipeline_lease(_HOLDER, _AN_HOUR)
        staging = StagedFiles(Path(folder) / "staged")
        query = CompositeQuery(
            session, store, LATENESS / 1e6, _HOLDER, staging, lambda: f"{folder}/checkpoint", lambda: None, print
        )
        running = query.run_once()
        assert running is not None
        looks = [Look(store.committed(COMPOSITES), time.monotonic(), tree_seconds())]
        active = True
        while active:
            active, done = running.isActive, store.committed(COMPOSITES)
            if done > looks[-1].done:
                looks.append(Look(done, time.monotonic(), tree_seconds()))
            time.sleep(0.02)
        running.awaitTermination()
        own, workers = memory_of(os.getpid())
        begin = steady([one.done for one in looks], store.tail() - events, store.tail())
        first, last = looks[begin], looks[-1]
        done, seconds = last.done - first.done, last.at - first.at
        each = {kind: (last.used[kind] - first.used[kind]) / done for kind in last.used}
        before = {kind: first.used[kind] - looks[0].used[kind] for kind in last.used}
        batches = len(looks) - 1 - begin
        print(
            f"{composites:,} composites: {done:,} events in {seconds:.1f} s, {done / seconds:,.0f} events/s; "
            f"{store.last_cursor():,} detections; {1e6 * sum(each.values()):.0f} µs of processor time each "
            f"({', '.join(f'{kind} {1e6 * one:.0f}' for kind, one in each.items())}), at most "
            f"{2 / sum(each.values()):,.0f} events/s of two; {batches} batches of {done // batches:,}; before "
            f"them {first.at - looks[0].at:.0f} s with "
            f"{', '.join(f'{one:.0f} s of {kind}' for kind, one in before.items())}; memory of the driver and Java "
            f"{own / 1e6:,.0f} MB, of the workers {workers / 1e6:,.0f} MB",
            flush=True,
        )


def steady(done: Sequence[int], before: int, tail: int) -> int:
    """From which of these positions on is measured; the events follow on the position `before`."""
    for place in range(len(done) - 1):
        sizes = [last - first for first, last in pairwise(done[max(0, place - 3) : place + 1])]
        late, alike = done[place] - before, len(sizes) == 3 and max(sizes) <= 1.5 * min(sizes)
        if 2 * late >= tail - before or (5 * late >= tail - before and alike):
            return place
    return max(0, len(done) - 2)


def tree_seconds() -> dict[str, float]:
    """The processor time of this process, of Java and of the workers, which they started; on Linux."""
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    java: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            name, _, told = (folder / "stat").read_text().rpartition(")")
            fields = told.split()
            java |= {int(folder.name)} if name.endswith("(java") else set()
            parents[int(folder.name)] = int(fields[1])
            seconds[int(folder.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    family = {os.getpid()}
    while below := {one for one, parent in parents.items() if parent in family} - family:
        family |= below
    own = {os.getpid()} & seconds.keys()
    kinds = {"driver": own, "Java": family & java, "workers": family - java - own}
    return {kind: sum(seconds.get(one, 0.0) for one in some) for kind, some in kinds.items()}


if __name__ == "__main__":
    main()
