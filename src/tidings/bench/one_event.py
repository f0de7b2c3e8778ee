"""One event per call: `match_one` beside libraries that are made for it, in alternating rounds of one run.

Everybody gets the same JSON, one event after the other, and every count is compared."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import msgspec
import numpy as np

from tidings.bench.agreement import SMALL, built, compare, naive_answers
from tidings.bench.machine import Machine, commit
from tidings.bench.matching import Say, options_of, quiet
from tidings.bench.measurement import Prepared, TookTooLong
from tidings.bench.peers.java import PeerFailed
from tidings.bench.peers.programs import PROGRAMS, Program, Round, unable, write_workload
from tidings.bench.results import Answers
from tidings.bench.table import number
from tidings.events import write_event
from tidings.matching.algorithm import Algorithm
from tidings.workloads import LeSubscribe, Workload

OURS, FROM_DICT, IN_BATCHES = "match_one, JSON", "match_one, dict", "match, one batch"
HEADER = ("one event per call", "events/s", "best", "Tidings is", "build s", "note")

Ask = Callable[[int, float], Round]


@dataclass(frozen=True)
class OnePlan:
    """What to run; a round lasts at most `seconds` for each."""

    workload: Workload = field(default_factory=lambda: LeSubscribe(1.0))
    subscriptions: int = 100_000
    events: int = 2_000
    peers: tuple[str, ...] = tuple(PROGRAMS)
    rounds: int = 7
    seconds: float = 1.0
    build_limit: float = 90.0


@dataclass(frozen=True, slots=True)
class OneResult:
    """Rates of the rounds, events/s; none where `note` says why."""

    name: str
    rates: tuple[float, ...] = ()
    build_s: float | None = None
    note: str = ""

    @property
    def rate(self) -> float | None:
        return median(self.rates) if self.rates else None


@dataclass(frozen=True, slots=True)
class OneRun:
    workload: str
    options: dict[str, Any]
    subscriptions: int
    events: int
    matches_per_event: float
    results: tuple[OneResult, ...]
    machine: Machine = field(default_factory=Machine.here)
    commit: str = "unknown"

    @property
    def title(self) -> str:
        options = ", ".join(f"{name} {value}" for name, value in self.options.items())
        size = f"{self.subscriptions:,} subscriptions, {number(self.matches_per_event)} matches an event"
        return f"{self.workload} ({options}): {size}"

    def result(self, name: str) -> OneResult | None:
        return next((one for one in self.results if one.name == name), None)

    def ratio(self, one: OneResult) -> float | None:
        """How many times its rate `match_one` from JSON has: the median over rounds, which noise hits alike."""
        mine = self.result(OURS)
        if mine is None or not one.rates:
            return None
        return median(a / b for a, b in zip(mine.rates, one.rates, strict=True))

    def rows(self) -> list[tuple[str, ...]]:
        return [
            (one.name, number(one.rate), number(max(one.rates, default=None)), _times(self.ratio(one)),
             number(one.build_s), one.note)
            for one in self.results
        ]  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "results": [asdict(one) for one in self.results]}


def run_one_event(plan: OnePlan, say: Say = quiet) -> OneRun:
    """Raises Disagreement."""
    say("checking against naive")
    _check_small(plan.workload)
    say(f"making {plan.subscriptions:,} subscriptions")
    prepared = Prepared.of(plan.workload, plan.subscriptions, plan.events)
    events = list(prepared.batch)
    raws = [write_event(event) for event in events]
    texts = [msgspec.json.encode(raw) for raw in raws]
    started = perf_counter()
    matcher = built("default", plan.workload.catalog, prepared.boxes, prepared.ids)
    build_s = prepared.boxes_s + perf_counter() - started
    expected = Answers(np.diff(matcher.match(prepared.batch).offsets))
    asked: dict[str, Ask] = {
        OURS: _single(matcher, texts),
        FROM_DICT: _single(matcher, raws),
        IN_BATCHES: lambda most, _seconds: _batch(matcher, prepared, most),
    }
    told = {name: OneResult(name, build_s=build_s) for name in asked}
    programs: list[Program] = []
    with tempfile.TemporaryDirectory(prefix="tidings-peer-") as folder:
        path = Path(folder) / "workload"
        write_workload(path, prepared.table, events)
        try:
            for name in plan.peers:
                say(f"building {name}")
                peer = PROGRAMS[name]
                if reason := peer.prepare() or unable(peer, prepared.table, events):
                    told[name] = OneResult(name, note=f"{peer.what}: {reason}")
                    continue
                try:
                    programs.append(Program(peer, path, plan.build_limit))
                except (TookTooLong, PeerFailed) as problem:
                    told[name] = OneResult(name, note=f"{peer.what}: {problem}")
                    continue
                asked[name] = programs[-1].round
                told[name] = OneResult(name, build_s=programs[-1].build_s, note=peer.what)
            rates, failed = _rounds(plan, asked, expected, say)
        finally:
            for program in programs:
                program.close()
    results = tuple(
        OneResult(name, rates.get(name, ()), one.build_s, failed.get(name, one.note)) for name, one in told.items()
    )
    return OneRun(
        plan.workload.name, options_of(plan.workload), plan.subscriptions, plan.events,
        float(expected.counts.mean()), results, commit=commit(),
    )  # fmt: skip


def _rounds(
    plan: OnePlan, asked: dict[str, Ask], expected: Answers, say: Say
) -> tuple[dict[str, tuple[float, ...]], dict[str, str]]:
    """Everybody in turn, round after round; the first one warms up. The rates, and why a peer has none."""
    rates: dict[str, list[float]] = {name: [] for name in asked}
    failed: dict[str, str] = {}
    for round in range(plan.rounds + 1):
        say(f"round {round} of {plan.rounds}" if round else "warming up")
        for name in list(rates):
            try:
                done = asked[name](plan.events, plan.seconds)
            except PeerFailed as problem:
                failed[name] = str(problem)
                del rates[name]
                continue
            compare(name, Answers(done.counts), "default", expected)
            if round:
                rates[name].append(done.rate)
    return {name: tuple(found) for name, found in rates.items()}, failed


def _single(matcher: Algorithm, given: Sequence[Any]) -> Ask:
    def ask(most: int, seconds: float) -> Round:
        counts: list[int] = []
        match_one, started = matcher.match_one, perf_counter()
        for event in given[:most]:
            counts.append(len(match_one(event)))
            if len(counts) % 16 == 0 and perf_counter() - started > seconds:
                break
        return Round(perf_counter() - started, np.array(counts))

    return ask


def _batch(matcher: Algorithm, prepared: Prepared, most: int) -> Round:
    batch = prepared.batch.slice(0, most)
    started = perf_counter()
    found = matcher.match(batch)
    return Round(perf_counter() - started, np.diff(found.offsets))


def _check_small(workload: Workload) -> None:
    prepared = Prepared.of(workload, *SMALL)
    matcher = built("default", workload.catalog, prepared.boxes, prepared.ids)
    texts = [msgspec.json.encode(write_event(event)) for event in prepared.batch]
    found = _single(matcher, texts)(len(texts), 60.0)
    compare(OURS, Answers(found.counts), "naive", naive_answers(prepared.table, prepared.batch))


def _times(ratio: float | None) -> str:
    return "–" if ratio is None else f"{number(ratio)} ×"
