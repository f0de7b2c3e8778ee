"""The default algorithm: boxes over ordinal spaces, in a few immutable segments that are merged as they come to be
alike.

What was added last waits as plain boxes and is made a small segment when a batch comes; segments of like size are
merged, so there are never many. A withdrawal closes a span; merging drops what no position can need any more."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from tidings.errors import MatchingError
from tidings.events import EventBatch
from tidings.language import Filter
from tidings.matching.box_table import BoxTable
from tidings.matching.boxes import Box, boxes_of
from tidings.matching.matcher import FOREVER, Cost, Matcher, Matches, Spans
from tidings.matching.merging import merge_tables, table_of
from tidings.matching.naive import matches
from tidings.matching.segment import Found, Restriction, Segment
from tidings.schema.catalog import Catalog

_MOST_WAITING = 256  # boxes that wait before they become a segment for good
_MOST_RECENT = 1000
_ALIKE = 4  # a segment is merged with the one before it unless that is this many times larger

_NO_MARKS = np.zeros(0, np.uint8)
_UNRESTRICTED = Restriction(np.zeros(0, np.int64), np.zeros(0, np.int64), _NO_MARKS)


class LoadedFilters(MatchingError):
    """A hierarchy was renumbered, and some boxes were loaded as arrays: nobody knows their filters."""

    def __init__(self, count: int) -> None:
        super().__init__(count)

    def __str__(self) -> str:
        return f"{self.args[0]:,} filters were loaded as arrays; a hierarchy grew, so load them under the new catalog"


class BoxMatcher(Matcher):
    name = "default"

    def __init__(self, catalog: Catalog, threads: int | None = None) -> None:
        super().__init__(catalog)
        self.threads = threads or min(2, os.cpu_count() or 1)
        self._filters: dict[int, Filter] = {}
        self._stored_filters: Any = None
        self._segments: list[Segment] = []
        self._latest_start: list[int] = []  # of each segment
        self._closings: list[int] = []  # in each segment
        self._waiting: list[tuple[int, Box]] = []
        self._tail: Segment | None = None
        self._recent: EventBatch | None = None  # what merges choose access paths by
        self._closed = np.zeros(16, np.uint8)

    @classmethod
    def restored(
        cls, catalog: Catalog, segments: list[Segment], ids: Any, spans: npt.NDArray[np.int64], filters: Any,
        threads: int | None = None,
    ) -> BoxMatcher:  # fmt: skip
        """A matcher over the segments of a plan."""
        made = cls(catalog, threads)
        made.spans = Spans.restored(ids, spans)
        made._closed = (spans[1] != FOREVER).astype(np.uint8)
        made._stored_filters = filters
        for segment in segments:
            made._append(segment)
        return made

    def settled_segments(self) -> list[Segment]:
        """All that there is, with nothing left waiting."""
        self._freeze()
        return self._segments

    def filter_texts(self) -> tuple[list[int], list[str]]:
        """The canonical texts of the filters that were added singly, by number."""
        self._recall()
        return list(self._filters), [filter.text for filter in self._filters.values()]

    def _recall(self) -> None:
        """Reads the filters of an opened plan, when something is asked that only they can answer."""
        if self._stored_filters is not None:
            numbers = self._stored_filters.column("number").to_pylist()
            texts = self._stored_filters.column("filter").to_pylist()
            self._stored_filters = None
            no_limit = 1 << 30  # what was accepted once is read again
            stored = {n: Filter.parse(text, self.catalog, no_limit) for n, text in zip(numbers, texts, strict=True)}
            self._filters = stored | self._filters

    def load(self, table: BoxTable, ids: list[str], at: int = 0) -> None:
        """Many filters at once, already boxes in arrays whose numbers follow those that are there."""
        self._freeze()
        self.spans.open_many(ids, at)
        self._append(Segment.of(table))

    def withdraw(self, id: str, at: int) -> None:
        number = self.spans.close(id, at)
        self._make_room_for_marks(number + 1)
        self._closed[number] = 1
        for place, segment in enumerate(self._segments):
            if segment.first_number <= number <= segment.last_number:
                self._closings[place] += 1

    def adopt(self, catalog: Catalog) -> None:
        """Enumerations only grow at their end, so boxes stay as they are; where pre-order numbers moved, boxes are made
        anew from the filters. What was loaded as arrays has no filters and must then be loaded again."""
        self._recent = None
        self._recall()
        if not self._renumbered(catalog):
            super().adopt(catalog)
            self._tail = None
            return
        if len(self._filters) < len(self.spans):
            raise LoadedFilters(len(self.spans) - len(self._filters))
        super().adopt(catalog)
        self._segments, self._latest_start, self._closings, self._waiting = [], [], [], []
        self._tail = None
        for number, filter in self._filters.items():
            self._waiting.extend((number, box) for box in boxes_of(filter, catalog))
        self._freeze()

    def _renumbered(self, catalog: Catalog) -> bool:
        """Whether a hierarchy that boxes ask about has other numbers in the new catalog."""
        axes = {dimension.axis for segment in self._segments for dimension in segment.dimensions}
        axes |= {side.axis for _, box in self._waiting for side in box.sides}
        for axis in axes:
            before, after = self.catalog.domain_of(axis.attribute), catalog.domain_of(axis.attribute)
            if before is None or after is None or before.hierarchy != after.hierarchy:
                return True
        return False

    def merge(self, committed: int | None = None) -> None:
        """One segment of all; what is closed up to the committed position is dropped."""
        self._freeze()
        while len(self._segments) > 1:
            self._merge_last(committed)
        if len(self._segments) == 1 and committed is not None:
            self._replace(0, 1, merge_tables([self._living(self._segments[0], committed)]))

    @property
    def bytes(self) -> int:
        """What the segments' arrays take."""
        return sum(segment.bytes for segment in self._segments)

    def _insert(self, number: int, filter: Filter) -> None:
        boxes = boxes_of(filter, self.catalog)
        self._filters[number] = filter
        self._waiting.extend((number, box) for box in boxes)
        self._tail = None
        if len(self._waiting) >= _MOST_WAITING:
            self._freeze()

    def _freeze(self) -> None:
        """What waits becomes a segment; segments alike in size are merged."""
        if self._waiting:
            self._append(Segment.of(BoxTable.of(self._waiting, self.catalog)))
        self._waiting, self._tail = [], None
        while len(self._segments) > 1 and len(self._segments[-2]) < _ALIKE * len(self._segments[-1]):
            self._merge_last(None)

    def _append(self, segment: Segment) -> None:
        self._segments.append(segment)
        mine = slice(segment.first_number, segment.last_number + 1)
        starts = self.spans.start[mine]
        self._latest_start.append(int(starts.max()) if len(starts) else 0)
        marks = self._closed[mine]
        self._closings.append(int(np.count_nonzero(marks)))

    def _merge_last(self, committed: int | None) -> None:
        tables = [self._living(segment, committed) for segment in self._segments[-2:]]
        self._replace(len(self._segments) - 2, len(self._segments), merge_tables(tables))

    def _replace(self, first: int, last: int, table: BoxTable) -> None:
        del self._segments[first:last], self._latest_start[first:last], self._closings[first:last]
        if len(table):
            self._append(Segment.of(table, self._recent))

    def _living(self, segment: Segment, committed: int | None) -> BoxTable:
        table = table_of(segment)
        if committed is None:
            return table
        return table.take(np.flatnonzero(self.spans.stop[table.number] > committed))

    def _match(self, batch: EventBatch) -> Matches:
        if len(batch):
            self._recent = batch.slice(0, min(len(batch), _MOST_RECENT))
        if self._tail is None and self._waiting:
            self._tail = Segment.of(BoxTable.of(self._waiting, self.catalog))
        if any(self._closings) or self._tail is not None or self._starts_inside(batch):
            self.spans.writable()
        segments: list[tuple[Segment, Restriction]] = [
            (segment, self._restriction(batch, self._latest_start[place], self._closings[place]))
            for place, segment in enumerate(self._segments)
        ]
        if self._tail is not None:
            segments.append((self._tail, Restriction(self.spans.start, self.spans.stop, _NO_MARKS)))
        found = [s.match(batch, restriction, len(self.spans), self.threads) for s, restriction in segments]
        return self._combined(batch, found)

    def _starts_inside(self, batch: EventBatch) -> bool:
        earliest = pc.min(batch.positions).as_py()
        return earliest is not None and any(start > earliest for start in self._latest_start)

    def _restriction(self, batch: EventBatch, latest_start: int, closings: int) -> Restriction:
        earliest = pc.min(batch.positions).as_py()
        if earliest is not None and latest_start > earliest:
            return Restriction(self.spans.start, self.spans.stop, _NO_MARKS)
        if not closings:
            return _UNRESTRICTED
        self._make_room_for_marks(len(self.spans))
        return Restriction(self.spans.start, self.spans.stop, self._closed)

    def _make_room_for_marks(self, numbers: int) -> None:
        if numbers > len(self._closed):
            self._closed = np.concatenate([self._closed, np.zeros(2 * numbers - len(self._closed), np.uint8)])

    def _combined(self, batch: EventBatch, found: list[Found]) -> Matches:
        cost = Cost()
        for one in found:
            cost += one.cost
        if not found:
            return Matches(np.zeros(len(batch) + 1, np.int64), np.zeros(0, np.int32), cost)
        if len(found) == 1 and not len(found[0].asked):
            return Matches(found[0].offsets, found[0].numbers, cost)
        owners = [np.repeat(np.arange(len(batch)), np.diff(one.offsets)) for one in found]
        numbers = [one.numbers for one in found]
        agreed = self._agreed(batch, found, owners)
        owner = np.concatenate([*owners, agreed[:, 0]])
        number = np.concatenate([*numbers, agreed[:, 1].astype(np.int32)])
        order = np.argsort(owner, kind="stable")
        offsets = np.searchsorted(owner[order], np.arange(len(batch) + 1)).astype(np.int64)
        return Matches(offsets, number[order], cost)

    def _agreed(self, batch: EventBatch, found: list[Found], owners: list[Any]) -> npt.NDArray[np.int64]:
        """Of the pairs that kernels could not decide those that the specification agrees to and that are new."""
        open_pairs = {tuple(pair) for one in found for pair in one.asked.tolist()}
        if not open_pairs:
            return np.zeros((0, 2), np.int64)
        known = {
            pair for one, owner in zip(found, owners, strict=True)
            for pair in zip(owner.tolist(), one.numbers.tolist(), strict=True)
        }  # fmt: skip
        self._recall()
        positions = batch.positions.to_pylist()
        bindings: dict[int, Any] = {}
        agreed = []
        for event, number in sorted(open_pairs - known):
            if not self.spans.start[number] <= positions[event] < self.spans.stop[number]:
                continue
            if event not in bindings:
                bindings[event] = batch.event(event).bindings()
            if matches(self._filters[number].tree, bindings[event], self.catalog):
                agreed.append((event, number))
        return np.array(agreed, np.int64).reshape(-1, 2)
