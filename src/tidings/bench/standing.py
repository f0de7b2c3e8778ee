"""What besides matching must be quick: changes while events go on, filters added as text, plans on disk, the first use
in a new process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from tidings.bench.agreement import built
from tidings.bench.measurement import Prepared
from tidings.events import EventBatch
from tidings.language import Subscription
from tidings.matching.algorithm import Algorithm
from tidings.matching.algorithms import make_matcher
from tidings.matching.plan.folder import open_plan, save_plan
from tidings.workloads import Flights, LeSubscribe

_SINGLE = 300  # changes that are followed by one event each
_AT_ONCE = 100  # changes between batches, when they go on
_NEW_PROCESS = """
import time
started = time.perf_counter()
from tidings.bench.agreement import built
from tidings.matching.boxes.bulk import box_table
from tidings.workloads import LeSubscribe
workload = LeSubscribe()
table = workload.subscriptions(500)
built("default", workload.catalog, box_table(table), [str(i) for i in range(500)]).match(workload.events(100))
print(time.perf_counter() - started)
"""


@dataclass(frozen=True, slots=True)
class Fact:
    what: str
    value: float
    unit: str
    aim: str = ""


def standing_facts(subscriptions: int, planned: int, seconds: float = 3.0) -> list[Fact]:
    """Changes with so many standing filters, and a plan of so many."""
    workload = LeSubscribe(0.5)
    prepared = Prepared.of(workload, subscriptions, 1000)
    matcher = built("default", workload.catalog, prepared.boxes, prepared.ids)
    facts = _changes(matcher, prepared, seconds)
    del matcher, prepared
    return facts + _plan(planned) + [_first_use()]


def text_facts(filters: int, tries: int = 3) -> list[Fact]:
    """Adding filters as text: from the texts to an index that answers, best of three."""
    facts = []
    for workload in (LeSubscribe(0.5), Flights()):
        texts = list(workload.subscriptions(filters).texts())
        ids = [f"s{number}" for number in range(filters)]
        seconds = []
        for _ in range(tries):
            matcher = make_matcher("default", workload.catalog)
            started = perf_counter()
            matcher.add_texts(ids, texts)
            seconds.append(perf_counter() - started)
        what = f"{filters:,} filters are added as text, {workload.name}: best of {tries}"
        facts.append(Fact(what, filters / min(seconds), "filters/s", "at least 60,000"))
    return facts


def _changes(matcher: Algorithm, prepared: Prepared, seconds: float) -> list[Fact]:
    size, batch = len(prepared), prepared.batch
    table = prepared.workload.subscriptions(5000, start=size)
    new = [Subscription(f"new{number}", table.filter(number)) for number in range(len(table))]
    one = batch.slice(0, 1)
    matcher.match(one)
    added = _each(lambda number: matcher.add(new[number]), matcher, one)
    withdrawn = _each(lambda number: matcher.withdraw(new[number].id, 0), matcher, one)
    at = f"with {size:,} subscriptions"
    facts = [
        Fact(f"an add is seen by the next event, {at}: median", float(np.median(added)) * 1e3, "ms", "at most 5"),
        Fact(f"the same: slowest of {_SINGLE}", float(added.max()) * 1e3, "ms", "at most 5"),
        Fact("a withdrawal is seen by the next event: median", float(np.median(withdrawn)) * 1e3, "ms", "at most 5"),
        Fact(f"the same: slowest of {_SINGLE}", float(withdrawn.max()) * 1e3, "ms", "at most 5"),
    ]
    changes, events, spent = _sustained(matcher, new[_SINGLE:], batch, seconds)
    text = f"changes, {_AT_ONCE} at a time, while {events / spent:,.0f} events/s are matched"
    return [*facts, Fact(text, changes / spent, "changes/s", "at least 10,000")]


def _each(
    change: Callable[[int], object], matcher: Algorithm, one: EventBatch
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    seconds = np.empty(_SINGLE)
    for number in range(_SINGLE):
        started = perf_counter()
        change(number)
        matcher.match(one)
        seconds[number] = perf_counter() - started
    return seconds


def _sustained(
    matcher: Algorithm, new: list[Subscription], batch: EventBatch, seconds: float
) -> tuple[int, int, float]:
    """Half of the changes add, half withdraw what was added before; ten events between."""
    changes = events = 0
    ten = [batch.slice(first, first + 10) for first in range(0, 1000, 10)]
    half = _AT_ONCE // 2
    started = perf_counter()
    while perf_counter() - started < seconds:
        first = changes // 2 % (len(new) - half)
        chosen = [
            Subscription(f"{changes}-{number}", one.filter) for number, one in enumerate(new[first : first + half])
        ]
        for subscription in chosen:
            matcher.add(subscription)
        for subscription in chosen:
            matcher.withdraw(subscription.id, 1)
        matcher.match(ten[events // 10 % len(ten)])
        changes += 2 * half
        events += 10
    return changes, events, perf_counter() - started


def _plan(subscriptions: int) -> list[Fact]:
    prepared = Prepared.of(LeSubscribe(0.5), subscriptions, 1)
    matcher = built("default", prepared.workload.catalog, prepared.boxes, prepared.ids)
    with tempfile.TemporaryDirectory(prefix="tidings-plan-") as folder:
        path = Path(folder) / "plan"
        started = perf_counter()
        save_plan(matcher, path)  # type: ignore[arg-type]
        saved = perf_counter() - started
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        seconds = []
        for _ in range(3):
            started = perf_counter()
            open_plan(path)
            seconds.append(perf_counter() - started)
    of = f"of {subscriptions:,} subscriptions"
    return [
        Fact(f"a plan {of} is saved", saved, "s"),
        Fact("its files, a subscription (ids among them)", size / subscriptions, "bytes"),
        Fact(f"a plan {of} is opened: best of 3", min(seconds) * 1e3, "ms", "under 50"),
    ]


def _first_use() -> Fact:
    """Twice, since the first may compile; the second has what was compiled."""
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", _NEW_PROCESS], capture_output=True, text=True, check=True)
    return Fact("a new process imports, loads compiled kernels and matches", float(done.stdout), "s", "under 3")
