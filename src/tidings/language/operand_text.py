"""How values and quoted names are written in canonical text."""

from __future__ import annotations

from typing import assert_never

from tidings.language.tree import Name, Operand, Word
from tidings.schema.values import Instant, Number, Place, Span


def operand_text(value: Operand) -> str:
    """Values are always quoted, since a bare word could later become an attribute."""
    match value:
        case Word(name):
            return name
        case Name(name):
            return quoted(name)
        case Place():
            return place_text(value)
        case Instant():
            return f"'{value}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case int() | float():
            return repr(value)
        case _:
            assert_never(value)


def place_text(place: Place) -> str:
    latitude, longitude = place.pair
    return f"({latitude!r}, {longitude!r})"


def summand_text(offset: Number | Span) -> str:
    """` + 50`, ` - 2 h`; nothing for 0."""
    if not offset:
        return ""
    size = str(Span(abs(offset))) if isinstance(offset, Span) else repr(abs(offset))
    return f" {'-' if offset < 0 else '+'} {size}"


def quoted(name: str) -> str:
    """A name in double quotes: always an attribute."""
    return '"' + name.replace('"', '""') + '"'
