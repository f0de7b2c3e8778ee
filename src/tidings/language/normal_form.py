"""Negation normal form, then disjunctive normal form: the filter as alternatives, each a conjunction of literals.

A literal is a predicate or the negation of one. Where a negation can be said by another operator it is; `not` stays on
`in`, `between`, `contains`, `exists` and on the partial order of hierarchies.
"""

from __future__ import annotations

from itertools import product

from tidings.language.errors import NormalFormTooLarge
from tidings.language.tree import And, AttributeComparison, Comparison, Node, Not, Or, Predicate, both, either
from tidings.schema.catalog import Catalog

MOST_CONJUNCTIONS = 1024

Literal = Predicate | Not
Conjunction = tuple[Literal, ...]

_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def normal_form(tree: Node, catalog: Catalog, limit: int = MOST_CONJUNCTIONS) -> tuple[Conjunction, ...]:
    """The alternatives of a bound tree, none twice; raises NormalFormTooLarge before anything is written out."""
    if type(tree) is And and not any(type(term) in (And, Or, Not) for term in tree.terms):
        return (tuple(dict.fromkeys(tree.terms)),)  # type: ignore[arg-type]
    pushed = push_negation(tree, catalog)
    if (count := _count(pushed)) > limit:
        raise NormalFormTooLarge("", 0, count, limit)
    return tuple(dict.fromkeys(_alternatives(pushed)))


def push_negation(tree: Node, catalog: Catalog, negated: bool = False) -> Node:
    """The same filter with `not` only in front of predicates (De Morgan)."""
    match tree:
        case Not(term):
            return push_negation(term, catalog, not negated)
        case And(terms) | Or(terms):
            pushed = [push_negation(term, catalog, negated) for term in terms]
            return both(pushed) if (type(tree) is And) is not negated else either(pushed)
        case _ if not negated:
            return tree
        case Comparison(attribute, operator, value, at) if _has_opposite(attribute, operator, catalog):
            return Comparison(attribute, _OPPOSITE[operator], value, at)
        case AttributeComparison(attribute, operator, other, at) if _has_opposite(attribute, operator, catalog):
            return AttributeComparison(attribute, _OPPOSITE[operator], other, at)
        case _:
            return Not(tree)


def _has_opposite(attribute: str, operator: str, catalog: Catalog) -> bool:
    if operator in ("=", "!="):
        return True
    domain = catalog.domain_of(attribute)
    return domain is not None and domain.totally_ordered


def _count(tree: Node) -> int:
    """How many alternatives there are, without making them."""
    match tree:
        case Or(terms):
            return sum(_count(term) for term in terms)
        case And(terms):
            total = 1
            for term in terms:
                total *= _count(term)
            return total
        case _:
            return 1


def _alternatives(tree: Node) -> list[Conjunction]:
    match tree:
        case Or(terms):
            return [conjunction for term in terms for conjunction in _alternatives(term)]
        case And(terms):
            choices = product(*(_alternatives(term) for term in terms))
            return [tuple(dict.fromkeys(literal for part in choice for literal in part)) for choice in choices]
        case _:
            return [(tree,)]  # type: ignore[list-item]
