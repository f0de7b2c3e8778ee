"""`price between 10 and 20`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.language.operand_text import operand_text
from tidings.language.predicates.kind import Demand, Form, PredicateKind, SpaceOf, ValueIn, no_opposite
from tidings.language.ranges import compared, intersect
from tidings.language.tree import Between

if TYPE_CHECKING:
    from tidings.language.cursor import Cursor
    from tidings.language.scope import Scope


def _parse(cursor: Cursor, attribute: str, at: int) -> Between:
    low = cursor.operand()
    if not cursor.keyword("and"):
        cursor.unexpected("'and'")
    return Between(attribute, low, cursor.operand(), at)


def _bind(node: Between, scope: Scope) -> Between:
    attribute, at = node.attribute, node.at
    domain = scope.domain(attribute, at)
    scope.need(domain, attribute, at, "between", ">=", "<=")
    low, high = (scope.value(domain, attribute, bound, at, "between") for bound in (node.low, node.high))
    return Between(attribute, low, high, at)


def _demand(node: Between, space_of: SpaceOf) -> Demand:
    space = space_of(node.attribute)
    return ValueIn(node.attribute, intersect(compared(">=", node.low, space), compared("<=", node.high, space)))  # type: ignore[arg-type]


BETWEEN = PredicateKind(
    node=Between,
    other_attributes=(),
    forms=(Form("between", _parse, after_not=True),),
    text=lambda node: f"between {operand_text(node.low)} and {operand_text(node.high)}",
    not_inside=True,
    bind=_bind,
    opposite=no_opposite,
    chooses=True,
    demand=_demand,
)
