"""Values of attributes that are compared with each other, as a graph: whether one value of each can be chosen so that
all comparisons hold.

Attributes are nodes, compared pairs are edges. From the leaves inwards, every value without a counterpart is removed
(arc consistency), which is exact if the edges form a forest. The counterparts of a value are an interval of the sorted
values at the other end, also under arithmetic: `c * b + d`, as rounded, never decreases while b increases, or never
increases. `!=` cuts a gap into the interval. So an edge with m comparisons takes m n log n steps for n values. A cycle
of three attributes is searched by iterating over the values of one: n² log n. Longer cycles, and those with arithmetic,
are refused when a filter is bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.language.predicates.kind import RelatesLinearly
from tidings.language.relations import ANY_RELATION, GREATER, LESS, SAME, UNRELATED, mirrored
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Domain, Kind
from tidings.schema.values import Span, Value

Keys = npt.NDArray[Any]  # of one attribute, ascending; in a hierarchy (n, 2): pre-order intervals
Mask = npt.NDArray[np.bool_]

_MOST_AT_ONCE = 1 << 20  # values times comparisons, for the memory that they take


class Edge(NamedTuple):
    """The allowed relations of a pair, and those to the right value times a number plus another."""

    bits: int = ANY_RELATION
    linear: tuple[RelatesLinearly, ...] = ()


Edges = dict[tuple[str, str], Edge]  # by pair of attributes, their names in order


def consistent(values: Mapping[str, Sequence[Value]], edges: Edges, catalog: Catalog) -> bool:
    """Whether values can be chosen that satisfy all edges. Consumes the edges."""
    keys = _keys({name for pair in edges for name in pair}, values, catalog)
    while edges:
        degree: dict[str, int] = {}
        for pair in edges:
            for name in pair:
                degree[name] = degree.get(name, 0) + 1
        leaf = next((pair for pair in edges if 1 in (degree[pair[0]], degree[pair[1]])), None)
        if leaf is not None:
            end, kept = leaf if degree[leaf[0]] == 1 else leaf[::-1]
            possible = _supported(kept, end, keys, edges)
            del edges[leaf]
        else:
            kept, second, third = _triangle(edges, degree)
            possible = _completed(kept, second, third, keys, edges)
            for pair in ((kept, second), (kept, third), (second, third)):
                del edges[min(pair), max(pair)]
        keys[kept] = keys[kept][possible]
        if not len(keys[kept]):
            return False
    return True


def _keys(names: set[str], values: Mapping[str, Sequence[Value]], catalog: Catalog) -> dict[str, Keys]:
    domains = {name: catalog.domain_of(name) for name in names}
    texts = {str(value) for name, domain in domains.items() if _is_text(domain) for value in values[name]}
    ranks = {text: rank for rank, text in enumerate(sorted(texts))}
    return {name: _sorted(domain, values[name], ranks) for name, domain in domains.items()}


def _is_text(domain: Domain | None) -> bool:
    assert domain is not None
    return domain.stored_as in (Kind.STRING, Kind.TEXT)


def _sorted(domain: Domain | None, values: Sequence[Value], ranks: Mapping[str, int]) -> Keys:
    assert domain is not None
    if _is_text(domain):
        return np.array(sorted(ranks[str(value)] for value in values), np.int64)
    match domain.kind:
        case Kind.HIERARCHICAL:
            return np.array(sorted(domain.hierarchy.interval(str(value)) for value in values), np.int64)
        case Kind.ENUMERATED:
            return np.array(sorted(domain.ordinal(str(value)) for value in values), np.int64)
        case _:
            return np.sort(np.array(values, np.int64 if domain.kind is Kind.TIME else np.float64))


def _triangle(edges: Edges, degree: dict[str, int]) -> tuple[str, str, str]:
    """A cycle of three attributes, of which only the first may be compared with others, too."""
    for second, third in edges:
        if degree[second] == degree[third] == 2:
            (kept,) = {name for pair in edges if second in pair for name in pair} - {second, third}
            if (min(kept, third), max(kept, third)) in edges:
                return kept, second, third
    raise AssertionError("the filter compares more than three attributes in a cycle")


def _supported(kept: str, other: str, keys: dict[str, Keys], edges: Edges) -> Mask:
    """Which values of one attribute have a counterpart at the other end of an edge."""
    count, of_kept = len(keys[other]), keys[kept]
    if of_kept.ndim == 2:
        return _supported_in_hierarchy(of_kept, keys[other], _bits(edges, kept, other))
    step = _MOST_AT_ONCE // (1 + len(edges[min(kept, other), max(kept, other)].linear))
    if len(of_kept) > step:
        parts = ({**keys, kept: of_kept[start : start + step]} for start in range(0, len(of_kept), step))
        return np.concatenate([_supported(kept, other, part, edges) for part in parts])
    low, high = np.zeros(len(of_kept), np.int64), np.full(len(of_kept), count)
    gaps = [np.zeros((2, 0, len(low)), np.int64)]
    for bits, ours, theirs in _comparisons(kept, other, keys, edges):
        if count and theirs[0] > theirs[-1]:
            bits, ours, theirs = mirrored(bits), -ours, -theirs
        first, last = np.searchsorted(theirs, ours, "left"), np.searchsorted(theirs, ours, "right")
        if not bits & GREATER:
            low = np.maximum(low, first if bits & SAME else last)
        if not bits & LESS:
            high = np.minimum(high, last if bits & SAME else first)
        if bits & (LESS | SAME | GREATER) == LESS | GREATER:
            gaps.append(np.stack((first, last))[:, None])
    starts, stops = np.concatenate(gaps, axis=1)
    order = np.argsort(starts, axis=0)
    for start, stop in zip(*(np.take_along_axis(ends, order, axis=0) for ends in (starts, stops)), strict=True):
        low = np.where(low < start, low, np.maximum(low, stop))
    possible: Mask = low < high
    return possible


def _supported_in_hierarchy(ours: Keys, theirs: Keys, bits: int) -> Mask:
    """In pre-order, a node's ancestors started before it and have not ended; its descendants lie inside it."""
    starts, stops = theirs[:, 0], np.sort(theirs[:, 1])
    before = np.searchsorted(starts, ours[:, 0], "left")
    same = np.searchsorted(starts, ours[:, 0], "right") - before
    above = before - np.searchsorted(stops, ours[:, 0], "right")
    below = np.searchsorted(starts, ours[:, 1], "left") - before - same
    unrelated = len(starts) - same - above - below
    counts = ((LESS, above), (SAME, same), (GREATER, below), (UNRELATED, unrelated))
    possible: Mask = np.sum([count for bit, count in counts if bits & bit], axis=0) > 0
    return np.broadcast_to(possible, len(ours))


