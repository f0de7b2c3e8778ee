"""How time grows with the number of subscriptions while the number of matches stays the same.

In the papers' workloads twice the subscriptions are twice the matches. Here values become rarer as subscriptions
become more: domains grow in proportion (`Rarer`), or ranges become narrower (`rein` with a width that shrinks)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tidings.events import EventBatch
from tidings.matching.boxes.predicate_table import OPERATORS, PredicateTable
from tidings.schema import Catalog
from tidings.workloads import Rein, columns
from tidings.workloads.draws import Draws
from tidings.workloads.le_subscribe import ATTRIBUTES, CATALOG, NUMBERS, NUMERIC_VALUES, PRESENCE, WORDS

BASE = 10_000  # subscriptions at which values are as many as in the paper


@dataclass(frozen=True)
class Rarer:
    """Le Subscribe with equality only (p = 1) and `scale` times as many values of every attribute."""

    scale: int = 1
    seed: int = 1

    name: ClassVar[str] = "le-subscribe, domains in proportion"
    catalog: ClassVar[Catalog] = CATALOG

    @classmethod
    def to(cls, subscriptions: int) -> Rarer:
        """With the values that go with so many subscriptions."""
        return cls(max(1, subscriptions // BASE))

    def subscriptions(self, n: int, start: int = 0) -> PredicateTable:
        draws = Draws(self.seed, "subscriptions", n, start)
        present = ((draws.below(63, "attributes") + 1)[:, None] >> np.arange(6)) & 1 == 1
        values = np.stack([draws.below(self._values(name), f"{name} value") for name in ATTRIBUTES], axis=1)
        words = self._words()
        return PredicateTable(
            self.catalog,
            ATTRIBUTES,
            (words,) * 3 + ((),) * 3,
            offsets=np.concatenate([[0], np.cumsum(present.sum(1))]),
            attribute=np.tile(np.arange(6, dtype=np.int16), (n, 1))[present],
            operator=np.full(int(present.sum()), OPERATORS.index("="), np.int8),
            value=values[present].astype(np.float64),
        )

    def events(self, n: int, start: int = 0) -> EventBatch:
        draws, words = Draws(self.seed, "events", n, start), self._words()
        made = {}
        for name in ATTRIBUTES:
            present = draws.happens(PRESENCE, f"{name} presence")
            drawn = draws.below(self._values(name), f"{name} value")
            made[name] = columns.numbers(drawn, present) if name in NUMBERS else columns.texts(drawn, present, words)
        return columns.batch(self.catalog, np.zeros(n, np.int64), made, start)

    def _values(self, name: str) -> int:
        return self.scale * (NUMERIC_VALUES if name in NUMBERS else len(WORDS))

    def _words(self) -> tuple[str, ...]:
        return tuple(f"value{number:06}" for number in range(self.scale * len(WORDS)))


def narrower(subscriptions: int) -> Rein:
    """`rein` with ranges so narrow that about ten of the subscriptions match, whatever their number: one in 1024 is the
    tenth power of the width of one half."""
    return Rein(width=0.5 * (BASE / subscriptions) ** 0.1)


def exponent(points: list[tuple[float, float]]) -> float:
    """The slope of the line through (subscriptions, time) in logarithms: 1 is proportional, 0 does not grow."""
    sizes, times = np.log(np.array(points)).T
    return float(np.polyfit(sizes, times, 1)[0])
