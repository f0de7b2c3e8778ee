"""What was refused of one page or file: the first of them are told, and it is known when to try them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidings.feeds.event_maker import Made
from tidings.feeds.memory.state import Owing
from tidings.feeds.records.records import Located
from tidings.schema import Instant

_TOLD = 5
_EARLY = 300.0  # seconds before its time at which an event is taken


class Refusals:
    def __init__(self, place: str, tell: Callable[[str], None]) -> None:
        self._place, self._tell = place, tell
        self._refused = self._left_out = 0
        self.owing: Owing | None = None

    def owe(self, schema: str, due: float | None) -> None:
        """Of several schemas the first counts: what it refused may be right under the next already."""
        before = self.owing or Owing(schema)
        earliest = min((one for one in (before.due, due) if one is not None), default=None)
        self.owing = Owing(before.schema, earliest, before.count + 1)

    def tell(self, found: Located, refused: dict[str, Any]) -> None:
        self._refused += 1
        if self._refused <= _TOLD:
            self._tell(f"{self._place}: {found.place}: {refusal(refused)}")

    def tell_left_out(self, found: Located, made: Made) -> None:
        for bad in made.left_out:
            self._left_out += 1
            if self._left_out <= _TOLD:
                self._tell(f"{self._place}: {found.place}: event {made.raw['id']!r} without {bad.message}")

    def tell_the_rest(self) -> None:
        for count, what in ((self._refused, "refused"), (self._left_out, "values left out")):
            if count > _TOLD:
                self._tell(f"{self._place}: … and {count - _TOLD:,} more {what}")


def refusal(one: dict[str, Any]) -> str:
    """`event 'e1' refused: domain: …`"""
    reasons = "; ".join(f"{error.get('rule')}: {error.get('message')}" for error in one["errors"])
    return f"event {one.get('id')!r} refused: {reasons}"


def due(made: Made, told: dict[str, Any]) -> float | None:
    """When an event is taken that was refused because its time is yet to come; None: for other reasons."""
    if "time" not in made.raw or not any(error.get("attribute") == "time" for error in told["errors"]):
        return None
    return Instant.parse(made.raw["time"]) / 1e6 - _EARLY