def _completed(kept: str, second: str, third: str, keys: dict[str, Keys], edges: Edges) -> Mask:
    """Which values of the first attribute have compatible values of the second and the third."""
    possible = np.zeros(len(keys[kept]), np.bool_)
    for place in range(len(possible)):
        one = {**keys, kept: keys[kept][place : place + 1]}
        for other in (second, third):
            one[other] = keys[other][_supported(other, kept, one, edges)]
        possible[place] = _supported(second, third, one, edges).any()
    return possible


def _bits(edges: Edges, one: str, other: str) -> int:
    """The allowed relations of a value of one attribute to a value of the other."""
    bits = edges[min(one, other), max(one, other)].bits
    return bits if one < other else mirrored(bits)


def _comparisons(one: str, other: str, keys: dict[str, Keys], edges: Edges) -> list[tuple[int, Keys, Keys]]:
    """The allowed relations of one attribute to another in a total order, with what is compared of both: ascending, or
    descending."""
    bits, found = _bits(edges, one, other), []
    if ANY_RELATION & ~UNRELATED & ~bits:
        found.append((bits, keys[one], keys[other]))
    for comparison in edges[min(one, other), max(one, other)].linear:
        if comparison.left == one:
            found.append((comparison.bits, keys[one], _computed(comparison, keys[other])))
        else:
            found.append((mirrored(comparison.bits), _computed(comparison, keys[one]), keys[other]))
    return found


def _computed(comparison: RelatesLinearly, right: Keys) -> Keys:
    """The right side of a comparison, rounded as in the specification."""
    if isinstance(comparison.offset, Span):
        return right + int(comparison.offset)
    with np.errstate(over="ignore"):  # infinities compare like large numbers
        computed: Keys = float(comparison.scale) * right + float(comparison.offset)
    return computed
