"""Which event types an event must have for a filter to match it: the types that bind every attribute it tests, and that
satisfy what it says of `event_type`."""

from __future__ import annotations

from collections.abc import Collection

from tidings.events.event import Bindings
from tidings.language import Filter
from tidings.language.normal_form import Conjunction, Literal
from tidings.language.predicates import attributes_of
from tidings.language.tree import Exists, InDialect, Not
from tidings.matching.choice import satisfied
from tidings.schema.catalog import ENVELOPE, EVENT_TYPE, Catalog, UnknownName


class Reach:
    """Of one filter under one catalog."""

    def __init__(self, filter: Filter, catalog: Catalog) -> None:
        self._catalog = catalog
        self._alternatives = [(_needed(one), _of_types(one)) for one in filter.conjunctions]
        self._known: dict[tuple[str, ...], bool] = {}

    def admits(self, event_types: Collection[str]) -> bool:
        """Whether an event of exactly these types can match."""
        key = tuple(event_types)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._can_match(key)
        return found

    @property
    def event_types(self) -> tuple[str, ...]:
        """The types of which events can match that have no other type."""
        return tuple(name for name in self._catalog.event_type_names if self.admits((name,)))

    def _can_match(self, event_types: tuple[str, ...]) -> bool:
        try:
            uses = self._catalog.view(event_types).uses
        except UnknownName:  # the event is newer than the catalog at hand
            return True
        event: Bindings = {EVENT_TYPE: event_types}
        return any(
            needed <= uses.keys() and satisfied(literals, event, self._catalog)
            for needed, literals in self._alternatives
        )


def _needed(conjunction: Conjunction) -> frozenset[str]:
    """The attributes that an event type must have."""
    names = {name for literal in conjunction if not _is_absence(literal) for name in attributes_of(literal)}
    return frozenset(names - {EVENT_TYPE, *ENVELOPE})


def _of_types(conjunction: Conjunction) -> Conjunction:
    """Not what reads other attributes too: an expression in another language."""
    return tuple(one for one in conjunction if set(attributes_of(one)) == {EVENT_TYPE} and not _is_expression(one))


def _is_expression(literal: Literal) -> bool:
    return isinstance(literal.term if isinstance(literal, Not) else literal, InDialect)


def _is_absence(literal: Literal) -> bool:
    return isinstance(literal, Not) and isinstance(literal.term, Exists)
