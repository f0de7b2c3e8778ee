"""Batch matching on Spark beside one thread of the local engine: the same Parquet file, the same plan, in one run.

In each round one thread matches events that are in memory, then reads the file and matches, and then Spark does,
warm; so whatever else the machine is busy with weighs on all three. Processor time is told beside the clock's: it
shows what Spark adds even where others take a part of the machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions

import tidings.spark
from tidings.bench.agreement import Disagreement, check_small
from tidings.bench.machine import Machine, commit
from tidings.events import EventBatch, read_events
from tidings.matching.boxes.bulk import box_table
from tidings.matching.boxes.predicate_table import PredicateTable
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.plan.folder import open_plan, save_plan
from tidings.pipeline.spark.session import ROWS_PER_BATCH, spark_session
from tidings.workloads.files import write_events
from tidings.workloads.flights import ATTRIBUTES, Flights

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

AIM = 0.6  # of as many local engines as Spark has cores
_CHECKED = 2_000  # events whose matches are compared one by one
_PARTITIONS = 8
_AT_ONCE = 1 << 16  # events that are made and written at once


@dataclass(frozen=True, slots=True)
class SparkPlan:
    subscriptions: int = 1_000_000
    events: int = 1_000_000
    master: str = "local[2]"
    rounds: int = 3
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Rates:
    """Of each round: events a second by the clock, and a processor's microseconds an event."""

    clock: tuple[float, ...]
    processor: tuple[float, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "events_per_s": round(median(self.clock)),
            "best": round(max(self.clock)),
            "rounds": [round(rate) for rate in self.clock],
            "processor_us_per_event": round(median(self.processor), 2),
        }


@dataclass(frozen=True, slots=True)
class SparkResult:
    plan: SparkPlan
    cores: int
    matches: int
    matching: Rates  # one thread, events in memory
    reading: Rates  # one thread, the file read too
    spark: Rates

    def share(self, local: Rates) -> float:
        """Spark's rate as a share of that of as many local engines as it has cores, round by round: the median."""
        return median(mine / (self.cores * one) for mine, one in zip(self.spark.clock, local.clock, strict=True))

    def processor_share(self, local: Rates) -> float:
        """The same by processor time: what the share is where Spark has all cores for itself."""
        return median(one / mine for mine, one in zip(self.spark.processor, local.processor, strict=True))

    def as_json(self) -> dict[str, Any]:
        parts = {"local_matching": self.matching, "local_reading_and_matching": self.reading}
        return {
            "subscriptions": self.plan.subscriptions,
            "events": self.plan.events,
            "matches_per_event": round(self.matches / self.plan.events, 2),
            "master": self.plan.master,
            "cores": self.cores,
            **{name: rates.as_json() for name, rates in parts.items()},
            "spark": self.spark.as_json(),
            "aim": AIM,
            "share_of": {name: round(self.share(rates), 3) for name, rates in parts.items()},
            "share_of_by_processor": {name: round(self.processor_share(rates), 3) for name, rates in parts.items()},
            "machine": Machine.here().as_json(),
            "commit": commit(),
        }


