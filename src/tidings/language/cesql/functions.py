"""The functions of CESQL: what they take, what they return, and what they do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from tidings.language.cesql.expression import CesqlValue
from tidings.language.cesql.parser import GREATEST
from tidings.language.cesql.values import Trouble, Type

Result = tuple[CesqlValue, Trouble | None]

# Unicode's White_Space; `str.strip` alone would take four control characters with it.
_WHITE = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"


_LONGEST = 1 << 20  # characters, four times the largest event


class Function(NamedTuple):
    """`takes` are the types of its arguments; a variadic one takes any number more of the last type. `run` gets them
    already cast."""

    takes: tuple[Type, ...]
    returns: Type
    run: Callable[..., Result]
    variadic: bool = False


def _plain(compute: Callable[..., CesqlValue]) -> Callable[..., Result]:
    """Of a function that cannot fail."""
    return lambda *arguments: (compute(*arguments), None)


def _absolute(number: int) -> Result:
    if abs(number) > GREATEST:
        return GREATEST, Trouble("math", f"ABS({number}) is beyond 32 bits")
    return abs(number), None


def _concatenated(between: str, *texts: str) -> Result:
    length = sum(map(len, texts)) + len(between) * max(len(texts) - 1, 0)
    if length > _LONGEST:
        return "", Trouble("functionEvaluation", f"CONCAT makes at most {_LONGEST:,} characters, not {length:,}")
    return between.join(texts), None


def _left(text: str, count: int) -> Result:
    if count < 0:
        return text, Trouble("functionEvaluation", f"LEFT cannot take {count} characters")
    return text[:count], None


def _right(text: str, count: int) -> Result:
    if count < 0:
        return text, Trouble("functionEvaluation", f"RIGHT cannot take {count} characters")
    return text[max(len(text) - count, 0) :], None


def _substring(text: str, position: int, count: int | None = None) -> Result:
    """Positions count from 1, negative ones from the end."""
    if abs(position) > len(text):
        return "", Trouble("functionEvaluation", f"SUBSTRING begins at {position} of {len(text)} characters")
    if count is not None and count < 0:
        return "", Trouble("functionEvaluation", f"SUBSTRING cannot take {count} characters")
    if not position:
        return "", None
    start = position - 1 if position > 0 else len(text) + position
    return text[start : None if count is None else start + count], None


def _same(value: Any) -> CesqlValue:
    return value  # type: ignore[no-any-return]


_ALL: dict[str, tuple[Function, ...]] = {
    "ABS": (Function(("Integer",), "Integer", _absolute),),
    "BOOL": (Function(("Boolean",), "Boolean", _plain(_same)),),
    "CONCAT": (Function(("String",), "String", partial(_concatenated, ""), variadic=True),),
    "CONCAT_WS": (Function(("String", "String"), "String", _concatenated, variadic=True),),
    "INT": (Function(("Integer",), "Integer", _plain(_same)),),
    "LEFT": (Function(("String", "Integer"), "String", _left),),
    "LENGTH": (Function(("String",), "Integer", _plain(len)),),
    "LOWER": (Function(("String",), "String", _plain(str.lower)),),
    "RIGHT": (Function(("String", "Integer"), "String", _right),),
    "STRING": (Function(("String",), "String", _plain(_same)),),
    "SUBSTRING": (
        Function(("String", "Integer"), "String", _substring),
        Function(("String", "Integer", "Integer"), "String", _substring),
    ),
    "TRIM": (Function(("String",), "String", _plain(lambda text: text.strip(_WHITE))),),
    "UPPER": (Function(("String",), "String", _plain(str.upper)),),
}
FUNCTION_NAMES = tuple(_ALL)


def function(name: str, count: int) -> Function | None:
    """The one of this name that takes so many arguments."""
    for one in _ALL.get(name, ()):
        if count == len(one.takes) or (one.variadic and count >= len(one.takes) - 1):
            return one
    return None


def argument_types(one: Function, count: int) -> tuple[Type, ...]:
    return one.takes[:count] + one.takes[-1:] * (count - len(one.takes))


def argument_counts(name: str) -> str:
    """How many arguments the functions of a name take, for an error: `2 or 3`."""
    counts = [f"{len(one.takes) - 1} or more" if one.variadic else str(len(one.takes)) for one in _ALL[name]]
    return " or ".join(counts)
