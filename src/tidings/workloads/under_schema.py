"""Random subscriptions and events under any schema: the thesis's client (5.5, 8.1, 8.2), for `tidings simulate`.

Number n of each depends on the schema, the seed and n alone. Unlike the workloads of the papers these come one by
one, as a publisher and a subscriber would send them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tidings.errors import TidingsError
from tidings.language.printer import print_filter
from tidings.language.tree import Comparison, Contains, ContainsWords, Exists, Node, both
from tidings.schema import AttributeUse, Catalog, Domain, EventType, Instant, Kind
from tidings.schema.catalog import EVENT_TYPE

T = TypeVar("T")

# The thesis draws from 150 words and from {0,2000}, where five predicates hardly ever hold together. From fewer,
# some percent of the pairs match, and a check has something to compare.
WORDS = tuple(f"word{number}" for number in range(8))
NUMBERS = 41
_DAYS = 31
_DAY = 86_400_000_000
_FIRST_DAY = Instant.parse("2026-01-01T00:00:00Z")
_MOST_VALUES = 3  # of an attribute that may have several
_DRAWN = ("=", "!=", "<", "<=", ">", ">=", "contains")  # not similarity, which no filter has yet


class NothingToSimulate(TidingsError):
    """The schema has no event type of which an event could be made."""

    def __init__(self, event_types: tuple[str, ...]) -> None:
        super().__init__(event_types)

    def __str__(self) -> str:
        if not self.args[0]:
            return "the schema has no event type yet; grow it, for example by `tidings schema grow`"
        return (
            f"no event of {' or '.join(repr(name) for name in self.args[0])} can be generated: "
            "each has a mandatory attribute whose domain has no values yet"
        )


@dataclass(frozen=True, slots=True)
class Predicate:
    """One of a made-up subscription; the value of `exists` is empty."""

    attribute: str
    operator: str
    value: int | str

    def tree(self, domain: Domain) -> Node:
        if self.operator == "exists":
            return Exists(self.attribute)
        if self.operator != "contains":
            value = Instant.parse(str(self.value)) if domain.kind is Kind.TIME else self.value
            return Comparison(self.attribute, self.operator, value)
        if domain.kind.wordy:
            return ContainsWords(self.attribute, "all", (str(self.value),))
        return Contains(self.attribute, self.value)


@dataclass(frozen=True, slots=True)
class MadeSubscription:
    """8.1: "A subscription belongs in one event type and all the event type's attributes are present"."""

    event_type: str
    predicates: tuple[Predicate, ...]
    filter: str


class UnderSchema:
    """Raises NothingToSimulate."""

    def __init__(self, catalog: Catalog, seed: int = 1) -> None:
        self._catalog = catalog
        self._seed = seed
        self._event_types = [one for one in catalog.event_types if self._can_be_made(one)]
        if not self._event_types:
            raise NothingToSimulate(catalog.event_type_names)

    def is_subscription(self, number: int, ratio: float) -> bool:
        """Whether the request of this number subscribes: one of ratio + 1 does, and the first one."""
        return number == 0 or self._dice("request", number).random() * (ratio + 1) < 1

    def subscription(self, number: int) -> MadeSubscription:
        """8.1: "Each subscription predicate can take value and operator uniformly distributed over their value
        domain and operator set respectively."
        """
        dice = self._dice("subscription", number)
        event_type = _one(self._event_types, dice)
        predicates = tuple(self._predicate(use, dice) for use in event_type.attributes)
        terms: list[Node] = [Contains(EVENT_TYPE, event_type.name)]
        terms += [predicate.tree(self._domain(predicate.attribute)) for predicate in predicates]
        return MadeSubscription(event_type.name, predicates, print_filter(both(terms)))

    def event(self, number: int) -> dict[str, Any]:
        """5.5: "for each attribute appearing in that events schema, a random value is given". It has no id."""
        dice = self._dice("event", number)
        event_type = _one(self._event_types, dice)
        attributes = {}
        for use in event_type.attributes:
            domain = self._domain(use.name)
            if _pool(domain):
                count = 1 if use.unique else 1 + int(dice.random() * _MOST_VALUES)
                values = list(dict.fromkeys(_value(domain, dice) for _ in range(count)))
                attributes[use.name] = values[0] if use.unique else values
        return {EVENT_TYPE: [event_type.name], "attributes": attributes}

    def _predicate(self, use: AttributeUse, dice: random.Random) -> Predicate:
        domain = self._domain(use.name)
        operators = [operator for operator in domain.operators or () if operator in _DRAWN]
        if not operators or not _pool(domain):
            return Predicate(use.name, "exists", "")
        return Predicate(use.name, _one(operators, dice), _value(domain, dice))

    def _can_be_made(self, event_type: EventType) -> bool:
        return all(_pool(self._domain(use.name)) for use in event_type.attributes if use.mandatory)

    def _domain(self, attribute: str) -> Domain:
        domain = self._catalog.domain_of(attribute)
        assert domain is not None
        return domain

    def _dice(self, what: str, number: int) -> random.Random:
        """Only its `random()` is used: it gives the same in every version of Python."""
        return random.Random(f"{self._seed} {what} {number}")


def _one(of: Sequence[T], dice: random.Random) -> T:
    return of[int(dice.random() * len(of))]


def _pool(domain: Domain) -> int:
    """How many values are drawn from."""
    match domain.kind:
        case Kind.NUMERIC:
            return NUMBERS
        case Kind.TIME:
            return _DAYS
        case Kind.STRING | Kind.TEXT:
            return len(WORDS)
        case _:
            return len(domain.vocabulary)


def _value(domain: Domain, dice: random.Random) -> int | str:
    """As an event has it: JSON knows no time."""
    drawn = int(dice.random() * _pool(domain))
    match domain.kind:
        case Kind.NUMERIC:
            return drawn
        case Kind.TIME:
            return str(Instant(_FIRST_DAY + drawn * _DAY))
        case Kind.STRING | Kind.TEXT:
            return WORDS[drawn]
        case _:
            return domain.vocabulary[drawn]
