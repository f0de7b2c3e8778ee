"""Filters of the simulator: ranges of integers, so that covering and overlapping are exact and quick."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from tidings.overlay import values
from tidings.overlay.filters import Filters, Selector, runs


class Range(NamedTuple):
    """Matches the integers from low through high."""

    low: int
    high: int


class Ranges(Filters):
    def __init__(self, top: int = 99) -> None:
        self.everything = Range(0, top)

    def covers(self, wider: values.Filter, narrower: values.Filter) -> bool:
        assert isinstance(wider, Range)
        assert isinstance(narrower, Range)
        return wider.low <= narrower.low and narrower.high <= wider.high

    def overlaps(self, left: values.Filter, right: values.Filter) -> bool:
        assert isinstance(left, Range)
        assert isinstance(right, Range)
        return left.low <= right.high and right.low <= left.high

    def matches(self, filter: values.Filter, content: object) -> bool:
        assert isinstance(filter, Range)
        assert isinstance(content, int)
        return filter.low <= content <= filter.high

    def text(self, filter: values.Filter) -> values.Filter:
        return filter

    def widen(self, filters: Sequence[values.Filter]) -> Range:
        ranges = [one for one in filters if isinstance(one, Range)]
        return Range(min(one.low for one in ranges), max(one.high for one in ranges))

    def reduce(self, filters: Iterable[values.Filter]) -> tuple[Range, ...]:
        """In one pass over the sorted ranges; the same as the reduction of `Filters`."""
        kept: list[Range] = []
        begun, reached = -1, -1
        for one in sorted(cast("set[Range]", set(filters))):
            low, high = one
            if high > reached:
                if low == begun:
                    kept[-1] = one
                else:
                    kept.append(one)
                begun, reached = low, high
        return tuple(kept)

    def summary(self, filters: Iterable[values.Filter], limit: int) -> tuple[Range, ...]:
        """At once: reduced ranges begin and end one after another, and so do runs of them."""
        reduced = self.reduce(filters)
        if len(reduced) <= limit:
            return reduced
        return tuple(Range(run[0].low, run[-1].high) for run in runs(reduced, limit))

    def selector(self, filters: Sequence[values.Filter]) -> Selector:
        """Reduced ranges have rising ends: of those that begin in time, the last one ends last. They are reduced for
        the first event; most interests are replaced before one comes."""
        reduced: tuple[Range, ...] = ()
        lows: list[int] = []

        def selects(content: object) -> bool:
            nonlocal reduced, lows
            assert isinstance(content, int)
            if not lows and filters:
                reduced = Ranges.reduce(self, filters)
                lows = [one.low for one in reduced]
            place = bisect_right(lows, content) - 1
            return place >= 0 and content <= reduced[place].high

        return selects


class SlowRanges(Ranges):
    """The slow twin: reduction and selection as every kind of filter has them."""

    reduce = Filters.reduce  # type: ignore[assignment]
    summary = Filters.summary  # type: ignore[assignment]
    selector = Filters.selector
