"""Events with two numbers, and filters over them that anybody can evaluate: no matcher is needed to know the truth."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

MOST = 1_000  # both numbers are below
SOURCE = "torture"
SCHEMA: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/v1/schema/domains", {"name": "count", "kind": "numeric"}),
    ("/v1/schema/attributes", {"name": "n", "domain": "count"}),
    ("/v1/schema/attributes", {"name": "m", "domain": "count"}),
    (
        "/v1/schema/event-types",
        {"name": "sample", "attributes": [{"name": name, "mandatory": True, "unique": True} for name in ("n", "m")]},
    ),
)
_WORDINGS = (
    "n >= {low} and n < {high}",
    "n between {low} and {last}",
    "not (n < {low}) and not (n >= {high})",
)


@dataclass(frozen=True, slots=True)
class Numbers:
    """`n` lies in one of the ranges [low, high), and `m` is below a bound where there is one. The wording changes
    nothing but the text."""

    ranges: tuple[tuple[int, int], ...]
    below: int | None = None
    wording: int = 0

    def holds(self, n: int, m: int) -> bool:
        return (self.below is None or m < self.below) and any(low <= n < high for low, high in self.ranges)

    @property
    def text(self) -> str:
        wording = _WORDINGS[self.wording]
        ranges = " or ".join(f"({wording.format(low=low, high=high, last=high - 1)})" for low, high in self.ranges)
        bound = "" if self.below is None else f" and m < {self.below}"
        return f"event_type contains sample and ({ranges}){bound}"


def draw_numbers(draw: random.Random) -> Numbers:
    """One that an event in twenty or so matches."""
    ranges = []
    for _ in range(draw.choice((1, 1, 2))):
        low = draw.randrange(MOST)
        ranges.append((low, low + draw.randrange(1, MOST // 10)))
    return Numbers(tuple(ranges), draw.choice((None, draw.randrange(1, MOST))), draw.randrange(len(_WORDINGS)))


def sample(id: str, n: int, m: int) -> dict[str, Any]:
    return {"id": id, "source": SOURCE, "event_type": ["sample"], "attributes": {"n": n, "m": m}}
