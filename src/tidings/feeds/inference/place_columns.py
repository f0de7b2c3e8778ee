"""Two columns of numbers that are the latitude and the longitude of a place."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from tidings.feeds.inference.guess import are_most
from tidings.feeds.mapping.mapping import Field, Reading
from tidings.feeds.records.conversion import Unconvertible, is_empty, place
from tidings.feeds.records.records import Record
from tidings.schema import Catalog, Kind

_LATITUDE = re.compile(r"(?P<before>.*?)_?(?:lat|latitude)")
_LONGITUDES = ("lon", "lng", "long", "longitude")
_GEOJSON = "coordinates/"
_NAMES = ("place", "location", "position")


def with_places(fields: tuple[Field, ...], records: list[Record], there: Catalog | None = None) -> tuple[Field, ...]:
    """Such pairs as one field of the kind `place`, where every pair of values is a place, or nearly every one."""
    made = {one.attribute: one for one in fields}
    for one in fields:
        other = _longitude_of(one, made)
        if other is None or _is_known(one, there) or not _are_places(one.reading.path, other.reading.path, records):
            continue
        name = _free_name(one, made, there or Catalog())
        del made[other.attribute]
        mandatory = one.mandatory or other.mandatory
        field = Field(name, Reading(one.reading.path), Kind.PLACE, mandatory=mandatory, longitude=other.reading.path)
        made = {kept.attribute: kept for at, old in made.items() for kept in (field if at == one.attribute else old,)}
    return tuple(made.values())


def _longitude_of(one: Field, made: dict[str, Field]) -> Field | None:
    path = one.reading.path
    if path.endswith(_GEOJSON + "1"):  # which has the longitude first
        return next((other for other in made.values() if other.reading.path == path[:-1] + "0"), None)
    found = _LATITUDE.fullmatch(one.attribute)
    if found is None:
        return None
    before = f"{found['before']}_" if found["before"] else ""
    return next((made[name] for end in _LONGITUDES if (name := before + end) in made), None)


def _is_known(one: Field, there: Catalog | None) -> bool:
    """Whether the schema has latitudes of that name already, as numbers."""
    return there is not None and there.domain_of(one.attribute) is not None


def _are_places(latitude: str, longitude: str, records: list[Record]) -> bool:
    """Whether some pair is there and none, or few, are anything else."""
    pairs = places = 0
    for record in records:
        north, east = record.get(latitude, ()), record.get(longitude, ())
        if not any(map(_is_there, (*north, *east))):
            continue
        pairs += 1
        if len(north) == 1 and len(east) == 1:
            with suppress(Unconvertible):
                place((north[0], east[0]))
                places += 1
    return places > 0 and (places == pairs or are_most(places, pairs))


def _is_there(value: Any) -> bool:
    return not is_empty(value)


def _free_name(one: Field, made: dict[str, Field], there: Catalog) -> str:
    """`place`, with what stands before `latitude`; `location` where that name is taken."""
    found = _LATITUDE.fullmatch(one.attribute)
    before = f"{found['before']}_" if found is not None and found["before"] else ""
    for name in (before + end for end in _NAMES):
        domain = there.domain_of(name)
        if name not in made and (domain is None or domain.kind is Kind.PLACE):
            return name
    return one.attribute