def run_spark(plan: SparkPlan, folder: Path, tell: Callable[[str], None] = lambda _: None) -> SparkResult:
    """Makes its files in the folder. Raises Disagreement."""
    workload = Flights(seed=plan.seed)
    tell("checking against naive")
    check_small("default", workload)
    tell(f"making {plan.subscriptions:,} subscriptions and {plan.events:,} events")
    table = selective(workload, plan.subscriptions)
    matcher = BoxMatcher(workload.catalog)
    matcher.load(box_table(table), [f"s{number + 1}" for number in range(len(table))])
    save_plan(matcher, folder / "plan")
    del matcher, table
    parts = [(at, min(_AT_ONCE, plan.events - at)) for at in range(0, plan.events, _AT_ONCE)]
    file = folder / "events.parquet"
    write_events((workload.events(n, at) for at, n in parts), workload.catalog, file)
    engine = open_plan(folder / "plan", threads=1)
    batch = workload.events(plan.events)
    # By default Spark cuts such a file in two parts of 3 : 2, and half of the time one core would wait for the other.
    parts_of = {"spark.sql.files.maxPartitionBytes": str(max(1 << 20, file.stat().st_size // _PARTITIONS))}
    session = spark_session(plan.master, "tidings bench spark", parts_of)
    cores = session.sparkContext.defaultParallelism
    frame = session.read.parquet(str(file))
    tell("warming up")
    _check(frame, folder / "plan", engine, batch)
    matches = tidings.spark.match(frame, folder / "plan", workload.catalog)
    for _ in range(2):  # Java compiles what it has run a while
        _write_nowhere(matches)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    measured: dict[str, list[tuple[float, float]]] = {"matching": [], "reading": [], "spark": []}
    found = 0
    for number in range(plan.rounds):
        tell(f"round {number + 1} of {plan.rounds}")
        measured["matching"].append(_timed(lambda: _match(engine, batch), process_time))
        measured["reading"].append(_timed(lambda: _read(engine, file), process_time))
        measured["spark"].append(_timed(lambda: _write_nowhere(matches), processor_time))
    found = _match(engine, batch)
    if (theirs := matches.count()) != found:
        raise Disagreement("spark", "the local engine", 0, theirs, found)
    rates = {name: _rates(rounds, plan.events) for name, rounds in measured.items()}
    return SparkResult(plan, cores, found, rates["matching"], rates["reading"], rates["spark"])


def selective(workload: Flights, count: int) -> PredicateTable:
    """So many of the workload's filters that ask for a plane or a flight by number and not for a range of distances,
    which says little beyond the destination: a million of them give about five matches an event."""
    chosen: list[Any] = []
    start = found = 0
    while found < count:
        table = workload.subscriptions(2 * count, start)
        owners = np.repeat(np.arange(len(table)), np.diff(table.offsets))
        asks = {name: np.zeros(len(table), bool) for name in ("tailnum", "flight", "distance")}
        for name, mask in asks.items():
            mask[owners[table.attribute == ATTRIBUTES.index(name)]] = True
        places = np.flatnonzero((asks["tailnum"] | asks["flight"]) & ~asks["distance"])
        chosen.append(places + start)
        found, start = found + len(places), start + len(table)
    return workload.subscriptions(start).take(np.concatenate(chosen)[:count])


def processor_time() -> float:
    """Seconds that Java and its Python workers, begun by this process, have computed. Of others nothing is known."""
    children: dict[int, list[tuple[int, float]]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            ticks = sum(int(field) for field in fields[11:15])
            children.setdefault(int(fields[1]), []).append((int(entry.name), ticks / os.sysconf("SC_CLK_TCK")))
    total, waiting = 0.0, [os.getpid()]
    for process in waiting:  # which grows while it is walked
        for child, seconds in children.get(process, []):
            total += seconds
            waiting.append(child)
    return total


def _check(frame: DataFrame, plan: Path, engine: BoxMatcher, batch: EventBatch) -> None:
    """The first events one by one."""
    first = batch.slice(0, min(_CHECKED, len(batch)))
    matches = engine.match(first)
    ids = first.ids.take(pa.array(matches.events())).to_pylist()
    expected = set(zip(ids, engine.spans.ids_of(matches.numbers).to_pylist(), strict=True))
    few = frame.where(functions.expr("cast(substring(id, 2) as long)") <= _CHECKED)
    rows = tidings.spark.match(few, plan, engine.catalog).collect()
    if {(row.event, row.subscription) for row in rows} != expected:
        raise Disagreement("spark", "the local engine", 0, len(rows), len(expected))


def _match(engine: BoxMatcher, batch: EventBatch) -> int:
    rows = ROWS_PER_BATCH
    return sum(len(engine.match(batch.slice(at, min(at + rows, len(batch))))) for at in range(0, len(batch), rows))


def _read(engine: BoxMatcher, file: Path) -> int:
    return sum(len(engine.match(reading.batch)) for reading in read_events(file, engine.catalog))


def _write_nowhere(frame: DataFrame) -> None:
    """All rows are made and given to a sink that drops them."""
    frame.write.format("noop").mode("overwrite").save()


def _timed(work: Callable[[], object], processor: Callable[[], float]) -> tuple[float, float]:
    before, started = processor(), perf_counter()
    work()
    return perf_counter() - started, processor() - before


def _rates(rounds: list[tuple[float, float]], events: int) -> Rates:
    return Rates(tuple(events / clock for clock, _ in rounds), tuple(spent / events * 1e6 for _, spent in rounds))
