"""Every number of a benchmark is worth as much as its answers: all of them are compared before anything is reported."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from tidings.bench.results import Answers
from tidings.errors import TidingsError
from tidings.events import EventBatch
from tidings.language import Subscription
from tidings.matching.algorithm import Algorithm, Matches
from tidings.matching.algorithms import make_matcher
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.bulk import box_table
from tidings.matching.boxes.predicate_table import PredicateTable
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.schema.catalog import Catalog
from tidings.workloads import Workload

SMALL = (500, 200)  # filters and events that are tried by the naive algorithm too


class Disagreement(TidingsError):
    """Two algorithms gave different answers: one of them is wrong, and so is every number about it."""

    def __init__(self, algorithm: str, reference: str, event: int, found: int, expected: int) -> None:
        super().__init__(algorithm, reference, event, found, expected)

    def __str__(self) -> str:
        algorithm, reference, event, found, expected = self.args
        said = f"{found:,} matches and {reference} {expected:,}"
        if found == expected:
            said = f"{found:,} matches, as many as {reference}, but not the same"
        return f"{algorithm} disagrees on event {event}: {said}; nothing is reported"


class NoBulkLoading(TidingsError):
    def __init__(self, algorithm: str) -> None:
        super().__init__(algorithm)

    def __str__(self) -> str:
        return f"{self.args[0]} cannot load arrays of boxes; it takes filters one by one"


def answers_of(matches: Matches) -> Answers:
    """Sums tell sets of equal size apart, nearly always, and need no sorting."""
    sums = np.concatenate([[0], np.cumsum(matches.numbers, dtype=np.int64)])
    return Answers(np.diff(matches.offsets), np.diff(sums[matches.offsets]))


def compare(algorithm: str, found: Answers, reference: str, expected: Answers) -> None:
    """On the events that both were asked. Raises Disagreement."""
    events = min(len(found), len(expected))
    wrong = found.counts[:events] != expected.counts[:events]
    if found.sums is not None and expected.sums is not None:
        wrong = wrong | (found.sums[:events] != expected.sums[:events])
    if wrong.any():
        event = int(np.argmax(wrong))
        raise Disagreement(algorithm, reference, event, int(found.counts[event]), int(expected.counts[event]))


def naive_answers(table: PredicateTable, batch: EventBatch) -> Answers:
    """By the specification, filter by filter."""
    matcher = make_matcher("naive", table.catalog)
    for number in range(len(table)):
        matcher.add(Subscription(f"s{number + 1}", table.filter(number)))
    return answers_of(matcher.match(batch))


def built(name: str, catalog: Catalog, boxes: BoxTable, ids: list[str], threads: int = 1) -> Algorithm:
    """The algorithm with all boxes loaded."""
    # A benchmark says how many threads there are; with 0, the default algorithm chooses for itself.
    matcher = BoxMatcher(catalog, threads or None) if name == BoxMatcher.name else make_matcher(name, catalog)
    if not hasattr(matcher, "load"):
        raise NoBulkLoading(name)
    matcher.load(boxes, ids)
    return matcher


def check_small(name: str, workload: Workload, expected: Answers | None = None) -> float:
    """Against naive on a few filters and events. Returns the seconds spent on compiling, or on loading what was
    compiled: by so much the first try takes longer than the second."""
    table, batch = workload.subscriptions(SMALL[0]), workload.events(SMALL[1])
    boxes, ids = box_table(table), [f"s{number + 1}" for number in range(len(table))]
    seconds = []
    for _ in range(2):
        started = perf_counter()
        found = answers_of(built(name, workload.catalog, boxes, ids).match(batch))
        seconds.append(perf_counter() - started)
    compare(name, found, "naive", expected or naive_answers(table, batch))
    return max(0.0, seconds[0] - seconds[1])
