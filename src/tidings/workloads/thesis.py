"""The simulation of the thesis's chapter 8 on the five event types of its appendix A.

Subscriptions are long (a type and a predicate for each of its five attributes) and rarely match.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tidings.events import EventBatch
from tidings.matching.boxes.predicate_table import CONTAINS, OPERATORS, PredicateTable
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind
from tidings.schema.catalog import EVENT_TYPE
from tidings.workloads import columns
from tidings.workloads.draws import Draws, Ordinals

# 8.1: "The values with domain type string, have 150 possible values and can appear only in contains
# predicates." A value is one word here, so `contains` is equality, which the thesis leaves open.
WORDS = tuple(f"word{i:03}" for i in range(150))
# 8.1: "The values with domain type numeric can take any value in the field {0,2000}, and can have all the
# standard comparison operators": taken as the integers, both ends among them.
NUMERIC_VALUES = 2001

# Appendix A. Its domains have numbers, not names: 1 is `number`, 2 `text`, 3 `furniture_category`, 5
# `material`, 6 `brand`. Domain 4 (the event types as an enumeration) is used by nothing and 7 only by
# `event_type`, which every catalog of ours has by itself. `artist` is declared but belongs to no event type,
# not even to painting. 8.1: "the enumerated valued attributes, take random values from a value set specific
# to each enumerated domain and can appear in equal and not equal predicates": what an unordered enumeration
# allows.
DOMAINS = (
    Domain("number", Kind.NUMERIC),
    Domain("text", Kind.STRING, ("contains",)),
    Domain("furniture_category", Kind.ENUMERATED, values=("bed-room", "living-room", "dining-room")),
    Domain("material", Kind.ENUMERATED, values=("wood", "carbon", "epox", "polyester", "paper", "glass")),
    Domain("brand", Kind.ENUMERATED, values=("opel", "volvo", "bmw", "seat", "renault", "mazda", "mini")),
)
DOMAIN_OF = {
    "price": "number",
    "period": "text",
    "quantity": "number",
    "furniture_category": "furniture_category",
    "material": "material",
    "year": "number",
    "volume": "number",
    "brand": "brand",
    "cc": "number",
    "artist": "text",
    "size": "number",
}
# 8.1: "Every events schema, consists of four mandatory and one optional attributes". Here the attributes,
# then the optional one (for the material of an antique the appendix writes mandatory="flase").
EVENT_TYPES = {
    "antique": (("price", "period", "quantity", "material", "size"), "material"),
    "furniture": (("price", "quantity", "furniture_category", "material", "size"), "furniture_category"),
    "surf-board": (("price", "quantity", "year", "material", "volume"), "material"),
    "car": (("price", "quantity", "year", "brand", "cc"), "brand"),
    "painting": (("price", "quantity", "period", "material", "size"), "period"),
}
CATALOG = Catalog(
    DOMAINS,
    tuple(Attribute(name, domain) for name, domain in DOMAIN_OF.items()),
    tuple(
        EventType(name, tuple(AttributeUse(attribute, mandatory=attribute != optional) for attribute in uses))
        for name, (uses, optional) in EVENT_TYPES.items()
    ),
)

# The columns of the tables below: event_type, then the attributes in the order of the appendix.
ATTRIBUTES = (EVENT_TYPE, *DOMAIN_OF)


def _vocabulary(attribute: str) -> tuple[str, ...]:
    domain = CATALOG.domain_of(attribute)
    assert domain is not None
    return WORDS if domain.kind is Kind.STRING else domain.vocabulary


def _operators(attribute: str) -> list[int]:
    domain = CATALOG.domain_of(attribute)
    assert domain is not None
    return [OPERATORS.index(operator) for operator in domain.operators or ()]


VOCABULARIES = tuple(_vocabulary(name) for name in ATTRIBUTES)
_SIZES = np.array([len(words) or NUMERIC_VALUES for words in VOCABULARIES])
_OPERATOR_COUNTS = np.array([len(_operators(name)) for name in ATTRIBUTES])
_OPERATORS = np.array([(_operators(name) * len(OPERATORS))[: len(OPERATORS)] for name in ATTRIBUTES], np.int8)
_USES = np.array([[ATTRIBUTES.index(name) for name in uses] for uses, _ in EVENT_TYPES.values()], np.int16)


@dataclass(frozen=True)
class Thesis:
    """Subscriptions and events of chapters 5.5, 8.1 and 8.2."""

    seed: int = 1

    name: ClassVar[str] = "thesis"
    catalog: ClassVar[Catalog] = CATALOG

    def subscriptions(self, n: int, start: int = 0) -> PredicateTable:
        """n filters of six predicates: `event_type contains T`, then one for each attribute of T.

        8.1: "A subscription belongs in one event type and all the event type's attributes are present in each
        subscription. Each subscription predicate can take value and operator uniformly distributed over their
        value domain and operator set respectively."
        """
        draws = Draws(self.seed, "subscriptions", n, start)
        event_type = draws.below(len(EVENT_TYPES), EVENT_TYPE)
        attribute = np.zeros((n, 6), np.int16)
        operator = np.full((n, 6), CONTAINS, np.int8)
        value = np.empty((n, 6))
        attribute[:, 1:] = _USES[event_type]
        value[:, 0] = event_type
        for place in range(1, 6):
            chosen = attribute[:, place]
            turn = draws.below(_OPERATOR_COUNTS[chosen], f"operator {place}")
            operator[:, place] = _OPERATORS[chosen, turn]
            value[:, place] = draws.below(_SIZES[chosen], f"value {place}")
        offsets = np.arange(0, 6 * n + 1, 6)
        return PredicateTable(
            self.catalog,
            ATTRIBUTES,
            VOCABULARIES,
            offsets,
            attribute.ravel(),
            operator.ravel(),
            value.ravel(),
        )

    def events(self, n: int, start: int = 0) -> EventBatch:
        """n events of one type each with all its five attributes, the optional one too.

        8.2: "Every event generated, has an event type randomly chosen between the five"; "four mandatory and
        one optional attribute, which take values uniformly distributed over their value domain". 5.5: "for
        each attribute appearing in that events schema, a random value is given".
        """
        draws = Draws(self.seed, "events", n, start)
        event_type = draws.below(len(EVENT_TYPES), EVENT_TYPE)
        made = {name: self._column(name, event_type, draws) for name in DOMAIN_OF if CATALOG.is_used(name)}
        return columns.batch(self.catalog, event_type, made, start)

    def _column(self, name: str, event_type: Ordinals, draws: Draws) -> object:
        column = ATTRIBUTES.index(name)
        present = np.any(column == _USES, axis=1)[event_type]
        values, words = draws.below(int(_SIZES[column]), name), VOCABULARIES[column]
        if not words:
            return columns.numbers(values, present)
        return (columns.texts if words is WORDS else columns.listed)(values, present, words)
