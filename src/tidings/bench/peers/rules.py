"""rule-engine: a Python library that evaluates one rule on one thing, as most rule libraries do."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from tidings.bench.grid import LARGEST, NOTHING, UNBOUND, Grid
from tidings.bench.results import Counts


def rule_text(grid: Grid, subscription: int) -> str:
    """The filter in the library's words; the ends of the ranks stand for no bound."""
    parts = []
    for place in range(len(grid.attributes)):
        low, high = int(grid.low[place, subscription]), int(grid.high[place, subscription])
        if low == UNBOUND:
            continue
        name = f"e{place}"
        parts.append(f"{name} == {low}" if low == high else f"{name} >= {low}")
        if high not in (low, LARGEST):
            parts.append(f"{name} <= {high}")
        if (unequal := int(grid.unequal[place, subscription])) != NOTHING:
            parts.append(f"{name} != {unequal}")
    return " and ".join(parts)


class RuleEngine:
    name = "rule-engine"
    what = "rule-engine for Python, rule by rule"
    most = 1000
    extrapolated = True

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def unavailable(self) -> str | None:
        return None if find_spec("rule_engine") else "not installed: pip install 'tidings[bench]'"

    def unable(self, grid: Grid) -> str | None:
        return None

    def load(self, grid: Grid) -> None:
        import rule_engine

        self.rules = [rule_engine.Rule(rule_text(grid, number)) for number in range(grid.subscriptions)]
        self.events: list[dict[str, Any]] = [
            {f"e{place}": value for place, value in enumerate(row)} for row in grid.events.T.tolist()
        ]

    def counts(self, first: int, last: int) -> Counts:
        rules = self.rules
        return np.array([sum(rule.matches(event) for rule in rules) for event in self.events[first:last]], np.int64)

    def close(self) -> None:
        vars(self).clear()
