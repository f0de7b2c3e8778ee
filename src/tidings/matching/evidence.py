"""What in an event's values a predicate is about, for people: the words it names, the category a value lies under, how
far away a place is. It explains an answer and never decides one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tidings.events.event import Bindings
from tidings.language.dialects import trouble_of
from tidings.language.normal_form import Literal
from tidings.language.tree import Comparison, Contains, ContainsWords, In, InDialect, Inside, Near, Not, Predicate
from tidings.language.words import words_of
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Kind
from tidings.schema.hierarchy import SEPARATOR
from tidings.schema.region import METRES, distance, is_inside
from tidings.schema.values import Place

MOST_MARKS = 20  # in one value
_MOST_VALUES = 8
_WORD = re.compile(r"\w+")


class Mark(NamedTuple):
    """The characters from `start` until before `end` of a value, the `place`-th of its attribute."""

    attribute: str
    place: int
    start: int
    end: int


def marks_of(literal: Literal, event: Bindings, catalog: Catalog) -> tuple[Mark, ...]:
    """Also of a negation, which may fail because of them."""
    predicate = literal.term if isinstance(literal, Not) else literal
    match predicate:
        case ContainsWords(attribute, _, words):
            return tuple(_words(attribute, frozenset(words), event))
        case Comparison(attribute, _, value) | Contains(attribute, value):
            return tuple(_categories(attribute, (value,), event, catalog))
        case In(attribute, values):
            return tuple(_categories(attribute, values, event, catalog))
        case _:
            return ()


def note_of(literal: Literal, event: Bindings) -> str:
    """How far away the places of the event are, why an expression ended in an error, or ''."""
    predicate = literal.term if isinstance(literal, Not) else literal
    if isinstance(predicate, InDialect):
        return trouble_of(predicate, event)
    if not isinstance(predicate, Near | Inside):
        return ""
    places = [one for one in event.get(predicate.attribute, ()) if isinstance(one, Place)]
    told = ", ".join(_away(predicate, one) for one in places[:_MOST_VALUES])
    return f"{told}, …" if len(places) > _MOST_VALUES else told


def _words(attribute: str, sought: frozenset[str], event: Bindings) -> Iterator[Mark]:
    for place, value in enumerate(event.get(attribute, ())):
        found = 0
        for run in _WORD.finditer(str(value)):
            if not sought.isdisjoint(words_of(run[0])):
                yield Mark(attribute, place, *run.span())
                found += 1
                if found == MOST_MARKS:
                    break


def _categories(attribute: str, sought: tuple[object, ...], event: Bindings, catalog: Catalog) -> Iterator[Mark]:
    domain = catalog.domain_of(attribute)
    if domain is None or domain.kind is not Kind.HIERARCHICAL:
        return
    for place, value in enumerate(event.get(attribute, ())):
        above = [str(one) for one in sought if f"{value}{SEPARATOR}".startswith(f"{one}{SEPARATOR}")]
        if above:
            yield Mark(attribute, place, 0, len(max(above, key=len)))


def _away(region: Predicate, place: Place) -> str:
    latitude, longitude = place.degrees
    if isinstance(region, Near):
        unit = region.unit
        return f"{_written(distance(*region.centre.degrees, latitude, longitude) / METRES[unit])} {unit} away"
    assert isinstance(region, Inside)
    south, west, north, east = map(float, region.corners)
    if is_inside(latitude, longitude, south, west, north, east):
        return "inside"
    nearest = min(max(latitude, south), north)
    across = (longitude - west) % 360 <= (east - west) % 360
    edges = (longitude,) if across else (west, east)
    outside = min(distance(nearest, edge, latitude, longitude) for edge in edges)
    return f"{_written(outside / METRES['km'])} km outside"


def _written(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
