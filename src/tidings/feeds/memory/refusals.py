"""What was refused of one page or file: the first of them are told, and it is known when to try them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidings.feeds.event_maker import Made
from tidings.feeds.memory.state import Owing
from tidings.schema import Instant

_TOLD = 5
_EARLY = 300.0  # seconds before its time at which an event is taken


class Refusals:
    def __init__(self, place: str, tell: Callable[[str], None]) -> None:
        self._place, self._tell = place, tell
        self._told = 0
        self.owing: Owing | None = None

    def owe(self, schema: str, due: float | None) -> None:
        """Of several schemas the first counts: what it refused may be right under the next already."""
        if self.owing is None:
            self.owing = Owing(schema, due)
        elif due is not None and (self.owing.due is None or due < self.owing.due):
            self.owing = Owing(self.owing.schema, due)

    def tell(self, refused: list[dict[str, Any]]) -> None:
        for one in refused[: max(0, _TOLD - self._told)]:
            self._tell(f"{self._place}: {refusal(one)}")
        self._told += len(refused)

    def tell_the_rest(self) -> None:
        if self._told > _TOLD:
            self._tell(f"{self._place}: … and {self._told - _TOLD:,} more refused")


def refusal(one: dict[str, Any]) -> str:
    """`event 'e1' refused: domain: …`"""
    reasons = "; ".join(f"{error.get('rule')}: {error.get('message')}" for error in one["errors"])
    return f"event {one.get('id')!r} refused: {reasons}"


def due(made: Made, told: dict[str, Any]) -> float | None:
    """When an event is taken that was refused because its time is yet to come; None: for other reasons."""
    if "time" not in made.raw or not any(error.get("attribute") == "time" for error in told["errors"]):
        return None
    return Instant.parse(made.raw["time"]) / 1e6 - _EARLY
