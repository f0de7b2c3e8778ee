"""What the engine is to show, and what a run shows of it: each aim with its number, met or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidings.bench.figures import Figure
from tidings.bench.one_event import OURS, OneRun
from tidings.bench.results import Run
from tidings.bench.sections import rate
from tidings.bench.standing import Fact
from tidings.bench.table import number


@dataclass(frozen=True, slots=True)
class Aim:
    what: str
    aim: str
    shown: str
    met: bool | None  # None: only reported

    @property
    def row(self) -> tuple[str, str, str, str]:
        return self.what, self.aim, self.shown, {True: "yes", False: "**no**", None: "–"}[self.met]


def aims(runs: dict[str, Run], ones: dict[str, OneRun], figures: dict[str, Figure], facts: list[Fact]) -> list[Aim]:
    return [*_of_runs(runs), *_of_one_event(ones), *_of_growth(figures["growth"]), *_of_facts(facts)]


def _of_runs(runs: dict[str, Run]) -> Iterator[Aim]:
    half, equal = runs["half"], runs["equal"]
    default = half.result("default")
    assert default is not None
    size = f"{half.subscriptions:,} subscriptions"
    if default.floor_ratio is not None:
        costs = f"{number(default.ns_per_match)} ns, floor {number(half.floor_ns_per_match)} ns"
        shown = f"{number(default.floor_ratio)} times ({costs})"
        yield Aim(
            f"a match at p = 0.5 with {size}, against only writing it",
            "at most 3 times",
            shown,
            default.floor_ratio <= 3,
        )
    yield _times("p = 1, against the prototype", equal, "prototype", 1)
    yield _times(
        f"p = 0.5, {runs['everyone'].subscriptions:,} subscriptions, against DuckDB", runs["everyone"], "duckdb", 200
    )
    yield _times(f"p = 0.5, {size}, against counting", half, "counting", 200, only_reported=True)
    yield _times(f"p = 1, {size}, against counting", equal, "counting", 400, only_reported=True)
    yield _times(f"rein, {runs['rein'].subscriptions:,} subscriptions, against a numpy scan", runs["rein"], "numpy", 50)
    flights = rate(runs["flights"], "default") or 0.0
    what = f"flights, {runs['flights'].subscriptions:,} filters"
    yield Aim(what, "at least 100,000 events/s", f"{number(flights)} events/s", flights >= 100_000)
    stored, speed = default.bytes_per_subscription or 0.0, default.subscriptions_per_s or 0.0
    yield Aim(f"memory of {size}", "at most 80 bytes each", f"{number(stored)} bytes", stored <= 80)
    yield Aim("bulk build from arrays", "at least 500,000 subscriptions/s", f"{number(speed)}/s", speed >= 500_000)


def _times(what: str, run: Run, other: str, factor: float, only_reported: bool = False) -> Aim:
    mine, theirs = rate(run, "default"), rate(run, other)
    aim = f"at least {factor:g} times" if not only_reported else f"hoped for: {factor:g} times"
    if mine is None or theirs is None:
        return Aim(what, aim, "not measured", None)
    shown = f"{number(mine / theirs)} times ({number(mine)} and {number(theirs)} events/s)"
    return Aim(what, aim, shown, None if only_reported else mine >= factor * theirs)


def _of_one_event(ones: dict[str, OneRun]) -> Iterator[Aim]:
    """A least rate at 100,000 filters, and half the rate of the quicker one of the libraries that are made for it."""
    for name, run in ones.items():
        mine = run.result(OURS)
        least = 40_000 if run.options.get("equality") == 1 else 20_000
        reached = 0.0 if mine is None or mine.rate is None else mine.rate
        what = f"{name}, {run.subscriptions:,} subscriptions, from JSON"
        yield Aim(what, f"at least {least:,} events/s", f"{number(reached)} events/s", reached >= least)
        rated = [one for one in run.results if one.name in ("quamina", "event-ruler") and one.rate is not None]
        if not rated:
            yield Aim(f"{name}, against quamina and event-ruler", "at least 0.5 times", "not measured", None)
            continue
        quickest = max(rated, key=lambda one: one.rate or 0.0)
        ratio = run.ratio(quickest) or 0.0
        shown = f"{number(ratio)} times ({number(reached)} and {number(quickest.rate)} events/s)"
        yield Aim(f"{name}, against {quickest.name}", "at least 0.5 times", shown, ratio >= 0.5)


def _of_growth(figure: Figure) -> Iterator[Aim]:
    for name, (whole, end) in figure.exponents.items():
        shown = f"n^{whole:.2f} over all, n^{end:.2f} over the last three points"
        yield Aim(f"growth at a fixed number of matches: {name}", "slower than n", shown, max(whole, end) < 1)


def _of_facts(facts: list[Fact]) -> Iterator[Aim]:
    for fact in facts:
        words = fact.aim.replace(",", "").split()
        met: bool | None = None
        if words:
            limit = float(words[-1])
            met = fact.value >= limit if words[:2] == ["at", "least"] else fact.value <= limit
        yield Aim(fact.what, fact.aim, f"{number(fact.value)} {fact.unit}", met)
