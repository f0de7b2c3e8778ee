"""How long it takes: building apart from matching, compiling apart from both, the best of three within a time limit."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from types import FrameType

import numpy as np

from tidings.bench.agreement import answers_of, built
from tidings.bench.machine import available_threads
from tidings.bench.results import Answers, Measured, Result
from tidings.errors import MatchingError, TidingsError
from tidings.events import EventBatch
from tidings.matching.algorithm import Algorithm
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.bulk import box_table
from tidings.matching.boxes.predicate_table import PredicateTable
from tidings.workloads import Workload

TRIES = 3
TURNS = 3  # batches for each number of threads (`matching.index.threads`)
MATCHES_AT_ONCE = 1 << 26  # of one batch: 256 MB of answers


class TookTooLong(TidingsError):
    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)

    def __str__(self) -> str:
        return f"not done within {self.args[0]:g} s"


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TookTooLong, as soon as a running kernel lets it. Only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise TookTooLong(seconds)

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A workload made once for all algorithms."""

    workload: Workload
    table: PredicateTable
    batch: EventBatch
    boxes: BoxTable
    boxes_s: float
    ids: list[str]

    @classmethod
    def of(cls, workload: Workload, subscriptions: int, events: int) -> Prepared:
        table, batch = workload.subscriptions(subscriptions), workload.events(events)
        box_table(table.slice(0, 100))
        started = perf_counter()
        boxes = box_table(table)
        boxes_s = perf_counter() - started
        ids = [f"s{number + 1}" for number in range(subscriptions)]
        return cls(workload, table, batch, boxes, boxes_s, ids)

    def __len__(self) -> int:
        return len(self.table)


def measure(name: str, prepared: Prepared, threads: int = 1, seconds: float = 10, build_limit: float = 60) -> Measured:
    """Build, warm up, match. What an algorithm refuses is a result too."""
    gc.collect()
    try:
        with time_limit(build_limit):
            started = perf_counter()
            matcher = built(name, prepared.workload.catalog, prepared.boxes, prepared.ids, threads)
            build_s = prepared.boxes_s + perf_counter() - started
    except (MatchingError, TookTooLong) as problem:
        return Measured(Result(name, note=f"not built: {problem}"))
    return _measured(name, matcher, prepared, build_s, seconds, 0 if threads else TURNS * available_threads())


def _measured(
    name: str, matcher: Algorithm, prepared: Prepared, build_s: float, seconds: float, before: int = 0
) -> Measured:  # fmt: skip
    """`before`: batches that are not timed, in which the matcher chooses its threads."""
    batch = prepared.batch

    def run(rows: int) -> tuple[float, int]:
        started = perf_counter()
        found = matcher.match(batch.slice(0, rows))
        return perf_counter() - started, len(found)

    rows, at_once = planned(run, len(batch), seconds)
    for _ in range(before):
        run(rows)
    best, candidates, answers = timed(matcher, batch, rows, at_once)
    matches = int(answers.counts.sum())
    stored = getattr(matcher, "bytes", None)
    result = Result(
        name,
        events_per_s=rows / best,
        matches_per_event=matches / rows,
        ns_per_match=best / matches * 1e9 if matches else None,
        build_s=build_s,
        subscriptions_per_s=len(prepared) / build_s,
        bytes_per_subscription=None if stored is None else stored / len(prepared),
        candidates_per_event=candidates / rows,
        events=rows,
        note="" if rows == len(batch) else f"on {rows:,} events",
    )
    return Measured(result, answers)


def planned(run: Callable[[int], tuple[float, int]], events: int, seconds: float, first: int = 4) -> tuple[int, int]:
    """How many events fit into the time, and how many of them at once. The first few warm up and are not timed.

    `run` takes the first so many events and says in what time it found how many matches.
    """
    run(min(first, events))
    share = seconds / (TRIES + 0.5)  # of one try; growing up to it takes a third of one
    rows = min(4 * first, events)
    spent, matches = run(rows)
    while rows < events and 4 * spent < share:
        rows = min(4 * rows, events)
        spent, matches = run(rows)
    at_once = max(1, int(MATCHES_AT_ONCE / max(1.0, matches / rows)))
    return max(1, min(events, int(rows * share / max(spent, 1e-9)))), at_once


def timed(matcher: Algorithm, batch: EventBatch, rows: int, at_once: int) -> tuple[float, int, Answers]:
    """The best time of three for the first rows, in batches; what was looked at; what was answered the last time."""
    best, candidates = float("inf"), 0
    for _ in range(TRIES):
        spent, candidates, parts = 0.0, 0, []
        for first in range(0, rows, at_once):
            part = batch.slice(first, min(first + at_once, rows))
            started = perf_counter()
            found = matcher.match(part)
            spent += perf_counter() - started
            candidates += found.cost.candidates
            parts.append(answers_of(found))
        best = min(best, spent)
    return best, candidates, joined(parts)


def joined(parts: list[Answers]) -> Answers:
    sums = [part.sums for part in parts if part.sums is not None]
    counts = np.concatenate([part.counts for part in parts])
    return Answers(counts, np.concatenate(sums) if len(sums) == len(parts) else None)
