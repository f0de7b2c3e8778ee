"""Matching a page of events, as many at a time as there is room for their matches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tidings.events import EventBatch
from tidings.matching.algorithm import Matches
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.index.segment import TooManyMatches


@dataclass(frozen=True, slots=True)
class Limits:
    """What a task may hold at once, and after how much it stops."""

    rows: int = 10_000  # events of a page
    bytes: int = 1 << 24
    matches: int = 1 << 18  # found by one call of the matcher, about
    staged: int = 500_000
    seconds: float = 2.0

    def smaller(self) -> Limits:
        """For another attempt, after one that failed."""
        return replace(
            self, rows=max(1, self.rows // 8), bytes=max(1 << 16, self.bytes // 8), matches=max(1, self.matches // 8)
        )


class MatchParts:
    """Of a task. How many events are matched at once follows from what those before them matched."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._size = limits.rows

    def of(self, matcher: BoxMatcher, batch: EventBatch) -> Iterator[tuple[int, int, Matches]]:
        """The rows [first, last) of the batch with their matches, part by part."""
        first = 0
        while first < len(batch):
            last = min(first + self._size, len(batch))
            try:
                matches = matcher.match_at_most(batch.slice(first, last), self._limits.matches)
            except TooManyMatches as many:
                self._size = max(1, min(many.events or last - first, (last - first) // 2))
                continue
            if len(matches) < self._limits.matches // 4:
                self._size = min(2 * self._size, self._limits.rows)
            yield first, last, matches
            first = last
