"""`price < 1300`, `price < budget`, `price < 1.1 * budget + 5`, `ends < now + 2 h`, `category under table`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidings.language.errors import (
    AmbiguousWord,
    DoubleQuotedValue,
    NotComparable,
    NotForThisKind,
    ValueOutsideDomain,
    WrongSummand,
)
from tidings.language.operand_text import operand_text, quoted, summand_text
from tidings.language.predicates.kind import (
    AheadIn,
    Demand,
    Form,
    PredicateKind,
    Relates,
    RelatesLinearly,
    SpaceOf,
    ValueIn,
)
from tidings.language.ranges import AHEAD, compared
from tidings.language.relations import RELATIONS
from tidings.language.tree import (
    AttributeComparison,
    Comparison,
    LinearComparison,
    Name,
    Node,
    Not,
    NowComparison,
    Word,
)
from tidings.schema.catalog import Catalog
from tidings.schema.domain import COMPARISONS, Domain, Kind
from tidings.schema.values import Span, number

if TYPE_CHECKING:
    from tidings.language.cursor import Cursor
    from tidings.language.scope import Scope

NOW = "now"  # on the right of a time; an attribute of that name is written in double quotes
_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _parse(cursor: Cursor, attribute: str, at: int) -> Comparison | LinearComparison:
    operator = cursor.written[cursor.next - 1]
    value = cursor.operand()
    scale = None
    if isinstance(value, int | float) and cursor.at_mark("*"):
        cursor.next += 1
        scale, value = value, cursor.operand()
        if not isinstance(value, Word | Name):
            cursor.next -= 1
            cursor.unexpected("an attribute after '*'")
    if isinstance(value, Word | Name):
        offset = cursor.summand()
        if scale is not None or offset is not None:
            return LinearComparison(attribute, operator, 1 if scale is None else scale, value, offset or 0, at)
    return Comparison(attribute, operator, value, at)


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
        if domain.kind is Kind.TIME and value.name.lower() == NOW:
            return NowComparison(attribute, operator, Span(0), at)
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
        reason = f"their domains {domain.name!r} and {other_domain.name!r} have different values"
        raise NotComparable(scope.text, at, attribute, other, reason)
    scope.need(other_domain, other, at, operator, operator)
    return AttributeComparison(attribute, operator, other, at)


def _bind_linear(node: LinearComparison, scope: Scope) -> Node:
    attribute, operator, other, at = node.attribute, node.operator, node.other, node.at
    domain = scope.domain(attribute, at)
    place = other.at if isinstance(other, Word | Name) else at
    if domain.kind not in (Kind.NUMERIC, Kind.TIME) or (domain.kind is Kind.TIME and node.scale != 1):
        sign, needed = ("*", ("numeric",)) if node.scale != 1 else ("+", ("numeric", "time"))
        raise NotForThisKind(scope.text, place, sign, attribute, str(domain.kind), needed)
    if (domain.kind is Kind.TIME) is not isinstance(node.offset, Span) and node.offset:
        raise WrongSummand(scope.text, place, attribute, str(domain.kind))
    if operator == "under":
        raise NotForThisKind(
            scope.text, scope.place_of_operator(at, "under"), "under", attribute, str(domain.kind), ("hierarchical",)
        )
    scope.need(domain, attribute, at, operator, operator)
    if domain.kind is Kind.TIME and isinstance(other, Word) and other.name.lower() == NOW:
        return NowComparison(attribute, operator, Span(node.offset), at)
    try:
        scale, offset = number(node.scale), node.offset if isinstance(node.offset, Span) else number(node.offset)
    except ValueError as problem:
        raise ValueOutsideDomain(scope.text, place, attribute, node.scale, str(problem)) from None
    name = other if isinstance(other, str) else other.name
    related = _related(scope, domain, attribute, operator, name, at, place)
    if scale == 1 and not offset:
        return related
    return LinearComparison(attribute, operator, scale, name, offset, at)


def _bind_now(node: NowComparison, scope: Scope) -> Node:
    domain = scope.domain(node.attribute, node.at)
    scope.need(domain, node.attribute, node.at, node.operator, node.operator)
    return node


def _opposite(node: Comparison, catalog: Catalog) -> Node:
    if not _has_opposite(node.attribute, node.operator, catalog):
        return Not(node)
    return Comparison(node.attribute, _OPPOSITE[node.operator], node.value, node.at)


def _opposite_attributes(node: AttributeComparison, catalog: Catalog) -> Node:
    if not _has_opposite(node.attribute, node.operator, catalog):
        return Not(node)
    return AttributeComparison(node.attribute, _OPPOSITE[node.operator], node.other, node.at)


def _opposite_sign(node: LinearComparison | NowComparison, catalog: Catalog) -> Node:
    return replace(node, operator=_OPPOSITE[node.operator])


def _has_opposite(attribute: str, operator: str, catalog: Catalog) -> bool:
    domain = catalog.domain_of(attribute)
    return operator in ("=", "!=") or (domain is not None and domain.kind.totally_ordered)


def _demand(node: Comparison, space_of: SpaceOf) -> Demand:
    return ValueIn(node.attribute, compared(node.operator, node.value, space_of(node.attribute)))  # type: ignore[arg-type]


def _demand_attributes(node: AttributeComparison, space_of: SpaceOf) -> Demand:
    return Relates(node.attribute, node.other, RELATIONS[node.operator])


def _demand_linear(node: LinearComparison, space_of: SpaceOf) -> Demand:
    assert isinstance(node.other, str)
    return RelatesLinearly(node.attribute, node.other, RELATIONS[node.operator], node.scale, node.offset)


def _demand_now(node: NowComparison, space_of: SpaceOf) -> Demand:
    return AheadIn(node.attribute, compared(node.operator, node.offset, AHEAD))


def _linear_text(node: LinearComparison) -> str:
    assert isinstance(node.other, str)
    factor = "" if node.scale == 1 else f"{node.scale!r} * "
    return f"{node.operator} {factor}{quoted(node.other)}{summand_text(node.offset)}"


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
LINEAR_COMPARISON = PredicateKind(
    node=LinearComparison,
    other_attributes=("other",),
    forms=(),
    text=_linear_text,
    not_inside=False,
    bind=_bind_linear,
    opposite=_opposite_sign,
    chooses=True,
    demand=_demand_linear,
)
NOW_COMPARISON = PredicateKind(
    node=NowComparison,
    other_attributes=(),
    forms=(),
    text=lambda node: f"{node.operator} {NOW}{summand_text(node.offset)}",
    not_inside=False,
    bind=_bind_now,
    opposite=_opposite_sign,
    chooses=True,
    demand=_demand_now,
)
