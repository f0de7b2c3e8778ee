"""Negation normal form, then disjunctive normal form: the filter as alternatives, conjunctions of literals.

A literal is a predicate or the negation of one. Where a negation can be said by another operator it is;
`not` stays on `in`, `between`, `contains`, `exists` and on the partial order of hierarchies.
"""

from __future__ import annotations

from itertools import chain, product

from tidings.language.errors import NormalFormTooLarge, TooManyPredicates
from tidings.language.tree import And, AttributeComparison, Comparison, Node, Not, Or, Predicate, both, either
from tidings.schema.catalog import Catalog

MOST_CONJUNCTIONS = 1024
MOST_PREDICATES = 65_536  # of all alternatives: 1,024 with 20,000 predicates each took minutes to bind
_UNCOUNTED = 10**12  # beyond it the exact count is of no use to anybody

Literal = Predicate | Not
Conjunction = tuple[Literal, ...]

_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def normal_form(tree: Node, catalog: Catalog, limit: int = MOST_CONJUNCTIONS) -> tuple[Conjunction, ...]:
    """The alternatives of a bound tree, none twice; raises LanguageError before anything is written out."""
    if type(tree) is And and not any(type(term) in (And, Or, Not) for term in tree.terms):
        return (tuple(dict.fromkeys(tree.terms)),)  # type: ignore[arg-type]
    pushed = push_negation(tree, catalog)
    count, predicates = _count(pushed)
    if count > limit:
        raise NormalFormTooLarge("", 0, count, limit)
    if count > 1 and predicates > MOST_PREDICATES:
        raise TooManyPredicates("", 0, predicates, MOST_PREDICATES)
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
        case AttributeComparison(left, operator, right, at) if _has_opposite(left, operator, catalog):
            return AttributeComparison(left, _OPPOSITE[operator], right, at)
        case _:
            return Not(tree)


def _has_opposite(attribute: str, operator: str, catalog: Catalog) -> bool:
    if operator in ("=", "!="):
        return True
    domain = catalog.domain_of(attribute)
    return domain is not None and domain.totally_ordered


def _count(tree: Node) -> tuple[int, int]:
    """How many alternatives there are, and predicates in all of them together, without making them."""
    match tree:
        case Or(terms):
            counts = [_count(term) for term in terms]
            return sum(count for count, _ in counts), sum(predicates for _, predicates in counts)
        case And(terms):
            total, long = 1, 0
            for count, predicates in map(_count, terms):
                total, long = (
                    min(total * count, _UNCOUNTED),
                    min(long * count + total * predicates, _UNCOUNTED),
                )
            return total, long
        case _:
            return 1, 1


def _alternatives(tree: Node) -> list[Conjunction]:
    match tree:
        case Or(terms):
            return [conjunction for term in terms for conjunction in _alternatives(term)]
        case And(terms):
            choices = product(*(_alternatives(term) for term in terms))
            return [tuple(dict.fromkeys(chain.from_iterable(choice))) for choice in choices]
        case _:
            return [(tree,)]
