"""Negation normal form, then disjunctive normal form: the filter as alternatives, conjunctions of literals.

A literal is a predicate or its negation. Where another operator can express a negation, it does; `not` remains on `in`,
`between`, `contains`, `exists` and on the partial order of hierarchies.
"""

from __future__ import annotations

from itertools import chain, product

from tidings.language.errors import NormalFormTooLarge, TooManyPredicates
from tidings.language.predicates import kind_of
from tidings.language.tree import And, Node, Not, Or, Predicate, both, either
from tidings.schema.catalog import Catalog

MOST_CONJUNCTIONS = 1024
NO_LIMIT = 1 << 30  # to read a filter that was accepted before, whatever is refused now
MOST_PREDICATES = 65_536  # of all alternatives: 1,024 with 20,000 predicates each took minutes to bind
_UNCOUNTED = 10**12  # beyond it the exact count is of no use to anybody

_COMPOUND = frozenset((And, Or, Not))

Literal = Predicate | Not
Conjunction = tuple[Literal, ...]


def normal_form(tree: Node, catalog: Catalog, limit: int = MOST_CONJUNCTIONS) -> tuple[Conjunction, ...]:
    """The alternatives of a bound tree, none twice; raises LanguageError before anything is written out."""
    if type(tree) is And and _COMPOUND.isdisjoint(map(type, tree.terms)):
        return (_different(tree.terms),)  # type: ignore[arg-type]
    pushed = push_negation(tree, catalog)
    count, predicates = _count(pushed)
    if count > limit:
        raise NormalFormTooLarge("", 0, count, limit)
    if count > 1 and predicates > MOST_PREDICATES:
        raise TooManyPredicates("", 0, predicates, MOST_PREDICATES)
    # Thousands of alternatives are made of few literals: with one object for equal ones, to compare them is to compare
    # their identities. Hashing each of 65,536 literals twice took 0.1 s of the 0.2 s that a filter of 1.5 KB cost.
    return tuple({tuple(map(id, one)): one for one in _alternatives(pushed, {})}.values())


def push_negation(tree: Node, catalog: Catalog, negated: bool = False) -> Node:
    """The same filter with `not` only in front of predicates (De Morgan)."""
    match tree:
        case Not(term):
            return push_negation(term, catalog, not negated)
        case And(terms) | Or(terms):
            pushed = [push_negation(term, catalog, negated) for term in terms]
            return both(pushed) if (type(tree) is And) is not negated else either(pushed)
        case _:
            return kind_of(tree).opposite(tree, catalog) if negated else tree


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


def _alternatives(tree: Node, known: dict[Node, Node]) -> list[Conjunction]:
    match tree:
        case Or(terms):
            return [conjunction for term in terms for conjunction in _alternatives(term, known)]
        case And(terms):
            choices = product(*(_alternatives(term, known) for term in terms))
            return [_once(tuple(chain.from_iterable(choice))) for choice in choices]
        case _:
            return [(known.setdefault(tree, tree),)]  # type: ignore[list-item]


def _once(literals: Conjunction) -> Conjunction:
    """Each literal once, where equal ones are one object."""
    different = {id(literal): literal for literal in literals}
    return literals if len(different) == len(literals) else tuple(different.values())


def _different(literals: Conjunction) -> Conjunction:
    """Each literal once. Most conjunctions test every attribute once; to see that is cheaper than to hash literals."""
    attributes = {getattr(literal, "attribute", literal) for literal in literals}
    return literals if len(attributes) == len(literals) else tuple(dict.fromkeys(literals))
