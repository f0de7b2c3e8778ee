"""`python -m tidings.bench.compared [COUNT [SECONDS]]`: rates of the default algorithm by which two versions are
compared, as JSON; `scripts/compare-matching` runs it with both in turns.

It uses only what older versions have, too."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import process_time

import msgspec

from tidings.events import write_event
from tidings.matching.boxes.bulk import box_table
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.workloads import Flights, LeSubscribe, Thesis, Workload

_EVENTS = 2_000
_MOST_TRIES = 50


def compared(count: int, seconds: float, clock: Callable[[], float] = process_time) -> dict[str, float]:
    """Events a second in batches and one per call, and filters a second that are indexed."""
    found: dict[str, float] = {}
    for name, workload in (("le-subscribe, p = 0.5", LeSubscribe(0.5)), ("thesis", Thesis()), ("flights", Flights())):
        found |= {f"{name}: {figure}": rate for figure, rate in _rates(workload, count, seconds, clock).items()}
    return found


def _rates(workload: Workload, count: int, seconds: float, clock: Callable[[], float]) -> dict[str, float]:
    table, batch = box_table(workload.subscriptions(count)), workload.events(_EVENTS)
    ids = [f"s{number}" for number in range(count)]
    texts = [msgspec.json.encode(write_event(event)) for event in batch]
    matchers: list[BoxMatcher] = []

    def build() -> None:
        matchers[:] = [BoxMatcher(workload.catalog, threads=1)]
        matchers[0].load(table, ids)

    build()
    (matcher,) = matchers
    matcher.match(batch)  # kernels are compiled, and memory is there
    matcher.match_one(texts[0])

    def one_by_one() -> None:
        for text in texts:
            matcher.match_one(text)

    return {
        "events/s": _EVENTS / _least(lambda: matcher.match(batch), seconds, clock),
        "events/s, one per call": _EVENTS / _least(one_by_one, seconds, clock),
        "filters/s indexed": count / _least(build, seconds, clock),
    }


def _least(action: Callable[[], object], seconds: float, clock: Callable[[], float]) -> float:
    """Seconds of processor time, the least of as many tries as that time allows."""
    times: list[float] = []
    while not times or (sum(times) < seconds and len(times) < _MOST_TRIES):
        started = clock()
        action()
        times.append(clock() - started)
    return min(times)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print(json.dumps(compared(count, float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)))


if __name__ == "__main__":
    main()
