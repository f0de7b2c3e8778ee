"""The three types of CESQL and the casts between them. A cast that fails gives the zero value of its type."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from tidings.language.cesql.expression import CesqlValue
from tidings.language.cesql.parser import GREATEST, LEAST

Type = Literal["Boolean", "Integer", "String"]
Fault = Literal["math", "cast", "missingAttribute", "missingFunction", "functionEvaluation"]

ZERO: dict[Type, CesqlValue] = {"Boolean": False, "Integer": 0, "String": ""}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_LONGEST_INTEGER = 400  # longer ones are mostly leading zeros, and Python refuses to read them


class Trouble(NamedTuple):
    """An error of evaluation: its kind as the specification names it, and what happened."""

    fault: Fault
    detail: str


def type_of(value: CesqlValue) -> Type:
    if isinstance(value, bool):
        return "Boolean"
    return "Integer" if isinstance(value, int) else "String"


def cast(value: CesqlValue, wanted: Type) -> tuple[CesqlValue, Trouble | None]:
    match wanted:
        case "String":
            return text_of(value), None
        case "Integer":
            return _integer(value)
        case "Boolean":
            return _boolean(value)


def text_of(value: CesqlValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _integer(value: CesqlValue) -> tuple[int, Trouble | None]:
    if not isinstance(value, str):
        return int(value), None
    if _INTEGER.fullmatch(value) and len(value) <= _LONGEST_INTEGER and LEAST <= (number := int(value)) <= GREATEST:
        return number, None
    return 0, Trouble("cast", f"{value[:60]!r} is not an integer of 32 bits")


def _boolean(value: CesqlValue) -> tuple[bool, Trouble | None]:
    if not isinstance(value, str):
        return bool(value), None
    lowered = value.lower()
    if lowered in ("true", "false"):
        return lowered == "true", None
    return False, Trouble("cast", f"{value[:60]!r} is neither 'true' nor 'false'")
