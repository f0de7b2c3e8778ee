"""The runs that the report is made of: which workload, who takes part, and the command by which to repeat it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidings.bench.matching import ALL_PEERS, QUICK, Plan, Say, quiet, run_matching
from tidings.bench.one_event import OnePlan, OneRun, run_one_event
from tidings.bench.results import Result, Run
from tidings.workloads import Flights, LeSubscribe, Rein, Thesis, Workload

PAPERS = ("default", "counting", "equality-preferred", "quarantine")
_SECONDS = 2.0
_BUILD_LIMIT = 40.0


@dataclass(frozen=True)
class Section:
    name: str
    title: str
    plan: Plan
    options: str = ""  # of the command, besides those that every one has

    @property
    def command(self) -> str:
        plan = self.plan
        algorithms = "all" if plan.algorithms == QUICK else ",".join(plan.algorithms)
        parts = [
            "tidings bench matching",
            f"--workload {plan.workload.name}",
            self.options,
            f"--subscriptions {plan.subscriptions}",
            f"--events {plan.events}",
            f"--algorithms {algorithms}",
            "--peers" if plan.peers == ALL_PEERS else f"--peer {','.join(plan.peers)}" if plan.peers else "",
            f"--threads {plan.threads or 'auto'}" if plan.threads != 1 else "",
            f"--seconds {plan.seconds:g}",
        ]
        return " ".join(part for part in parts if part)


def sections(quick: bool = False) -> list[Section]:
    """Small ones with `quick`: then only that it works is shown."""
    few = 50 if quick else 1
    seconds = 0.5 if quick else _SECONDS

    def plan(
        workload: Workload, subscriptions: int, algorithms: tuple[str, ...], *peers: str, threads: int = 1
    ) -> Plan:
        events = 2_000 if quick else 10_000
        return Plan(
            workload,
            subscriptions // few,
            events,
            algorithms,
            peers,
            threads,
            seconds,
            _BUILD_LIMIT,
        )

    return [
        Section("half", "Le Subscribe, 3.2 million subscriptions, half of the numeric predicates equality",
                plan(LeSubscribe(0.5), 3_200_000, PAPERS, "prototype"), "--equality 0.5"),
        Section("equal", "Le Subscribe, 3.2 million subscriptions, equality only",
                plan(LeSubscribe(1.0), 3_200_000, PAPERS, "prototype"), "--equality 1"),
        Section("threads", "The same with two threads",
                plan(LeSubscribe(0.5), 3_200_000, ("default",), threads=2), "--equality 0.5"),
        Section("threads-auto", "The same with as many threads as the default chooses",
                plan(LeSubscribe(0.5), 3_200_000, ("default",), threads=0), "--equality 0.5"),
        Section("everyone", "Le Subscribe, 100,000 subscriptions: every algorithm and today's tools",
                plan(LeSubscribe(0.5), 100_000, QUICK, *ALL_PEERS), "--equality 0.5"),
        Section("thesis", "Thesis, 100,000 subscriptions: every algorithm and today's tools",
                plan(Thesis(), 100_000, QUICK, *ALL_PEERS)),
        Section("flights", "Real flights, 100,000 filters: every algorithm and today's tools",
                plan(Flights(), 100_000, QUICK, *ALL_PEERS)),
        Section("rein", "rein, a million filters of ten ranges on 20 attributes",
                plan(Rein(), 1_000_000, ("default", "scan"), "numpy")),
        Section("rein-zipf", "The same with ranges crowded by Zipf's law, 100,000 filters",
                plan(Rein(zipf=True), 100_000, ("default", "counting", "scan"), "numpy"), "--zipf"),
        Section("rein-narrow", "rein with 40 attributes and narrow ranges, 100,000 filters",
                plan(Rein(40, 0.1), 100_000, ("default", "counting", "scan"), "numpy"), "--attributes 40 --width 0.1"),
    ]  # fmt: skip


def measured_sections(quick: bool = False, say: Say = quiet) -> Iterator[tuple[Section, Run]]:
    for section in sections(quick):
        yield section, run_matching(section.plan, lambda message, name=section.name: say(f"{name}: {message}"))  # type: ignore[misc]


@dataclass(frozen=True)
class OneSection:
    """A run of one event per call."""

    name: str
    title: str
    plan: OnePlan
    equality: float

    @property
    def command(self) -> str:
        plan = self.plan
        return (
            f"tidings bench one-event --equality {self.equality:g} --subscriptions {plan.subscriptions} "
            f"--events {plan.events} --rounds {plan.rounds} --seconds {plan.seconds:g}"
        )


def one_event_sections(quick: bool = False) -> list[OneSection]:
    size, rounds, seconds = (2_000, 2, 0.2) if quick else (100_000, 7, 1.0)
    titles = {1.0: "equality only", 0.5: "half of the numeric predicates equality"}
    return [
        OneSection(
            f"one event, p = {equality:g}",
            f"One event per call: Le Subscribe, {size:,} subscriptions, {title}",
            OnePlan(LeSubscribe(equality), size, rounds=rounds, seconds=seconds),
            equality,
        )
        for equality, title in titles.items()
    ]


def measured_one_event(quick: bool = False, say: Say = quiet) -> Iterator[tuple[OneSection, OneRun]]:
    for section in one_event_sections(quick):
        yield section, run_one_event(section.plan, lambda message, name=section.name: say(f"{name}: {message}"))  # type: ignore[misc]


def rate(run: Run, algorithm: str) -> float | None:
    found: Result | None = run.result(algorithm)
    return None if found is None else found.events_per_s
