"""What the machine asks of filters. The machine itself does not know the language: servers use `language_filters`, the
simulator ranges of integers (`simulation.ranges`), which are quick."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from tidings.overlay.values import Filter

Selector = Callable[[object], bool]
_F = TypeVar("_F", bound=Filter)


class Filters(ABC):
    """Covering and overlapping of filters, and which events match them."""

    everything: Filter

    @abstractmethod
    def covers(self, wider: Filter, narrower: Filter) -> bool:
        """May say no wrongly, never yes."""

    @abstractmethod
    def overlaps(self, left: Filter, right: Filter) -> bool:
        """May say yes wrongly, never no."""

    def overlapping(self, filters: Iterable[Filter], others: Sequence[Filter]) -> set[Filter]:
        """The filters that overlap any of the others."""
        return {one for one in filters if any(self.overlaps(one, other) for other in others)}

    @abstractmethod
    def matches(self, filter: Filter, content: object) -> bool: ...

    @abstractmethod
    def text(self, filter: Filter) -> Any:
        """By what filters are sorted: the same on all servers."""

    @abstractmethod
    def widen(self, filters: Sequence[Filter]) -> Filter:
        """One filter that matches all that these match, and perhaps more."""

    def selector(self, filters: Sequence[Filter]) -> Selector:
        """Whether any of the filters matches."""
        return lambda content: any(self.matches(filter, content) for filter in filters)

    def reduce(self, filters: Iterable[Filter]) -> tuple[Filter, ...]:
        """The filters less those that another covers; of equals the first by text stays.

        Each one is compared with those kept so far. Dropping whatever *any* other covers would, with a `covers` that
        misses some, drop all of a circle: a covers b, b covers c, c covers a.
        """
        kept: list[Filter] = []
        for filter in sorted(set(filters), key=self.text):
            if not any(self.covers(other, filter) for other in kept):
                kept = [other for other in kept if not self.covers(filter, other)]
                kept.append(filter)
        return tuple(kept)

    def summary(self, filters: Iterable[Filter], limit: int) -> tuple[Filter, ...]:
        """The reduction; where that is longer than the limit, neighbours by text are merged, as few as will do."""
        reduced = self.reduce(filters)
        while len(reduced) > limit:
            reduced = self.reduce(self.widen(run) for run in runs(reduced, limit))
        return reduced


def runs(filters: Sequence[_F], count: int) -> list[Sequence[_F]]:
    """Cut into so many runs, of which the longest has at most one more than the shortest."""
    edges = [place * len(filters) // count for place in range(count + 1)]
    return [filters[start:stop] for start, stop in itertools.pairwise(edges)]
