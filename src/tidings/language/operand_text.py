"""How values and quoted names are written in canonical text."""

from __future__ import annotations

from typing import assert_never

from tidings.language.tree import Name, Operand, Word
from tidings.schema.values import Instant


def operand_text(value: Operand) -> str:
    """Values are always quoted, since a bare word could later become an attribute."""
    match value:
        case Word(name):
            return name
        case Name(name):
            return quoted(name)
        case Instant():
            return f"'{value}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case int() | float():
            return repr(value)
        case _:
            assert_never(value)


def quoted(name: str) -> str:
    """A name in double quotes: always an attribute."""
    return '"' + name.replace('"', '""') + '"'
