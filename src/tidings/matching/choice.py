"""Decides in bounded time whether one choice of a value per attribute satisfies a conjunction: the plain twin of
`boxes/second_look.py`, for `explain` and for predicates that only Python can check.

The specification (`naive`) tries every combination of values, which is exponential in the attributes. But a predicate
on one attribute only removes values of that attribute, and attributes interact only through comparisons with each
other. If these form a forest, arc consistency decides exactly: from the leaves inwards, remove every value without a
counterpart. That takes n log n steps for n values. A cycle of three attributes is searched by iterating over the values
of one: n² log n. Longer cycles are refused when a filter is bound.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tidings.documents.one_path import path_selects
from tidings.events.event import Bindings
from tidings.language.analysis.constraints import demand_of
from tidings.language.normal_form import Conjunction, Literal
from tidings.language.patterns.text_words import text_words
from tidings.language.predicates.kind import Relates, RelatesLinearly
from tidings.language.ranges import attribute_space
from tidings.language.relations import ANY_RELATION, GREATER, LESS, SAME, UNRELATED, mirrored
from tidings.language.tree import ContainsPattern, Not, XPath
from tidings.matching.naive import compared, holds
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Domain, Kind
from tidings.schema.values import Span, Value

Values = dict[str, list[Value]]  # candidates by attribute
Edges = dict[tuple[str, str], "Edge"]  # by pair of attributes


class Edge(NamedTuple):
    """The allowed relations of a pair, and those to the right value times a number plus another."""

    bits: int = ANY_RELATION
    linear: tuple[RelatesLinearly, ...] = ()


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
    return all(values.values()) and _consistent(values, edges, catalog)


def _holds_for_all(literal: Literal, event: Bindings, catalog: Catalog) -> bool:
    """Whether a literal that speaks of all values holds; patterns are decided faster than by their specification."""
    predicate = literal.term if isinstance(literal, Not) else literal
    if isinstance(predicate, XPath) and predicate.path is not None and predicate.attribute in event:
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


def _consistent(values: Values, edges: Edges, catalog: Catalog) -> bool:
    """Whether values can be chosen that satisfy all edges. Consumes both arguments."""
    while edges:
        degree: dict[str, int] = {}
        for pair in edges:
            for name in pair:
                degree[name] = degree.get(name, 0) + 1
        leaf = next((pair for pair in edges if 1 in (degree[pair[0]], degree[pair[1]])), None)
        if leaf is not None:
            end, kept = leaf if degree[leaf[0]] == 1 else leaf[::-1]
            values[kept] = _kept(kept, end, values[kept], values[end], edges, _domain(catalog, kept))
            del edges[leaf]
        else:
            kept, second, third = _triangle(edges, degree)
            values[kept] = [
                value
                for value in values[kept]
                if _completed(value, kept, second, third, values, edges, _domain(catalog, kept))
            ]
            for pair in ((kept, second), (kept, third), (second, third)):
                del edges[min(pair), max(pair)]
        if not values[kept]:
            return False
    return True


def _triangle(edges: Edges, degree: dict[str, int]) -> tuple[str, str, str]:
    """A cycle of three attributes, of which only the first may be compared with others, too."""
    for second, third in edges:
        if degree[second] == degree[third] == 2:
            (kept,) = {name for pair in edges if second in pair for name in pair} - {second, third}
            if (min(kept, third), max(kept, third)) in edges:
                return kept, second, third
    raise AssertionError("the filter compares more than three attributes in a cycle")


def _completed(value: Value, kept: str, second: str, third: str, values: Values, edges: Edges, domain: Domain) -> bool:
    """Whether this value of the first attribute has compatible values of the second and the third."""
    seconds = _kept(second, kept, values[second], [value], edges, domain)
    thirds = _kept(third, kept, values[third], [value], edges, domain)
    return bool(_kept(second, third, seconds, thirds, edges, domain))


def _kept(
    kept: str, other: str, values: Sequence[Value], others: Sequence[Value], edges: Edges, domain: Domain
) -> list[Value]:
    """The values of one attribute with a counterpart at the other end of an edge."""
    edge = edges[min(kept, other), max(kept, other)]
    bits = edge.bits if kept < other else mirrored(edge.bits)
    if not edge.linear:
        return _supported(values, others, bits, domain)
    if len(edge.linear) == 1 and not ANY_RELATION & ~UNRELATED & ~bits:
        (one,) = edge.linear
        left = one.left == kept
        keys = {_term(one, value, not left) for value in others}
        least, greatest = min(keys, default=0), max(keys, default=0)
        wanted = one.bits if left else mirrored(one.bits)
        found = []
        for value in values if keys else ():
            key = _term(one, value, left)
            below, above = wanted & LESS and key < greatest, wanted & GREATER and key > least
            if below or above or (wanted & SAME and key in keys):
                found.append(value)
        return found
    # Several conditions on one pair: rare, so every two values are tried.
    return [
        value
        for value in values
        if any(_supported([value], [one], bits, domain) and _all_hold(edge, kept, value, one) for one in others)
    ]


def _term(one: RelatesLinearly, value: Value, left: bool) -> int | float:
    """The side of a linear comparison that a value stands on."""
    if isinstance(one.offset, Span):
        return int(value) if left else int(value) + int(one.offset)
    return float(value) if left else float(one.scale) * float(value) + float(one.offset)


def _all_hold(edge: Edge, kept: str, value: Value, other: Value) -> bool:
    for one in edge.linear:
        left, right = (value, other) if one.left == kept else (other, value)
        a, b = _term(one, left, True), _term(one, right, False)
        if not one.bits & (SAME if a == b else LESS if a < b else GREATER):
            return False
    return True


def _supported(values: Sequence[Value], others: Sequence[Value], bits: int, domain: Domain) -> list[Value]:
    """The values that have one of the relations to at least one of the others."""
    if not others:
        return []
    if domain.kind is Kind.HIERARCHICAL:
        return _supported_in_hierarchy(values, others, bits, domain)
    key = (lambda value: domain.ordinal(str(value))) if domain.stored_as is Kind.ENUMERATED else (lambda value: value)
    keys = {key(other) for other in others}
    least, greatest = min(keys), max(keys)
    return [
        value
        for value in values
        if (bits & LESS and key(value) < greatest)
        or (bits & GREATER and key(value) > least)
        or (bits & SAME and key(value) in keys)
    ]


def _supported_in_hierarchy(values: Sequence[Value], others: Sequence[Value], bits: int, domain: Domain) -> list[Value]:
    """In pre-order, a node's ancestors started before it and have not ended; its descendants lie inside it."""
    intervals = [domain.hierarchy.interval(str(other)) for other in others]
    starts, stops = sorted(start for start, _ in intervals), sorted(stop for _, stop in intervals)
    found = []
    for value in values:
        start, stop = domain.hierarchy.interval(str(value))
        before = bisect_left(starts, start)
        same = bisect_right(starts, start) - before
        above = before - bisect_right(stops, start)
        below = bisect_left(starts, stop) - before - same
        unrelated = len(others) - same - above - below
        counts = ((LESS, above), (SAME, same), (GREATER, below), (UNRELATED, unrelated))
        if any(count for bit, count in counts if bits & bit):
            found.append(value)
    return found


def _domain(catalog: Catalog, attribute: str) -> Domain:
    domain = catalog.domain_of(attribute)
    assert domain is not None
    return domain
