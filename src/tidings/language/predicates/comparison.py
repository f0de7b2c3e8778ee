"""`price < 1300`, `price < budget`, `category under table`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.language.errors import AmbiguousWord, DoubleQuotedValue, NotComparable, NotForThisKind
from tidings.language.operand_text import operand_text, quoted
from tidings.language.predicates.kind import Demand, Form, PredicateKind, Relates, SpaceOf, ValueIn
from tidings.language.ranges import compared
from tidings.language.relations import RELATIONS
from tidings.language.tree import AttributeComparison, Comparison, Name, Node, Not, Word
from tidings.schema.catalog import Catalog
from tidings.schema.domain import COMPARISONS, Domain, Kind

if TYPE_CHECKING:
    from tidings.language.cursor import Cursor
    from tidings.language.scope import Scope

_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _parse(cursor: Cursor, attribute: str, at: int) -> Comparison:
    operator = cursor.written[cursor.next - 1]
    return Comparison(attribute, operator, cursor.operand(), at)


def _bind(node: Comparison, scope: Scope) -> Node:
    attribute, operator, value, at = node.attribute, node.operator, node.value, node.at
    domain = scope.domain(attribute, at)
    if operator == "under":
        if domain.kind is not Kind.HIERARCHICAL:
            place = scope.place_of_operator(at, "under")
            raise NotForThisKind(scope.text, place, "under", attribute, str(domain.kind), ("hierarchical",))
        scope.need(domain, attribute, at, "under", "<=")
        return Comparison(attribute, "<=", scope.value(domain, attribute, value, at, "under"), at)
    if operator not in domain.operators:  # type: ignore[operator]
        scope.need(domain, attribute, at, operator, operator)
    if type(value) is Word:
        if scope.catalog.domain_of(value.name) is not None:
            if domain.names(value.name):
                raise AmbiguousWord(scope.text, value.at, value.name, attribute)
            return _related(scope, domain, attribute, operator, value.name, at, value.at)
    elif type(value) is Name:
        if domain.names(value.name) and scope.catalog.domain_of(value.name) is None:
            raise DoubleQuotedValue(scope.text, value.at, value.name)
        return _related(scope, domain, attribute, operator, value.name, at, value.at)
    return Comparison(attribute, operator, scope.value(domain, attribute, value, at, operator), at)


def _bind_attributes(node: AttributeComparison, scope: Scope) -> Node:
    domain = scope.domain(node.attribute, node.at)
    scope.need(domain, node.attribute, node.at, node.operator, node.operator)
    return _related(scope, domain, node.attribute, node.operator, node.other, node.at, node.at)


def _related(
    scope: Scope, domain: Domain, attribute: str, operator: str, other: str, at: int, other_at: int
) -> AttributeComparison:
    other_domain = scope.domain(other, other_at)
    if domain.kind is not other_domain.kind:
        reason = f"one is {domain.kind}, the other {other_domain.kind}"
        raise NotComparable(scope.text, at, attribute, other, reason)
    if domain.kind.listed and domain is not other_domain:
        reason = f"their domains {domain.name!r} and {other_domain.name!r} have values of their own"
        raise NotComparable(scope.text, at, attribute, other, reason)
    scope.need(other_domain, other, at, operator, operator)
    return AttributeComparison(attribute, operator, other, at)


def _opposite(node: Comparison, catalog: Catalog) -> Node:
    if not _has_opposite(node.attribute, node.operator, catalog):
        return Not(node)
    return Comparison(node.attribute, _OPPOSITE[node.operator], node.value, node.at)


def _opposite_attributes(node: AttributeComparison, catalog: Catalog) -> Node:
    if not _has_opposite(node.attribute, node.operator, catalog):
        return Not(node)
    return AttributeComparison(node.attribute, _OPPOSITE[node.operator], node.other, node.at)


def _has_opposite(attribute: str, operator: str, catalog: Catalog) -> bool:
    domain = catalog.domain_of(attribute)
    return operator in ("=", "!=") or (domain is not None and domain.kind.totally_ordered)


def _demand(node: Comparison, space_of: SpaceOf) -> Demand:
    return ValueIn(node.attribute, compared(node.operator, node.value, space_of(node.attribute)))  # type: ignore[arg-type]


def _demand_attributes(node: AttributeComparison, space_of: SpaceOf) -> Demand:
    return Relates(node.attribute, node.other, RELATIONS[node.operator])


COMPARISON = PredicateKind(
    node=Comparison,
    other_attributes=(),
    forms=(*(Form(sign, _parse, after_not=False) for sign in COMPARISONS), Form("under", _parse, after_not=True)),
    text=lambda node: f"{node.operator} {operand_text(node.value)}",
    not_inside=False,
    bind=_bind,
    opposite=_opposite,
    chooses=True,
    demand=_demand,
)
ATTRIBUTE_COMPARISON = PredicateKind(
    node=AttributeComparison,
    other_attributes=("other",),
    forms=(),
    text=lambda node: f"{node.operator} {quoted(node.other)}",
    not_inside=False,
    bind=_bind_attributes,
    opposite=_opposite_attributes,
    chooses=True,
    demand=_demand_attributes,
)
