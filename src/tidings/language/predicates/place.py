"""`spot near (37.8, -122.4) within 10 km`, `spot inside (37, -123, 38, -122)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.language.errors import NotForThisKind, WrongPlace
from tidings.language.operand_text import place_text
from tidings.language.predicates.kind import Demand, Form, PredicateKind, SpaceOf, WithinRegion, no_opposite
from tidings.language.tree import Inside, Near
from tidings.schema.domain import Kind
from tidings.schema.region import METRES
from tidings.schema.values import Place, number

if TYPE_CHECKING:
    from tidings.language.cursor import Cursor
    from tidings.language.scope import Scope

_UNITS = ", ".join(METRES)


def _parse_near(cursor: Cursor, attribute: str, at: int) -> Near:
    place = cursor.offsets[cursor.next]
    latitude, longitude = cursor.degrees(2, "a latitude and a longitude, e.g. (37.8, -122.4)")
    try:
        centre = Place.of(latitude, longitude)
    except ValueError as problem:
        raise WrongPlace(cursor.text, place, str(problem)) from None
    if cursor.written[cursor.next].lower() != "within":
        cursor.unexpected("'within' and a distance, e.g. within 10 km")
    cursor.next += 1
    place = cursor.offsets[cursor.next]
    distance = cursor.number("a distance, e.g. 10 km")
    unit = cursor.written[cursor.next].lower()
    if unit not in METRES:
        cursor.unexpected(f"a unit of distance: {_UNITS}")
    cursor.next += 1
    if distance < 0:
        raise WrongPlace(cursor.text, place, f"a distance is not negative, got {distance!r} {unit}")
    return Near(attribute, centre, distance, unit, at)


def _parse_inside(cursor: Cursor, attribute: str, at: int) -> Inside:
    place = cursor.offsets[cursor.next]
    corners = cursor.degrees(4, "south, west, north and east, e.g. (37, -123, 38, -122)")
    try:
        for latitude, longitude in (corners[:2], corners[2:]):
            Place.of(latitude, longitude)
        south, west, north, east = map(number, corners)
    except ValueError as problem:
        raise WrongPlace(cursor.text, place, str(problem)) from None
    if south > north:
        raise WrongPlace(
            cursor.text, place, f"the first corner is the south-west one, but {south!r} lies north of {north!r}"
        )
    return Inside(attribute, (south, west, north, east), at)


def _bind_near(node: Near, scope: Scope) -> Near:
    _check(scope, node.attribute, node.at, "near")
    return node


def _bind_inside(node: Inside, scope: Scope) -> Inside:
    _check(scope, node.attribute, node.at, "inside")
    return node


def _check(scope: Scope, attribute: str, at: int, construct: str) -> None:
    domain = scope.domain(attribute, at)
    if domain.kind is not Kind.PLACE:
        place = scope.place_of_operator(at, construct)
        raise NotForThisKind(scope.text, place, construct, attribute, str(domain.kind), ("place",))
    scope.need(domain, attribute, at, construct, construct)


def _demand(node: Near | Inside, space_of: SpaceOf) -> Demand:
    return WithinRegion(node)


NEAR = PredicateKind(
    node=Near,
    other_attributes=(),
    forms=(Form("near", _parse_near, after_not=True),),
    text=lambda node: f"near {place_text(node.centre)} within {node.distance!r} {node.unit}",
    not_inside=True,
    bind=_bind_near,
    opposite=no_opposite,
    chooses=True,
    demand=_demand,
)
INSIDE = PredicateKind(
    node=Inside,
    other_attributes=(),
    forms=(Form("inside", _parse_inside, after_not=True),),
    text=lambda node: f"inside ({', '.join(map(repr, node.corners))})",
    not_inside=True,
    bind=_bind_inside,
    opposite=no_opposite,
    chooses=True,
    demand=_demand,
)
