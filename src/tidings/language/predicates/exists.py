"""`discount exists`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.language.predicates.kind import Demand, Form, IsBound, PredicateKind, SpaceOf, no_opposite
from tidings.language.tree import Exists

if TYPE_CHECKING:
    from tidings.language.cursor import Cursor
    from tidings.language.scope import Scope


def _parse(cursor: Cursor, attribute: str, at: int) -> Exists:
    return Exists(attribute, at)


def _bind(node: Exists, scope: Scope) -> Exists:
    scope.domain(node.attribute, node.at)
    return node


def _demand(node: Exists, space_of: SpaceOf) -> Demand:
    return IsBound(node.attribute)


EXISTS = PredicateKind(
    node=Exists,
    other_attributes=(),
    forms=(Form("exists", _parse, after_not=False),),
    text=lambda node: "exists",
    not_inside=False,
    bind=_bind,
    opposite=no_opposite,
    chooses=False,
    demand=_demand,
)
