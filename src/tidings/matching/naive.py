"""The specification of when an event matches a filter. Every other matcher must give the same answers.

An event matches when **one** choice of a value per attribute makes the filter true. Comparisons test the chosen value;
`contains` and `exists` test all values. A predicate on an attribute that is not bound is false, negated or not, except
`not (A exists)`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from itertools import product
from typing import assert_never

from tidings.documents.selection import selected
from tidings.documents.tree import read_tree
from tidings.events.event import NOW, POSITION, Bindings
from tidings.language.dialects import passes_dialect
from tidings.language.like import fits, pattern_of
from tidings.language.normal_form import push_negation
from tidings.language.patterns.meaning import holds as satisfies_pattern
from tidings.language.predicates import attributes_of, chosen_attributes
from tidings.language.similarity import TOLERANCE, cosine
from tidings.language.tree import (
    And,
    AttributeComparison,
    Between,
    Comparison,
    Contains,
    ContainsPattern,
    ContainsWords,
    Exists,
    In,
    InDialect,
    Inside,
    Like,
    LinearComparison,
    Near,
    Node,
    Not,
    NowComparison,
    Or,
    Predicate,
    Similar,
    XPath,
)
from tidings.language.words import words_of
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Domain, Kind
from tidings.schema.region import METRES, distance, is_inside
from tidings.schema.statistics import Statistics
from tidings.schema.values import Place, Span, Value

Choice = dict[str, Value]

COMPARE = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def matches(tree: Node, event: Bindings, catalog: Catalog) -> bool:
    """Whether some choice of values makes the bound tree true."""
    pushed = push_negation(tree, catalog)
    return any(holds(pushed, event, chosen, catalog) for chosen in choices(pushed, event))


def holds(node: Node, event: Bindings, chosen: Choice, catalog: Catalog) -> bool:
    """Whether the node is true for the event with these values chosen; only predicates are negated."""
    match node:
        case And(terms):
            return all(holds(term, event, chosen, catalog) for term in terms)
        case Or(terms):
            return any(holds(term, event, chosen, catalog) for term in terms)
        case Not(Exists(attribute)):
            return attribute not in event
        case Not(predicate):
            assert not isinstance(predicate, And | Or | Not)
            return _all_bound(predicate, event) and not satisfies(predicate, event, chosen, catalog)
        case _:
            return _all_bound(node, event) and satisfies(node, event, chosen, catalog)


def _all_bound(predicate: Predicate, event: Bindings) -> bool:
    return all(name in event for name in attributes_of(predicate))


def satisfies(predicate: Predicate, event: Bindings, chosen: Choice, catalog: Catalog) -> bool:
    """Whether the predicate is true for an event that binds its attributes, with these values chosen."""
    match predicate:
        case Comparison(attribute, relation, value):
            return stands(chosen[attribute], relation, value, catalog.domain_of(attribute))  # type: ignore[arg-type]
        case AttributeComparison(left, relation, right):
            return stands(chosen[left], relation, chosen[right], catalog.domain_of(left))
        case LinearComparison(left, relation, scale, other, offset):
            assert isinstance(other, str)
            if isinstance(offset, Span):
                return bool(COMPARE[relation](int(chosen[left]), int(chosen[other]) + int(offset)))
            return bool(COMPARE[relation](float(chosen[left]), float(scale) * float(chosen[other]) + float(offset)))
        case NowComparison(attribute, relation, offset):
            return NOW in event and bool(COMPARE[relation](int(chosen[attribute]) - int(event[NOW][0]), int(offset)))
        case Near(attribute, centre, far, unit):
            return distance(*centre.degrees, *Place(chosen[attribute]).degrees) <= float(far) * METRES[unit]
        case Inside(attribute, corners):
            return is_inside(*Place(chosen[attribute]).degrees, *map(float, corners))
        case Between(attribute, low, high):
            value, domain = chosen[attribute], catalog.domain_of(attribute)
            return stands(value, ">=", low, domain) and stands(value, "<=", high, domain)  # type: ignore[arg-type]
        case In(attribute, values):
            return chosen[attribute] in values
        case Like(attribute, form, text):
            return fits(pattern_of(form, text), str(chosen[attribute]))
        case Contains(attribute, value):
            return value in event[attribute]
        case ContainsWords(attribute, quantifier, words):
            wanted = any if quantifier == "any" else all
            found = [set(words_of(str(value))) for value in event[attribute]]
            return any(wanted(word in present for word in words) for present in found)
        case ContainsPattern(attribute, pattern):
            domain = catalog.domain_of(attribute)
            assert domain is not None
            texts = [words_of(str(value)) for value in event[attribute]]
            return any(satisfies_pattern(pattern, text, domain.language) for text in texts)
        case Similar(attribute, text, least):
            domain = catalog.domain_of(attribute)
            known = statistics_for(attribute, event, catalog)
            assert domain is not None
            return any(
                cosine(text, str(value), domain.language, known) >= least - TOLERANCE for value in event[attribute]
            )
        case XPath(attribute, _, path):
            assert path is not None  # it is bound
            return any(selected(path, read_tree(str(value))) for value in event[attribute])
        case Exists():
            return True
        case InDialect(attribute, stage=stage):
            return stage == "translated" or passes_dialect(predicate, event, str(chosen[attribute]))
        case _:
            assert_never(predicate)


def statistics_for(attribute: str, event: Bindings, catalog: Catalog) -> Statistics:
    """Those at the event's position; the newest where it has none."""
    return catalog.statistics_of(attribute, int(event[POSITION][0]) if POSITION in event else None)


def stands(left: Value, relation: str, right: Value, domain: Domain | None) -> bool:
    """Whether two values have the relation, by the order of their domain."""
    assert domain is not None
    if relation in ("=", "!="):
        return bool(COMPARE[relation](left, right))
    if domain.kind is Kind.HIERARCHICAL:
        below, above = (left, right) if relation.startswith("<") else (right, left)
        start, stop = domain.hierarchy.interval(str(above))
        inside = start <= domain.hierarchy.number(str(below)) < stop
        return inside and (relation.endswith("=") or left != right)
    if domain.kind is Kind.ENUMERATED:
        return bool(COMPARE[relation](domain.ordinal(str(left)), domain.ordinal(str(right))))
    return bool(COMPARE[relation](left, right))


def choices(tree: Node, event: Bindings) -> Iterator[Choice]:
    """Every choice of one value for each bound attribute that the tree compares."""
    names = [name for name in compared(tree) if name in event]
    for values in product(*(event[name] for name in names)):
        yield dict(zip(names, values, strict=True))


def compared(node: Node) -> tuple[str, ...]:
    """The attributes that the tree compares by value."""
    match node:
        case And(terms) | Or(terms):
            return tuple(dict.fromkeys(name for term in terms for name in compared(term)))
        case Not(term):
            return compared(term)
        case _:
            return chosen_attributes(node)
