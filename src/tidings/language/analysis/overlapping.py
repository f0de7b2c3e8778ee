"""Overlapping: may some event match both filters? Used where a wrong yes costs traffic and a wrong no loses events.

The two filters may choose different values of an attribute that has several, so of such an attribute only that it is
bound counts. Comparisons with the time of acceptance count neither: each server has its own clock.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidings.errors import expect
from tidings.language.analysis.constraints import constraints_of
from tidings.language.analysis.satisfiability import for_one_value, impossible, never_matches
from tidings.language.filter import Filter
from tidings.language.normal_form import Conjunction, Literal
from tidings.language.predicates import attributes_of
from tidings.language.tree import Contains, Exists, Not, NowComparison, XPath
from tidings.schema.catalog import Catalog


def overlaps(left: Filter, right: Filter, catalog: Catalog) -> bool:
    """False only when no event can match both."""
    for name, filter in (("left", left), ("right", right)):
        expect(filter, Filter, "overlaps", name, "a Filter (Filter.parse takes a text)")
    expect(catalog, Catalog, "overlaps", "catalog", "a tidings.Schema")
    ours, theirs = ([one for one in side.conjunctions if not never_matches(one, catalog)] for side in (left, right))
    return any(not _exclude(one, other, catalog) for one in ours for other in theirs)


def _exclude(one: Conjunction, other: Conjunction, catalog: Catalog) -> bool:
    shared = [demand for literal in (*one, *other) for demand in _whatever_is_chosen(literal, catalog)]
    return impossible(constraints_of(tuple(shared), catalog))


def _whatever_is_chosen(literal: Literal, catalog: Catalog) -> Iterator[Literal]:
    """What the literal demands of an event, whichever values are chosen."""
    predicate = literal.term if isinstance(literal, Not) else literal
    attributes = attributes_of(literal)
    if isinstance(predicate, Exists | Contains):
        yield for_one_value(literal, catalog)
    elif isinstance(predicate, XPath):
        yield literal  # it speaks of all documents
    elif isinstance(predicate, NowComparison) or any(map(catalog.may_be_multiple, attributes)):
        yield from map(Exists, attributes)
    else:
        yield literal
