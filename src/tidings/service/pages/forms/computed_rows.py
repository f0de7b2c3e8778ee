"""Rows that compare with what an event says or where it lies: another attribute, now, a circle, a box, a text.

    compares   operator, other attribute, times, plus      price < 1.1 * "estimate" + 50
    now        operator, span                              ends < now + 2 h
    near       latitude, longitude, distance, unit         spot near (37.8, -122.4) within 10 km
    inside     south, west, north, east                    spot inside (37, -123, 38, -122)
    similar    text, least                                 body ~ 'interest rates' at least 0.4

Typed text that is not a number or span is quoted, so the parser reports it at its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tidings.language import print_filter
from tidings.language.operand_text import operand_text, quoted
from tidings.language.tree import (
    AttributeComparison,
    Exists,
    Inside,
    LinearComparison,
    Near,
    Node,
    NowComparison,
    Similar,
)
from tidings.schema.domain import COMPARISONS, Kind
from tidings.schema.region import METRES
from tidings.schema.values import UNITS
from tidings.service.pages.forms.typed_number import typed_number

COMPUTED = ("compares", "now", "near", "inside", "similar")
_FIELDS = {"now": 2, "similar": 2}  # of the others there are four
OPTIONAL = {"compares": (2, 3), "now": (1,)}  # places of values that may be empty
_SPAN = re.compile(r"([+-]?) ?([0-9]+(?:\.[0-9]+)?) ?([a-z]+)", re.ASCII)


def computed_values(node: Node) -> tuple[str, tuple[str, ...]] | None:
    """The operator and the values of a row, None where the node is another kind of predicate."""
    match node:
        case AttributeComparison(_, operator, other):
            return "compares", (operator, other, "", "")
        case LinearComparison(_, operator, scale, str(other), offset):
            return "compares", (operator, other, "" if scale == 1 else repr(scale), str(offset) if offset else "")
        case NowComparison(_, operator, offset):
            return "now", (operator, str(offset) if offset else "")
        case Near(_, centre, distance, unit):
            return "near", (*map(repr, centre.pair), repr(distance), unit)
        case Inside(_, corners):
            return "inside", tuple(map(repr, corners))
        case Similar(_, text, least):
            return "similar", (text, repr(least))
        case _:
            return None


def computed_text(attribute: str, operator: str, values: Sequence[str], kind: Kind, negated: bool) -> str | None:
    """None where something is missing."""
    typed = [value.strip() for value in values]
    wanted = _FIELDS.get(operator, 4)
    typed += [""] * (wanted - len(typed))
    if any(not value for place, value in enumerate(typed) if place not in OPTIONAL.get(operator, ())):
        return None
    if operator in OPTIONAL and typed[0] not in COMPARISONS:
        return None
    head = print_filter(Exists(attribute)).removesuffix(" exists") + (" not" if negated else "")
    match operator:
        case "similar":
            said = f"~ {operand_text(typed[0])} at least {_number(typed[1])}"
            return f"not ({head.removesuffix(' not')} {said})" if negated else f"{head} {said}"
        case "compares":
            factor = f"{_number(typed[2])} * " if typed[2] else ""
            return f"{head} {typed[0]} {factor}{quoted(typed[1])}{_summand(typed[3], kind)}"
        case "now":
            return f"{head} {typed[0]} now{_summand(typed[1], Kind.TIME)}"
        case "near":
            unit = typed[3] if typed[3] in METRES else operand_text(typed[3])
            return f"{head} near ({_number(typed[0])}, {_number(typed[1])}) within {_number(typed[2])} {unit}"
        case _:
            return f"{head} inside ({', '.join(map(_number, typed))})"


def _number(text: str) -> str:
    number = typed_number(text)
    return operand_text(text) if number is None else repr(number)


def _summand(text: str, kind: Kind) -> str:
    if not text:
        return ""
    if kind is Kind.TIME:
        found = _SPAN.fullmatch(text)
        if found is None or found[3] not in UNITS:
            return f" + {operand_text(text)}"
        return f" {found[1] or '+'} {found[2]} {found[3]}"
    number = typed_number(text)
    if number is None:
        return f" + {operand_text(text)}"
    return f" {'-' if number < 0 else '+'} {abs(number)!r}"
