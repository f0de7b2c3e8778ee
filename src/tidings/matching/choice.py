"""Decides in bounded time whether one choice of a value per attribute satisfies a conjunction: the plain twin of
`boxes/second_look.py`, for `explain` and for predicates that only Python can check.

The specification (`naive`) tries every combination of values, which is exponential in the attributes. But a predicate
on one attribute only removes values of that attribute, and attributes interact only through comparisons with each
other (`value_graph`).
"""

from __future__ import annotations

from collections.abc import Iterable

from tidings.events.event import Bindings
from tidings.language.analysis.constraints import demand_of
from tidings.language.normal_form import Conjunction, Literal
from tidings.language.patterns.text_words import text_words
from tidings.language.predicates.kind import Relates, RelatesLinearly
from tidings.language.ranges import attribute_space
from tidings.language.relations import mirrored
from tidings.language.tree import ContainsPattern, Not, XPath
from tidings.matching.naive import compared, holds
from tidings.matching.value_graph import Edge, Edges, consistent
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Domain
from tidings.schema.values import Value

Values = dict[str, list[Value]]  # candidates by attribute


def matches(conjunctions: Iterable[Conjunction], event: Bindings, catalog: Catalog) -> bool:
    """Whether the event satisfies one of a filter's alternatives."""
    return any(satisfied(conjunction, event, catalog) for conjunction in conjunctions)


def satisfied(conjunction: Conjunction, event: Bindings, catalog: Catalog) -> bool:
    values: Values = {}
    edges: Edges = {}
    for literal in conjunction:
        names = tuple(dict.fromkeys(compared(literal)))
        if not all(name in event for name in names):
            return False
        if not names:
            if not _holds_for_all(literal, event, catalog):
                return False
        elif len(names) == 1:
            (name,) = names
            left = values.get(name, event[name])
            values[name] = [value for value in left if holds(literal, event, {name: value}, catalog)]
        else:
            for name in names:
                values.setdefault(name, list(event[name]))
            _relate(edges, literal, catalog)
    return all(values.values()) and consistent(values, edges, catalog)


def _holds_for_all(literal: Literal, event: Bindings, catalog: Catalog) -> bool:
    """Whether a literal that speaks of all values holds; patterns are decided faster than by their specification."""
    predicate = literal.term if isinstance(literal, Not) else literal
    if isinstance(predicate, XPath) and predicate.path is not None and predicate.attribute in event:
        from tidings.documents.one_path import path_selects  # numba with it, where a filter has a path

        documents = [str(value).encode() for value in event[predicate.attribute]]
        return path_selects(predicate.path, documents) is not isinstance(literal, Not)
    if not isinstance(predicate, ContainsPattern):
        return holds(literal, event, {}, catalog)
    values, language = event.get(predicate.attribute), _domain(catalog, predicate.attribute).language
    if values is None:
        return False
    found = any(text_words(str(value), language).satisfies(predicate.pattern) for value in values)
    return found is not isinstance(literal, Not)


def _relate(edges: Edges, literal: Literal, catalog: Catalog) -> None:
    demand = demand_of(literal, lambda attribute: attribute_space(attribute, catalog))
    if not isinstance(demand, Relates | RelatesLinearly):
        raise TypeError(f"{literal!r} speaks of several attributes but demands no relation between them")
    left, right, bits = demand[:3]
    if left > right:
        left, right, bits = right, left, mirrored(bits)
    known = edges.get((left, right), Edge())
    if isinstance(demand, Relates):
        edges[left, right] = Edge(known.bits & bits, known.linear)
    else:
        edges[left, right] = Edge(known.bits, (*known.linear, demand))


def _domain(catalog: Catalog, attribute: str) -> Domain:
    domain = catalog.domain_of(attribute)
    assert domain is not None
    return domain
