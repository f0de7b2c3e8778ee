"""Whether the events of each part can have the attributes of `by`. An event without them takes no part, so a part whose
events never have one would wait for ever.

An event may have several event types, and those that a filter does not name may bring any attribute. This judges by the
types that the filter names, or, where it names none, by those that have the attributes it tests.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidings.errors import one_of
from tidings.language.composites.errors import NotBoundByPart
from tidings.language.composites.printer import print_node
from tidings.language.composites.tree import Leaf, Root, leaves
from tidings.language.filter import Filter
from tidings.language.normal_form import Conjunction
from tidings.language.predicates import attributes_of
from tidings.language.scope import Scope
from tidings.language.tree import Comparison, Contains, Exists, In, Node, Not
from tidings.schema.catalog import ENVELOPE, EVENT_TYPE, RESERVED, Catalog

_LONGEST_SHOWN = 100


def refuse_unbound(attribute: str, tree: Root, filters: Mapping[Node, Filter], scope: Scope) -> None:
    """Raises NotBoundByPart for the first part whose events do not have the attribute."""
    for leaf in leaves(tree):
        if not isinstance(leaf, Leaf):
            reason, instead = "time events have no attributes", "leave 'by' out"
        elif can_bind(filters[leaf.filter], attribute, scope.catalog):
            continue
        else:
            reason, instead = _missing(filters[leaf.filter], attribute, scope.catalog)
        shown = print_node(leaf)
        shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"
        raise NotBoundByPart(scope.text, leaf.at, attribute, shown, reason, instead)


def can_bind(filter: Filter, attribute: str, catalog: Catalog) -> bool:
    """Whether events that match the filter can have the attribute, as far as the event types tell."""
    if attribute in ENVELOPE or attribute == EVENT_TYPE:
        return True
    return any(_alternative_binds(conjunction, attribute, catalog) for conjunction in filter.conjunctions)


def _alternative_binds(conjunction: Conjunction, attribute: str, catalog: Catalog) -> bool:
    if Not(Exists(attribute)) in conjunction:
        return False
    tested = {name for literal in conjunction if not _is_absence(literal) for name in attributes_of(literal)}
    if attribute in tested:
        return True
    types = _types(conjunction) or {
        event_type.name
        for event_type in catalog.event_types
        if tested <= set(RESERVED) or not tested.isdisjoint(use.name for use in event_type.attributes)
    }
    return any(attribute in catalog.view([name]).uses for name in types if name in catalog.event_type_names)


def _is_absence(literal: Node) -> bool:
    return isinstance(literal, Not) and isinstance(literal.term, Exists)


def _types(conjunction: Conjunction) -> set[str]:
    """The event types that the alternative names."""
    found: set[str] = set()
    for literal in conjunction:
        match literal:
            case Contains("event_type", str() as name) | Comparison("event_type", "=", str() as name):
                found.add(name)
            case In("event_type", names):
                found.update(name for name in names if isinstance(name, str))
    return found


def _missing(filter: Filter, attribute: str, catalog: Catalog) -> tuple[str, str]:
    named = sorted(set().union(*map(_types, filter.conjunctions)))
    having = [
        event_type.name for event_type in catalog.event_types if attribute in catalog.view([event_type.name]).uses
    ]
    of_types = f"events of type {one_of(named)} do not have it" if named else "its events do not have it"
    instead = f"event types that have it: {', '.join(having[:12])}" if having else "no event type has it yet"
    return of_types, f"{instead}; where such an event has another type too, add 'and {attribute} exists' to the part"
