"""A peer's result: measured as the algorithms are, and its counts compared with theirs."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from tidings.bench.agreement import SMALL, compare
from tidings.bench.grid import Grid
from tidings.bench.measurement import TRIES, TookTooLong, planned, time_limit
from tidings.bench.peers import Peer, make_peer
from tidings.bench.peers.java import PeerFailed
from tidings.bench.peers.numpy_scan import NumpyScan
from tidings.bench.results import Answers, Measured, Result
from tidings.workloads import Workload


def check_peer(name: str, workload: Workload, expected: Answers) -> None:
    """Against naive on a few filters and events. Raises Disagreement."""
    grid = Grid.of(workload.subscriptions(SMALL[0]), workload.events(SMALL[1]))
    peer = make_peer(name)
    if peer.unavailable() or peer.unable(grid):
        return
    try:
        peer.load(grid)
        compare(name, Answers(peer.counts(0, SMALL[1])), "naive", expected)
    finally:
        peer.close()


def measure_peer(name: str, grid: Grid, threads: int = 1, seconds: float = 10, limit: float = 90) -> Measured:
    """What it cannot do, or how fast it does it: the best of three within the time."""
    peer = make_peer(name, threads)
    if reason := peer.unavailable() or peer.unable(grid):
        return Measured(Result(name, "peer", note=reason))
    few = grid if peer.most is None or peer.most >= grid.subscriptions else grid.first(peer.most)
    try:
        with time_limit(limit):
            return _measured(peer, few, grid, seconds)
    except (TookTooLong, PeerFailed) as problem:
        return Measured(Result(name, "peer", note=f"{peer.what}: {problem}"))
    finally:
        peer.close()


def _measured(peer: Peer, few: Grid, grid: Grid, seconds: float) -> Measured:
    started = perf_counter()
    peer.load(few)
    build_s = perf_counter() - started
    events = grid.events.shape[1]

    def run(rows: int) -> tuple[float, int]:
        started = perf_counter()
        counts = peer.counts(0, rows)
        return perf_counter() - started, int(counts.sum())

    rows, at_once = planned(run, events, seconds, first=1)
    best = float("inf")
    for _ in range(TRIES):
        parts, spent = [], 0.0
        for first in range(0, rows, at_once):
            started = perf_counter()
            parts.append(peer.counts(first, min(first + at_once, rows)))
            spent += perf_counter() - started
        best = min(best, spent)
    answers = Answers(np.concatenate(parts))
    matches = int(answers.counts.sum())
    notes = [peer.what] + ([f"on {rows:,} events"] if rows < events else [])
    share = few.subscriptions / grid.subscriptions if peer.extrapolated else 1.0
    if few.subscriptions < grid.subscriptions:
        _check_few(peer, few, answers)
        notes.append(f"only {few.subscriptions:,} subscriptions" + (", extrapolated" if peer.extrapolated else ""))
    result = Result(
        peer.name, "peer", events_per_s=rows / best * share, matches_per_event=matches / rows / share,
        ns_per_match=best / matches * 1e9 if matches else None, build_s=build_s / share,
        subscriptions_per_s=few.subscriptions / build_s if build_s > 1e-3 else None, events=rows,
        note="; ".join(notes),
    )  # fmt: skip
    return Measured(result, answers if few is grid else None)


def _check_few(peer: Peer, few: Grid, answers: Answers) -> None:
    """A peer that had only some of the filters is compared with a scan of these."""
    scan = NumpyScan(1)
    scan.load(few)
    compare(peer.name, answers, scan.name, Answers(scan.counts(0, len(answers))))
