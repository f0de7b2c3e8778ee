"""A number as somebody typed it into a field: what the language of filters takes for one, and nothing else."""

from __future__ import annotations

import math
import re

from tidings.errors import shown

# Not int() or float() alone: they would take `1_000`, `nan` and the digits of other scripts.
_WHOLE = re.compile(r"[+-]?[0-9]{1,400}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def typed_number(text: str) -> int | float | None:
    """None if it is not a number, or out of bounds."""
    if _WHOLE.fullmatch(text):
        number = int(text)
        return number if abs(number) < 10**308 else None
    if _NUMBER.fullmatch(text) and math.isfinite(value := float(text)):
        return value
    return None


def no_number(value: object) -> str:
    """What is said where something else was typed."""
    return f"{shown(value)} is not a number; expected e.g. 1300 or 12.5."
