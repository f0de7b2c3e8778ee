"""`title starts with 'The'`, `file ends with '.pdf'`, `title like '%red_mini%'`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.language.errors import FinalBackslash, NotForThisKind, SegmentTooLong
from tidings.language.like import LONGEST_SOUGHT, pattern_of
from tidings.language.operand_text import operand_text
from tidings.language.predicates.kind import Demand, EndIn, Fits, Form, PredicateKind, SpaceOf, ValueIn, no_opposite
from tidings.language.ranges import beginning_with
from tidings.language.tree import Like
from tidings.schema.domain import Kind

if TYPE_CHECKING:
    from tidings.language.cursor import Cursor
    from tidings.language.scope import Scope

_WRITTEN = {"starts": "starts with", "ends": "ends with", "like": "like"}


def _parse(cursor: Cursor, attribute: str, at: int) -> Like:
    form = cursor.written[cursor.next - 1].lower()
    if form != "like":
        if cursor.written[cursor.next].lower() != "with":
            cursor.unexpected(f"'with' after '{form}'")
        cursor.next += 1
    if cursor.kinds[cursor.next] != "text":
        cursor.unexpected(f"a text in single quotes after '{_WRITTEN[form]}'")
    place, text = cursor.offsets[cursor.next], str(cursor.operand())
    try:
        length = pattern_of(form, text).longest_sought
    except ValueError:
        raise FinalBackslash(cursor.text, place) from None
    if length > LONGEST_SOUGHT:
        raise SegmentTooLong(cursor.text, place, length, LONGEST_SOUGHT)
    return Like(attribute, form, text, at)  # type: ignore[arg-type]


def _bind(node: Like, scope: Scope) -> Like:
    attribute, at = node.attribute, node.at
    domain = scope.domain(attribute, at)
    if domain.kind is not Kind.STRING:
        place = scope.place_of_operator(at, node.form)
        raise NotForThisKind(scope.text, place, _WRITTEN[node.form], attribute, str(domain.kind), ("string",))
    scope.need(domain, attribute, at, node.form, node.form)
    scope.value(domain, attribute, node.text, at, node.form)
    return node


def _demand(node: Like, space_of: SpaceOf) -> Demand:
    attribute, pattern = node.attribute, pattern_of(node.form, node.text)
    if pattern.is_value:
        return ValueIn(attribute, space_of(attribute).point(pattern.prefix))
    if pattern.is_prefix:
        return ValueIn(attribute, beginning_with(pattern.prefix))
    if pattern.is_suffix:
        return EndIn(attribute, beginning_with(pattern.suffix[::-1]))
    return Fits(attribute, pattern)


LIKE = PredicateKind(
    node=Like,
    other_attributes=(),
    forms=tuple(Form(form, _parse, after_not=True) for form in _WRITTEN),
    text=lambda node: f"{_WRITTEN[node.form]} {operand_text(node.text)}",
    not_inside=True,
    bind=_bind,
    opposite=no_opposite,
    chooses=True,
    demand=_demand,
)
