"""How long from an acknowledged publish to a stored notification, and how memory behaves over a long run.

Three processes: the pipeline as its command starts it, a publisher that keeps a steady rate and notes when each event
was acknowledged, and this one, which polls the store like any reader and notes when each event's first notification
could be read. Clocks are the machine's own, so all is on one machine."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from glob import glob
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from tidings.errors import TidingsError
from tidings.schema.growth import changes_to_make
from tidings.store import Grow, Publish, Store, Subscribe
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


@dataclass(frozen=True, slots=True)
class StreamResult:
    plan: StreamPlan
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
            "events_per_s": round(self.events / self.seconds, 1),
            "events": self.events,
            "notifications": self.notifications,
            "matches_per_event": round(self.matches_per_event, 2),
            **seconds,
        }


def run_stream(plan: StreamPlan, folder: Path, tell: Callable[[str], None]) -> StreamResult:
    """The folder must be empty; everything that is made stays in it."""
    url = plan.store or str(folder / "tidings.db")
    with Store.open(url) as store:
        tell("filling the journal with subscriptions")
        fill(store, plan.subscriptions)
        command = [sys.executable, "-m", "tidings.cli.main", "pipeline", "--data", str(folder), "--master", plan.master]
        with open(folder / "pipeline.log", "wb") as log:
            process = subprocess.Popen(
                [*command, "--json", *(["--store", plan.store] if plan.store else [])], stdout=log, stderr=log
            )
        try:
            tell("starting the pipeline")
            publish(store, 0, _WARM_UP)
            _until_done(store, process, folder)
            tell(f"publishing {plan.events:,} events")
            return _measure(plan, store, url, process, folder)
        finally:
            process.terminate()
            process.wait(60)


def fill(store: Store, subscriptions: int) -> None:
    """The flights' schema and so many of their filters."""
    workload = Flights()
    store.append([Grow(change) for change in changes_to_make(workload.catalog)])
    for start in range(0, subscriptions, _AT_ONCE):
        texts = workload.subscriptions(min(_AT_ONCE, subscriptions - start), start).printed().to_pylist()
        store.append([Subscribe(f"s{start + place + 1}", text) for place, text in enumerate(texts)])


def publish(store: Store, start: int, count: int) -> None:
    for at in range(start, start + count, _AT_ONCE):
        store.append([Publish(raw) for raw in raw_events(Flights(), min(_AT_ONCE, start + count - at), at)])


def _measure(plan: StreamPlan, store: Store, url: str, process: Any, folder: Path) -> StreamResult:
    first = store.tail() + 1
    total = plan.events
    context = multiprocessing.get_context("spawn")
    acknowledged = context.SimpleQueue()
    publisher = context.Process(target=_keep_publishing, args=(url, plan.rate, total, acknowledged))
    seen: dict[int, float] = {}
    memory: list[tuple[float, int, int]] = []
    cursor = _last_cursor(store)
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
            memory.append((now - begun, *_memory_of(process.pid)))
            next_look = now + 1
        if process.poll() is not None:
            raise PipelineEnded((folder / "pipeline.log").read_text()[-2000:])
        time.sleep(0.005)
    publisher.join()
    elapsed = time.time() - begun
    delays = np.array([seen[position] - times[position - first] for position in seen if position >= first])
    p50, p90, p99 = np.percentile(delays, [50, 90, 99]) if len(delays) else (0.0, 0.0, 0.0)
    return StreamResult(
        plan, total, notifications, notifications / total, float(p50), float(p90), float(p99),
        float(delays.max(initial=0.0)), elapsed, tuple(memory),
    )  # fmt: skip


def _keep_publishing(url: str, rate: int, total: int, acknowledged: Any) -> None:
    """In its own process: so many events at every tick, and when each was acknowledged."""
    raw = raw_events(Flights(), total, _WARM_UP)
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


def _last_cursor(store: Store) -> int:
    cursor = 0
    while page := store.notifications(after=cursor, limit=_PAGE):
        cursor = page[-1].cursor
    return cursor


def _memory_of(driver: int) -> tuple[int, int]:
    """Bytes that the driver and its Java hold, and those that the Python workers below them do; pages of plans that
    several share
    count as shares."""
    own = workers = 0
    for pid, depth in _family(driver, 0):
        held = _proportional(pid)
        if depth <= 1:
            own += held
        else:
            workers += held
    return own, workers


def _family(pid: int, depth: int) -> list[tuple[int, int]]:
    found = [(pid, depth)]
    for child in _children(pid):
        found += _family(child, depth + 1)
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    for task in glob(f"/proc/{pid}/task/*/children"):
        with suppress(OSError):  # the thread ended between two looks
            children += map(int, Path(task).read_text().split())
    return children


def _proportional(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0  # it ended between two looks
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
