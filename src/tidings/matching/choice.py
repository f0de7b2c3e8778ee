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

from tidings.events.event import Bindings
from tidings.language.constraints import demand_of
from tidings.language.normal_form import Conjunction, Literal
from tidings.language.predicates.kind import Relates
from tidings.language.ranges import attribute_space
from tidings.language.relations import ANY_RELATION, GREATER, LESS, SAME, UNRELATED, mirrored
from tidings.matching.naive import compared, holds
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Domain, Kind
from tidings.schema.values import Value

Values = dict[str, list[Value]]  # candidates by attribute
Edges = dict[tuple[str, str], int]  # allowed relations by pair of attributes


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
            if not holds(literal, event, {}, catalog):
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


def _relate(edges: Edges, literal: Literal, catalog: Catalog) -> None:
    demand = demand_of(literal, lambda attribute: attribute_space(attribute, catalog))
    if not isinstance(demand, Relates):
        raise TypeError(f"{literal!r} speaks of several attributes but demands no relation between them")
    left, right, bits = demand
    if left > right:
        left, right, bits = right, left, mirrored(bits)
    edges[left, right] = edges.get((left, right), ANY_RELATION) & bits


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
            values[kept] = _supported(values[kept], values[end], _bits(edges, kept, end), _domain(catalog, kept))
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
    seconds = _supported(values[second], [value], _bits(edges, second, kept), domain)
    thirds = _supported(values[third], [value], _bits(edges, third, kept), domain)
    return bool(_supported(seconds, thirds, _bits(edges, second, third), domain))


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


def _bits(edges: Edges, left: str, right: str) -> int:
    return edges[left, right] if left < right else mirrored(edges[right, left])


def _domain(catalog: Catalog, attribute: str) -> Domain:
    domain = catalog.domain_of(attribute)
    assert domain is not None
    return domain
