"""When an expression is true and when it is false, as conditions of the core language.

A condition may say too much (every event for which the expression is true satisfies it, and others may), never too
little; `exact` where it says neither. Errors are what remains: neither true nor false.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tidings.language.tree import And, Node, Not, Or, both, either

MOST_PREDICATES = 400  # a condition with more says nothing instead: the expression is evaluated on every event


class Side(NamedTuple):
    """`node` may also be a bool: always, or never."""

    node: Node | bool
    exact: bool = True

    def weakened(self) -> Side:
        return Side(self.node, exact=False)


ALWAYS, NEVER = Side(True), Side(False)
ANYTHING = Side(True, exact=False)  # says nothing


class Verdict(NamedTuple):
    """When the expression is true, and when it is false, both without an error."""

    true: Side
    false: Side

    def reversed(self) -> Verdict:
        return Verdict(self.false, self.true)


def all_of(sides: Iterable[Side]) -> Side:
    found = list(sides)
    if any(side.node is False for side in found):
        return NEVER
    nodes = [side.node for side in found if not isinstance(side.node, bool)]
    exact = all(side.exact for side in found)
    return _bounded(Side(both(_different(nodes, And)) if nodes else True, exact))


def any_of(sides: Iterable[Side]) -> Side:
    found = [side for side in sides if side.node is not False]
    if any(side.node is True for side in found):
        return ALWAYS if ALWAYS in found else ANYTHING
    nodes = [side.node for side in found if not isinstance(side.node, bool)]
    exact = all(side.exact for side in found)
    return _bounded(Side(either(_different(nodes, Or)), exact)) if nodes else NEVER


def _different(nodes: Iterable[Node], kind: type[And] | type[Or]) -> list[Node]:
    """Each term once, with those of the same kind opened up."""
    flat = (term for node in nodes for term in (node.terms if isinstance(node, kind) else (node,)))
    return list(dict.fromkeys(flat))


def _bounded(side: Side) -> Side:
    if isinstance(side.node, bool) or size(side.node) <= MOST_PREDICATES:
        return side
    return ANYTHING


def size(node: Node) -> int:
    """How many predicates it has. The combinators make no deep trees: like stands beside like."""
    match node:
        case And(terms) | Or(terms):
            return sum(map(size, terms))
        case Not(term):
            return size(term)
        case _:
            return 1
