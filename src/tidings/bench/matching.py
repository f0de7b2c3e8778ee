"""One workload, all algorithms that are asked for, and the peers: what `tidings bench matching` runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import pyarrow as pa

from tidings.bench.agreement import SMALL, check_small, compare, naive_answers
from tidings.bench.floor import floor_ns
from tidings.bench.grid import Grid, NoGrid
from tidings.bench.machine import available_threads, commit
from tidings.bench.measurement import MATCHES_AT_ONCE, Prepared, measure
from tidings.bench.peers import PEERS
from tidings.bench.peers.java import PeerFailed
from tidings.bench.peers.measurement import check_peer, measure_peer
from tidings.bench.results import Measured, Result, Run
from tidings.errors import MatchingError
from tidings.matching.algorithms import ALGORITHMS, UnknownAlgorithm
from tidings.workloads import Workload

Say = Callable[[str], None]

NAIVE = "naive"
QUICK = tuple(name for name in ALGORITHMS if name != NAIVE)


def quiet(_message: str) -> None:
    """Says nothing."""


@dataclass(frozen=True)
class Plan:
    """What to run. `seconds` is for matching, of each algorithm."""

    workload: Workload
    subscriptions: int
    events: int = 10_000
    algorithms: tuple[str, ...] = ("default",)
    peers: tuple[str, ...] = ()
    threads: int = 1  # CHOSEN: as many as the default algorithm chooses; peers get all
    seconds: float = 10.0
    build_limit: float = 60.0


def run_matching(plan: Plan, say: Say = quiet) -> Run:
    """Checks everything at small scale, measures at full scale, compares. Raises Disagreement and UnknownAlgorithm."""
    for name in plan.algorithms:
        if name not in ALGORITHMS:
            raise UnknownAlgorithm(name)
    pa.set_cpu_count(plan.threads or available_threads())
    checked = _checked(plan, say)
    say(f"making {plan.subscriptions:,} subscriptions")
    prepared = Prepared.of(plan.workload, plan.subscriptions, plan.events)
    measured = []
    for name in plan.algorithms:
        say(f"measuring {name}")
        if isinstance(checked[name], str):
            measured.append(Measured(Result(name, note=checked[name])))
            continue
        one = measure(name, prepared, plan.threads, plan.seconds, plan.build_limit)
        measured.append(Measured(replace(one.result, compile_s=checked[name]), one.answers))
    measured += _peers(plan, prepared, say)
    agree(measured)
    floor = floor_ns(_matches_at_once(measured))
    return Run(
        plan.workload.name,
        options_of(plan.workload),
        plan.subscriptions,
        plan.events,
        plan.threads,
        floor,
        tuple(_with_ratio(one.result, floor) for one in measured),
        commit=commit(),
    )


def options_of(workload: Any) -> dict[str, Any]:
    """The parameters that a workload was made with."""
    return {field.name: getattr(workload, field.name) for field in fields(workload)}


def agree(measured: Sequence[Measured]) -> None:
    """All answers at full scale are the same as the first. Raises Disagreement."""
    answered = [(one.result.algorithm, one.answers) for one in measured if one.answers is not None]
    for name, answers in answered[1:]:
        compare(name, answers, answered[0][0], answered[0][1])


def _checked(plan: Plan, say: Say) -> dict[str, Any]:
    """Everything against naive at small scale; how long each algorithm took to compile, or why it is not run."""
    say("checking against naive")
    expected = naive_answers(plan.workload.subscriptions(SMALL[0]), plan.workload.events(SMALL[1]))
    checked: dict[str, Any] = {}
    for name in plan.algorithms:
        if name == NAIVE:
            checked[name] = "only at small scale: what all others are checked against"
            continue
        try:
            checked[name] = check_small(name, plan.workload, expected)
        except MatchingError as problem:
            checked[name] = f"refused with {SMALL[0]:,} subscriptions: {problem}"
    for name in plan.peers:
        try:
            check_peer(name, plan.workload, expected)
        except (NoGrid, PeerFailed):
            continue  # said in the table
    return checked


def _peers(plan: Plan, prepared: Prepared, say: Say) -> list[Measured]:
    if not plan.peers:
        return []
    try:
        grid = Grid.of(prepared.table, prepared.batch)
    except NoGrid as problem:
        return [Measured(Result(name, "peer", note=f"cannot express it: {problem}")) for name in plan.peers]
    made = []
    for name in plan.peers:
        say(f"measuring {name}")
        made.append(
            measure_peer(name, grid, plan.threads or available_threads(), 2 * plan.seconds)
        )  # large batches suit them
    return made


def _matches_at_once(measured: Sequence[Measured]) -> int:
    """As many as the first algorithm wrote in one batch; of fewer than a million mostly the asking for memory is
    measured."""
    answers = next((one.answers for one in measured if one.answers is not None), None)
    return 1 << 20 if answers is None else max(1 << 20, min(int(answers.counts.sum()), MATCHES_AT_ONCE))


def _with_ratio(result: Result, floor: float) -> Result:
    if result.ns_per_match is None or not floor:
        return result
    return replace(result, floor_ratio=result.ns_per_match / floor)


ALL_PEERS = tuple(PEERS)
