"""The workload of "Efficient matching for Web-based publish/subscribe systems" (Le Subscribe), section 4.

One event type, six optional attributes, conjunctions of about three predicates: what figures 9 to 11 measure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tidings.errors import TidingsError
from tidings.events import EventBatch
from tidings.matching.boxes.predicate_table import OPERATORS, PredicateTable
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind
from tidings.workloads import columns
from tidings.workloads.draws import Draws

# "The first three attributes have 200 possible values and can appear only in equality predicates. Their type
# is string."
STRINGS = ("string1", "string2", "string3")
WORDS = tuple(f"value{i:03}" for i in range(200))
# "The other three attributes, of numeric type, have 5000 possible values and may appear in any type of
# predicate."
NUMBERS = ("number1", "number2", "number3")
NUMERIC_VALUES = 5000
# "Each attribute has a probability of 0.5 of being present in a subscription predicate", and so in an event.
PRESENCE = 0.5
# What a predicate is when it is no equality. The paper does not list these, nor in which proportion they
# come; `!=` is left out because its cost formulas know only C=, C≤ and C≥.
ORDER = ("<", "<=", ">", ">=")

ATTRIBUTES = STRINGS + NUMBERS
_SIZES = np.array([len(WORDS)] * 3 + [NUMERIC_VALUES] * 3)
_EQUALS = OPERATORS.index("=")
_ORDER = np.array([OPERATORS.index(operator) for operator in ORDER], np.int8)

CATALOG = Catalog(
    domains=(
        Domain("word", Kind.STRING, ("=",)),
        Domain("number", Kind.NUMERIC, ("=", *ORDER)),
    ),
    attributes=tuple(Attribute(name, "word" if name in STRINGS else "number") for name in ATTRIBUTES),
    event_types=(EventType("event", tuple(AttributeUse(name, mandatory=False) for name in ATTRIBUTES)),),
)


class NotAProbability(TidingsError):
    def __init__(self, name: str, value: float) -> None:
        super().__init__(name, value)

    def __str__(self) -> str:
        return "{} is a probability, from 0 to 1, not {}".format(*self.args)


@dataclass(frozen=True)
class LeSubscribe:
    """`equality` is "a probability p of generating an equality predicate for the last three attributes"."""

    equality: float = 0.5
    seed: int = 1

    name: ClassVar[str] = "le-subscribe"
    catalog: ClassVar[Catalog] = CATALOG

    def __post_init__(self) -> None:
        if not 0 <= self.equality <= 1:
            raise NotAProbability("equality", self.equality)

    def subscriptions(self, n: int, start: int = 0) -> PredicateTable:
        """Exactly n filters. One without predicates is drawn again: an attribute is present in 32 of 63.

        The paper is silent about the one subscription in 64 that would have no predicate. Drawing again until
        there is one is the same as choosing uniformly among the 63 non-empty sets of attributes (PRESENCE
        being a half), which is done here.
        """
        draws = Draws(self.seed, "subscriptions", n, start)
        sets = draws.below(63, "attributes") + 1
        present = (sets[:, None] >> np.arange(6)) & 1 == 1
        values = np.empty((n, 6))
        operators = np.full((n, 6), _EQUALS, np.int8)
        for column, name in enumerate(ATTRIBUTES):
            values[:, column] = draws.below(int(_SIZES[column]), f"{name} value")
            if name in NUMBERS:
                ordered = _ORDER[draws.below(len(ORDER), f"{name} operator")]
                equal = draws.happens(self.equality, f"{name} equality")
                operators[:, column] = np.where(equal, _EQUALS, ordered)
        return PredicateTable(
            self.catalog,
            ATTRIBUTES,
            (WORDS,) * 3 + ((),) * 3,
            offsets=np.concatenate([[0], np.cumsum(present.sum(1))]),
            attribute=np.tile(np.arange(6, dtype=np.int16), (n, 1))[present],
            operator=operators[present],
            value=values[present],
        )

    def events(self, n: int, start: int = 0) -> EventBatch:
        """n events; values "uniformly distributed over the attribute's domain". One in 64 binds nothing."""
        draws = Draws(self.seed, "events", n, start)
        made = {}
        for name in ATTRIBUTES:
            present = draws.happens(PRESENCE, f"{name} presence")
            if name in STRINGS:
                made[name] = columns.texts(draws.below(len(WORDS), f"{name} value"), present, WORDS)
            else:
                made[name] = columns.numbers(draws.below(NUMERIC_VALUES, f"{name} value"), present)
        return columns.batch(self.catalog, np.zeros(n, np.int64), made, start)
