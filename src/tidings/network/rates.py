"""Messages a second over each link, in and out, of the last ten seconds."""

from __future__ import annotations

from collections import Counter, deque

_OVER = 10.0  # seconds
_EVERY = 1.0  # seconds between two looks


class Rates:
    """`count` as messages go and come, `look` at least each second."""

    def __init__(self) -> None:
        self._totals: Counter[tuple[str, str]] = Counter()
        self._seen: deque[tuple[float, Counter[tuple[str, str]]]] = deque()

    def count(self, way: str, neighbour: str, messages: int) -> None:
        self._totals[way, neighbour] += messages

    def look(self, now: float) -> None:
        if self._seen and now - self._seen[-1][0] < _EVERY:
            return
        self._seen.append((now, self._totals.copy()))
        while now - self._seen[0][0] > _OVER:
            self._seen.popleft()

    def per_second(self, way: str, neighbour: str) -> float:
        if len(self._seen) < 2:
            return 0.0
        (began, before), (ended, after) = self._seen[0], self._seen[-1]
        return round((after[way, neighbour] - before[way, neighbour]) / (ended - began), 1)
