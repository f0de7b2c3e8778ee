"""`python -m tidings.bench.adding [COUNT]`: filters a second that a matcher takes as text, in bulk and parsed one by
one, in turns."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from tidings.bench.machine import Machine, commit
from tidings.language import Filter, Subscription
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.workloads import Flights, LeSubscribe, Thesis, Workload

_TRIES = 3


@dataclass(frozen=True, slots=True)
class Added:
    """Filters a second, the best of some tries. `in_bulk` is `add_texts`, `parsed` is `Filter.parse` and `add_many`."""

    workload: str
    filters: int
    in_bulk: float
    parsed: float


def adding(workload: Workload, filters: int, tries: int = _TRIES) -> Added:
    """Both ways in turns, each into an empty matcher, whose kernels are not needed yet. What a report shows is
    `in_bulk`."""
    texts = list(workload.subscriptions(filters).texts())
    ids = [f"s{number}" for number in range(filters)]

    def in_bulk() -> None:
        BoxMatcher(workload.catalog).add_texts(ids, texts)

    def parsed() -> None:
        each = zip(ids, texts, strict=True)
        BoxMatcher(workload.catalog).add_many(
            (Subscription(id, Filter.parse(text, workload.catalog)), 0) for id, text in each
        )

    seconds = [(_seconds(in_bulk), _seconds(parsed)) for _ in range(tries)]
    bulk, one_by_one = (filters / min(some) for some in zip(*seconds, strict=True))
    return Added(str(workload), filters, bulk, one_by_one)


def _seconds(action: Callable[[], None]) -> float:
    gc.collect()
    begun = perf_counter()
    action()
    return perf_counter() - begun


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print(f"{Machine.here()}; commit {commit()}")
    for workload in (LeSubscribe(0.0), LeSubscribe(0.5), Flights(), Thesis()):
        found = adding(workload, count)
        print(
            f"{found.workload}: {found.in_bulk:,.0f} filters/s as text, {found.parsed:,.0f} parsed one by one: "
            f"{found.in_bulk / found.parsed:.1f} times"
        )


if __name__ == "__main__":
    main()
