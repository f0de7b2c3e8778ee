"""How quickly the pipeline works off a backlog, and how long an event takes from its acknowledgement to a stored
notification.

Three processes: the pipeline as its command starts it, a publisher that keeps a steady rate and notes when each event
was acknowledged, and this one, which polls the store like any reader and notes when each event's first notification
could be read. Clocks are the machine's own, so all is on one machine. `scripts/compare-stream` runs this module with
the code of older commits too: it uses only what the store has long had."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from tidings.bench.process_memory import memory_of
from tidings.errors import TidingsError
from tidings.schema.growth import changes_to_make
from tidings.store import Grow, Publish, SetQuota, Store, Subscribe
from tidings.workloads import Flights
from tidings.workloads.files import raw_events

_AT_ONCE = 10_000
_PAGE = 100_000
_TICK = 0.01  # seconds between two publishes: single requests of a busy gateway, committed as groups
_MOST_AHEAD = 60_000  # events that a publisher without a rate may be ahead of the pipeline
_WARM_UP = 3_000  # events before the clock runs: compiled kernels are loaded, Java is warm


class PipelineEnded(TidingsError):
    """The pipeline that was measured ended by itself: what it said last."""

    def __init__(self, said: str) -> None:
        super().__init__(said)

    def __str__(self) -> str:
        return f"the pipeline ended while it was measured: {self.args[0]}"


@dataclass(frozen=True, slots=True)
class StreamPlan:
    subscriptions: int = 100_000
    rate: int = 1_000  # events a second; 0: as many as the pipeline takes
    events: int = 60_000
    store: str = ""
    master: str = "local[2]"
    backlog: int = 0  # events that appear in the journal at once, before the steady rate
    owners: int = 0  # accounts that own the subscriptions; 0: nobody does, as for direct users of the library


@dataclass(frozen=True, slots=True)
class StreamResult:
    plan: StreamPlan
    starting: float  # seconds from the start of the process until its first events were stored
    backlog_seconds: float  # until all of the backlog was stored
    events: int
    notifications: int
    matches_per_event: float
    p50: float
    p90: float
    p99: float
    slowest: float
    seconds: float  # until all was stored
    memory: tuple[
        tuple[float, int, int], ...
    ]  # seconds, bytes of the driver with its Java, bytes of the Python workers

    def as_json(self) -> dict[str, Any]:
        seconds = {name: round(getattr(self, name), 4) for name in ("p50", "p90", "p99", "slowest")}
        return {
            "subscriptions": self.plan.subscriptions,
            "owners": self.plan.owners,
            "starting_s": round(self.starting, 1),
            **self._backlog(),
            "events_per_s": round(self.events / self.seconds, 1),
            "events": self.events,
            "notifications": self.notifications,
            "matches_per_event": round(self.matches_per_event, 2),
            **seconds,
        }

    def _backlog(self) -> dict[str, Any]:
        if not self.plan.backlog:
            return {}
        rate = round(self.plan.backlog / self.backlog_seconds)
        return {"backlog": self.plan.backlog, "backlog_s": round(self.backlog_seconds, 2), "backlog_events_per_s": rate}


def run_stream(plan: StreamPlan, folder: Path, tell: Callable[[str], None]) -> StreamResult:
    """The folder must be empty; everything that is made stays in it."""
    url = plan.store or str(folder / "tidings.db")
    with Store.open(url) as store:
        tell("filling the journal with subscriptions")
        fill(store, plan.subscriptions, plan.owners)
        command = [sys.executable, "-m", "tidings.cli.main", "pipeline", "--data", str(folder), "--master", plan.master]
        with open(folder / "pipeline.log", "wb") as log:
            process = subprocess.Popen(
                [*command, "--json", *(["--store", plan.store] if plan.store else [])], stdout=log, stderr=log
            )
        try:
            tell("starting the pipeline")
            begun = time.monotonic()
            publish(store, 0, _WARM_UP)
            _until_done(store, process, folder)
            starting = time.monotonic() - begun
            published, backlog_seconds = _WARM_UP, 0.0
            if plan.backlog:
                tell(f"working off {plan.backlog:,} events")
                for count in (plan.backlog // 4, plan.backlog):  # the first lets batches grow; the second is measured
                    backlog_seconds = _work_off(store, published, count, process, folder)
                    published += count
            tell(f"publishing {plan.events:,} events")
            return _measure(plan, store, url, process, folder, published, starting, backlog_seconds)
        finally:
            process.terminate()
            process.wait(60)


def fill(store: Store, subscriptions: int, owners: int = 0) -> None:
    """The flights' schema and their first filters, which accounts own in turns. Their matches are counted, but no quota
    drops any."""
    workload = Flights()
    store.append([Grow(change) for change in changes_to_make(workload.catalog)])
    if owners:
        store.append([SetQuota(0)])
    for start in range(0, subscriptions, _AT_ONCE):
        texts = workload.subscriptions(min(_AT_ONCE, subscriptions - start), start).printed().to_pylist()
        numbered = enumerate(texts, start)
        owned = ((number, text, f"owner{number % owners}" if owners else "") for number, text in numbered)
        store.append([Subscribe(f"s{number + 1}", text, owner) for number, text, owner in owned])


def publish(store: Store, start: int, count: int) -> None:
    for at in range(start, start + count, _AT_ONCE):
        store.append([Publish(raw) for raw in raw_events(Flights(), min(_AT_ONCE, start + count - at), at)])


def _work_off(store: Store, start: int, count: int, process: Any, folder: Path) -> float:
    """Seconds from the moment that all of the events lie in the journal until all their notifications are stored. One
    transaction appends them, so the pipeline sees none before."""
    drafts = [Publish(raw) for raw in raw_events(Flights(), count, start)]
    store.append(drafts)
    begun = time.monotonic()
    _until_done(store, process, folder)
    return time.monotonic() - begun


def _measure(
    plan: StreamPlan, store: Store, url: str, process: Any, folder: Path, published: int, starting: float,
    backlog_seconds: float,
) -> StreamResult:  # fmt: skip
    first = store.tail() + 1
    total = plan.events
    context = multiprocessing.get_context("spawn")
    acknowledged = context.SimpleQueue()
    publisher = context.Process(target=_keep_publishing, args=(url, plan.rate, published, total, acknowledged))
    seen: dict[int, float] = {}
    memory: list[tuple[float, int, int]] = []
    cursor = store.last_cursor()
    begun = next_look = time.time()
    publisher.start()
    notifications = 0
    times: Any = None
    done = False
    while not done:
        done = not publisher.is_alive() and store.committed() == store.tail()  # then this look is the last
        if times is None and not acknowledged.empty():
            times = acknowledged.get()  # before the publisher ends: a full pipe would keep it
        page = store.notifications(after=cursor, limit=_PAGE)
        done = done and len(page) < _PAGE
        now = time.time()
        for one in page:
            seen.setdefault(one.position, now)
        if page:
            cursor, notifications = page[-1].cursor, notifications + len(page)
        if now > next_look:
            memory.append((now - begun, *memory_of(process.pid)))
            next_look = now + 1
        if process.poll() is not None:
            raise PipelineEnded((folder / "pipeline.log").read_text()[-2000:])
        time.sleep(0.005)
    publisher.join()
    elapsed = time.time() - begun
    delays = np.array([seen[position] - times[position - first] for position in seen if position >= first])
    p50, p90, p99 = np.percentile(delays, [50, 90, 99]) if len(delays) else (0.0, 0.0, 0.0)
    return StreamResult(
        plan, starting, backlog_seconds, total, notifications, notifications / total,
        float(p50), float(p90), float(p99), float(delays.max(initial=0.0)), elapsed, tuple(memory),
    )  # fmt: skip


def _keep_publishing(url: str, rate: int, start: int, total: int, acknowledged: Any) -> None:
    """In its own process: publishes what is due at every tick, and notes when it was acknowledged."""
    raw = raw_events(Flights(), total, start)
    times = np.zeros(total)
    with Store.open(url) as store:
        begun, done = time.time(), 0
        while done < total:
            if rate:
                due = min(total, int((time.time() - begun) * rate) + 1)
            else:
                room = _MOST_AHEAD - (store.tail() - store.committed())
                due = min(total, done + max(0, min(room, _AT_ONCE)))
            if due > done:
                store.append([Publish(one) for one in islice(raw, due - done)])
                times[done:due] = time.time()
                done = due
            time.sleep(_TICK)
    acknowledged.put(times)


def _until_done(store: Store, process: Any, folder: Path, seconds: float = 600) -> None:
    deadline = time.monotonic() + seconds
    while store.committed() < store.tail():
        if process.poll() is not None or time.monotonic() > deadline:
            raise PipelineEnded((folder / "pipeline.log").read_text()[-2000:])
        time.sleep(0.05)
