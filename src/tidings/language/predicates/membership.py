"""`brand in (mini, opel)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.language.operand_text import operand_text
from tidings.language.predicates.kind import Demand, Form, PredicateKind, SpaceOf, ValueIn, no_opposite
from tidings.language.ranges import union
from tidings.language.tree import In

if TYPE_CHECKING:
    from tidings.language.cursor import Cursor
    from tidings.language.scope import Scope


def _parse(cursor: Cursor, attribute: str, at: int) -> In:
    cursor.mark("(", "'('")
    values = [cursor.operand()]
    while cursor.at_mark(","):
        cursor.next += 1
        values.append(cursor.operand())
    cursor.mark(")", "',' or ')'")
    return In(attribute, tuple(dict.fromkeys(values)), at)


def _bind(node: In, scope: Scope) -> In:
    attribute, at = node.attribute, node.at
    domain = scope.domain(attribute, at)
    scope.need(domain, attribute, at, "in", "=")
    values = dict.fromkeys(scope.value(domain, attribute, value, at, "in") for value in node.values)
    return In(attribute, tuple(values), at)


def _demand(node: In, space_of: SpaceOf) -> Demand:
    space = space_of(node.attribute)
    return ValueIn(node.attribute, union(space.point(value) for value in node.values))  # type: ignore[arg-type]


IN = PredicateKind(
    node=In,
    other_attributes=(),
    forms=(Form("in", _parse, after_not=True),),
    text=lambda node: f"in ({', '.join(map(operand_text, node.values))})",
    not_inside=True,
    bind=_bind,
    opposite=no_opposite,
    chooses=True,
    demand=_demand,
)
