"""Why a raw event was refused: every rule it broke, with the attribute and the offending value.

`validate` raises `RefusedEvent`; the readers of files hand on `Refused`, which adds the line. Both have the
JSON form of refused events that the command line writes and the gateway answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from tidings.errors import EventError, shown
from tidings.schema import Instant

Rule = Literal["form", "id", "type", "mandatory", "view", "unique", "empty", "domain", "advertised"]

_MOST_SHOWN = 20  # values of a list
LONGEST_KEPT = 200  # characters of a name or a value


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """One rule that an event breaks. `value` is what was sent, or a description where it was nested."""

    rule: Rule
    attribute: str | None
    value: object
    message: str

    def as_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "attribute": None if self.attribute is None else _json_safe(self.attribute),
            "value": _json_safe(self.value),
            "message": _json_safe(self.message),
        }


class RefusedEvent(EventError):
    """An event broke rules: its id, as far as it has one, and all of them."""

    def __init__(self, id: str | None, errors: tuple[BrokenRule, ...]) -> None:
        super().__init__(id, errors)

    @property
    def id(self) -> str | None:
        return None if self.args[0] is None else str(self.args[0])

    @property
    def errors(self) -> tuple[BrokenRule, ...]:
        return tuple(self.args[1])

    def __str__(self) -> str:
        name = "the event" if self.id is None else f"event {shown(self.id)}"
        return f"{name} is refused: " + "; ".join(error.message for error in self.errors)

    def as_json(self) -> dict[str, Any]:
        return {"id": _json_safe(self.id), "errors": [error.as_json() for error in self.errors]}


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused event of a file: the line it began on (of Parquet, the row), counted from 1."""

    line: int
    id: str | None
    errors: tuple[BrokenRule, ...]

    def as_json(self) -> dict[str, Any]:
        return {"line": self.line, **RefusedEvent(self.id, self.errors).as_json()}


def refused_line(line: int, message: str, id: str | None = None) -> Refused:
    """A line that is no event at all."""
    return Refused(line, id, (BrokenRule("form", None, None, message),))


def described(value: object) -> str:
    """A raw value in a message. Lists and objects are only named: a deep one may overflow the stack."""
    if isinstance(value, (list, tuple, dict)):
        return "an object" if isinstance(value, dict) else "a list"
    return shown(value)


def kept(value: object) -> object:
    """The raw value as a BrokenRule keeps it: long texts are cut, and what is nested in it is only described."""
    match value:
        case str():
            return cut(value)
        case list():
            items = [kept(item) if not isinstance(item, list) else described(item) for item in value[:_MOST_SHOWN]]
            return items if len(value) <= _MOST_SHOWN else [*items, "…"]
        case dict() | tuple():
            return described(value)
        case _:
            return value


def cut(text: str, longest: int = LONGEST_KEPT) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"


def _json_safe(value: object) -> Any:
    match value:
        case list():
            return [_json_safe(item) for item in value]
        case str():
            return value.encode("utf-8", "replace").decode()  # a lone surrogate cannot be written
        case None | bool():
            return value
        case Instant():
            return str(value)
        case int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case _:
            return shown(value)
