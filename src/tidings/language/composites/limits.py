"""How large a composite may be."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.schema.values import UNITS, Span


@dataclass(frozen=True, slots=True)
class CompositeLimits:
    depth: int = 16  # of parentheses, `nth` and `times`; a chain counts as one level
    parts: int = 64  # leaves, those of `[b]{3}` counted three times
    by: int = 8  # attributes
    frame: Span = Span(366 * UNITS["day"])  # noqa: RUF009 -- a number
    absence: Span = Span(UNITS["s"])  # noqa: RUF009 -- the shortest frame of `absent`, of which each may be reported
    count: int = 10_000  # of `times` and a selection: no operator keeps more instances waiting
    nth: int = 1_000_000_000


LIMITS = CompositeLimits()
ACCEPTED = CompositeLimits(by=10_000, absence=Span(1))  # of texts from before these limits
