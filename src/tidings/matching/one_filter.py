"""One filter on many events, without compiled code: for queries, which would wait longer for kernels to load than for
an answer (`python -m tidings.bench.queries`).

The filter's boxes are tested one after another on whole columns of ordinals. What only a choice of values can decide
(comparisons of attributes with several values, regions) stays open; a few such events are decided one by one, many by
the kernels after all. So are filters of many boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tidings.events import EventBatch
from tidings.language import Filter, Subscription
from tidings.language.predicates import attributes_read
from tidings.language.relations import GREATER, LESS, SAME
from tidings.matching.boxes.box import boxes_of
from tidings.matching.boxes.box_table import (
    BOX,
    CIRCLE,
    HALF,
    HAS_ALL,
    HAS_ANY,
    IN_RANGES,
    LINEAR,
    PAIRED,
    PATTERN,
    RELATED,
    SHIFTED,
    SINGLE,
    UNBOUND_AXIS,
    VERIFY,
    BoxTable,
)
from tidings.matching.boxes.event_table import EXTREMES, SEVERAL, EventTable
from tidings.schema.catalog import Catalog

_MOST_BOXES = 64  # each takes some 0.1 ms for 10,000 events
_MOST_OPEN = 500  # each takes some 0.1 ms

Mask = npt.NDArray[np.bool_]


class OneFilter:
    """`names` are the attributes that it tests; a batch needs no others."""

    def __init__(self, filter: Filter, catalog: Catalog) -> None:
        self._filter, self._catalog = filter, catalog
        self._table = BoxTable.of([(0, box) for box in boxes_of(filter, catalog)], catalog)
        self._matcher: Any = None
        literals = (literal for conjunction in filter.conjunctions for literal in conjunction)
        self.names = tuple(dict.fromkeys(name for literal in literals for name in attributes_read(literal, catalog)))

    def select(self, batch: EventBatch) -> npt.NDArray[np.int64]:
        """The rows that match."""
        if len(self._table) > _MOST_BOXES:
            return self._by_kernels(batch)
        sure, open = self._decided(batch)
        undecided = np.flatnonzero(open)
        if len(undecided) > _MOST_OPEN:
            sure[undecided[self._by_kernels(batch.take(undecided))]] = True
        elif len(undecided):
            from tidings.matching import choice  # loads numba

            for row in undecided.tolist():
                sure[row] = choice.matches(self._filter.conjunctions, batch.bindings(row), self._catalog)
        return np.flatnonzero(sure)

    def _by_kernels(self, batch: EventBatch) -> npt.NDArray[np.int64]:
        if self._matcher is None:
            from tidings.matching.index.box_matcher import BoxMatcher

            self._matcher = BoxMatcher(self._catalog, threads=1)
            self._matcher.add(Subscription("", self._filter))
        return np.flatnonzero(np.diff(self._matcher.match(batch).offsets))

    def _decided(self, batch: EventBatch) -> tuple[Mask, Mask]:
        """Which rows match, and of which others it is open."""
        table = self._table
        events = EventTable.of(batch, table.dimensions, table.relations, len(table.constants) > 0)
        sure, open = np.zeros(len(batch), bool), np.zeros(len(batch), bool)
        for box in range(len(table)):
            may, undecided = self._box(box, events)
            sure |= may & ~undecided
            open |= may & undecided
        return sure, open & ~sure

    def _box(self, box: int, events: EventTable) -> tuple[Mask, Mask]:
        """Which events may lie in the box, and of which it is open, as far as they may."""
        table = self._table
        may, open = np.ones(len(events.least), bool), np.zeros(len(events.least), bool)
        for side in range(table.offsets[box], table.offsets[box + 1]):
            may &= inside(events, int(table.dimension[side]), int(table.low[side]), int(table.high[side]))
        for row in range(table.residual_offsets[box], table.residual_offsets[box + 1]):
            holds, undecided = self._residual(table.residuals[row].tolist(), events)
            kind, negated = table.residuals[row, :2]
            if kind == HAS_ALL and negated:  # words that several values have together prove nothing
                holds |= open
            may &= holds | undecided
            open |= undecided
        return may, open

    def _residual(self, residual: list[int], events: EventTable) -> tuple[Mask, Mask]:
        """Where it holds, and where that is open."""
        kind, negated, first, start, stop = residual
        count = len(events.least)
        decided = np.zeros(count, bool)
        if kind in PAIRED:
            relation = events.relations[:, first]
            several = relation >= SEVERAL
            match kind:
                case _ if kind == RELATED:
                    return relation & start != 0, several
                case _ if kind == SINGLE:
                    return ~several, several
                case _ if kind in (LINEAR, SHIFTED):
                    return (relation != 0) & self._computed(kind, negated, first, start, events), several
                case _ if kind in (CIRCLE, BOX):  # few events' business: their sides enclose them
                    return np.zeros(count, bool), relation != 0
        if kind in (VERIFY, PATTERN):  # left to others
            return ~decided, ~decided
        bound = events.least[:, first] >= 0
        if kind == UNBOUND_AXIS:
            return ~bound, decided
        pool = self._table.pool[start:stop].tolist()
        if kind == IN_RANGES:
            ranges = zip(pool[::2], pool[1::2], strict=True)
            return np.any([inside(events, first, low, high) for low, high in ranges], axis=0), decided
        if kind not in (HAS_ANY, HAS_ALL):
            raise AssertionError(f"residuals of kind {kind} are not decided here")
        has = [inside(events, first, ordinal, ordinal + 1) for ordinal in pool]
        found = np.any(has, axis=0) if kind == HAS_ANY else np.all(has, axis=0)
        return bound & (found != bool(negated)), decided

    def _computed(self, kind: int, bits: int, pair: int, row: int, events: EventTable) -> Mask:
        one, two = self._table.constants[row, :2]
        left: Any
        right: Any
        if kind == LINEAR:
            left, right = (
                events.pair_numbers[:, EXTREMES * pair],
                one * events.pair_numbers[:, EXTREMES * pair + 1] + two,
            )
        else:
            left = events.pair_instants[:, EXTREMES * pair] - events.pair_instants[:, EXTREMES * pair + 1]
            right = np.int64(one) * HALF + np.int64(two)
        bit = np.where(left == right, SAME, np.where(left < right, LESS, GREATER))
        holds: Mask = bit & bits != 0
        return holds


def inside(events: EventTable, dimension: int, low: int, high: int) -> Mask:
    """Which events have an ordinal in [low, high)."""
    least, greatest = events.least[:, dimension], events.greatest[:, dimension]
    found: Mask = (least >= low) & (least < high)
    if len(events.sets):
        before = np.concatenate([[0], np.cumsum((events.sets >= low) & (events.sets < high))])
        several = before[events.set_stops[:, dimension]] > before[events.set_starts[:, dimension]]
        found = np.where(least == greatest, found, several)
    return found
