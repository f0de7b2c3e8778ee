"""The default algorithm: boxes over ordinals, in a few immutable segments, merged when they are similar in size.

Recent additions are buffered; the next batch turns them into a small segment. Segments of similar size are merged,
large ones in the background, so there are never many. A withdrawal closes a span; merging drops the boxes that no
position can need any more."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidings.events import Event, EventBatch
from tidings.events.quick_look import GivenEvent
from tidings.language import Filter, Subscription
from tidings.matching.algorithm import FIRST_POSITION, Algorithm, Matches
from tidings.matching.boxes.box import Box, boxes_of
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.filter_batch import FilterBatch
from tidings.matching.index.combined import combined
from tidings.matching.index.growth import remade, renumbered
from tidings.matching.index.one_event import OneEvent
from tidings.matching.index.segment import NO_LIMIT, Restriction, Segment
from tidings.matching.index.segments import Segments, Standing
from tidings.matching.index.threads import Threads
from tidings.matching.index.thresholds import DEFAULTS, Thresholds
from tidings.matching.plan.chunks import Chunk, Chunks
from tidings.matching.plan.filters import NUMBERS, Filters
from tidings.matching.plan.saved_files import SavedFiles
from tidings.matching.spans import Closings, Numbers, Spans
from tidings.schema.catalog import Catalog

_MOST_RECENT = 1000
_CLOSINGS = pa.schema([("number", pa.int32()), ("stop", pa.int64())])

_NO_MARKS = np.zeros(0, np.uint8)
_UNRESTRICTED = Restriction(np.zeros(0, np.int64), np.zeros(0, np.int64), _NO_MARKS)


class Settled(NamedTuple):
    """The whole state of a matcher, in immutable pieces."""

    segments: list[Standing]
    numbers: list[Chunk]
    closings: list[Chunk]


class BoxMatcher(Algorithm):
    """Not thread-safe, although it merges in the background."""

    name = "default"

    def __init__(self, catalog: Catalog, threads: int | None = None, thresholds: Thresholds = DEFAULTS) -> None:
        super().__init__(catalog)
        self.thresholds = thresholds
        self._threads = Threads(threads)
        self.saved = SavedFiles()
        self._waiting: list[tuple[int, Box]] = []
        self._tail: Segment | None = None
        self._one_event = OneEvent(catalog)
        self._most = NO_LIMIT
        self._ended: list[tuple[int, int]] = []  # numbers and ends of spans closed since the last save
        self._keep(self.spans, [], [])

    def _keep(self, spans: Spans, numbers: list[Chunk], closings: list[Chunk]) -> None:
        self.spans = spans
        self._filters = Filters(Chunks(NUMBERS, numbers, self.thresholds.largest_chunk))
        self._closings = Chunks(_CLOSINGS, closings, self.thresholds.largest_chunk)
        self._segments = Segments(spans, self._filters.forget, self.thresholds)

    @classmethod
    def restored(
        cls, catalog: Catalog, segments: list[tuple[Segment, int]], numbers: list[Chunk], closings: list[Chunk],
        threads: int | None = None, thresholds: Thresholds = DEFAULTS,
    ) -> BoxMatcher:  # fmt: skip
        """A matcher over the pieces of a plan; each segment comes with the latest start of its spans."""
        made = cls(catalog, threads, thresholds)
        known, ends = Chunks(NUMBERS, numbers), Chunks(_CLOSINGS, closings)
        closed = Closings(ends.column("number").to_numpy(), ends.column("stop").to_numpy())
        spans = Spans.restored(known.column("id"), known.column("start"), closed, known.column("owner"))
        made._keep(spans, numbers, closings)
        made._segments.closed = np.zeros(len(known), np.uint8)
        made._segments.closed[closed.numbers] = 1
        for segment, latest_start in segments:
            made._segments.append(segment, latest_start)
        return made

    def settled(self) -> Settled:
        """Flushes the buffer without waiting for running merges."""
        self._freeze()
        self._write_down()
        if self._ended:
            self._closings.append(list(map(list, zip(*self._ended, strict=True))))
            self._ended = []
        if self._segments.committed is not None:
            self._filters.shrink(self.spans.stop, self._segments.committed)
        return Settled(list(self._segments), list(self._filters.numbers), list(self._closings))

    def settled_segments(self) -> list[Segment]:
        """The current state, with the buffer flushed."""
        self._freeze()
        return [one.segment for one in self._segments]

    def filter(self, id: str) -> Filter | None:
        """The filter of an active subscription, None if it was loaded as arrays; raises UnknownSubscription."""
        return self._filters.of(self.spans.number(id), self.catalog)

    def filter_text(self, id: str) -> str | None:
        """Its canonical text, without parsing it."""
        return self._filters.text(self.spans.number(id))

    def filter_texts(self) -> dict[int, str]:
        """The canonical texts, by number, of filters that were not loaded as arrays and are still needed."""
        return self._filters.texts()

    def add(self, subscription: Subscription, at: int = 0, owner: str = "") -> int:
        self._segments.finish()  # first, so that a failed merge leaves nothing half done
        number = super().add(subscription, at)
        self.spans.own(number, owner)
        return number

    def add_many(self, subscriptions: Iterable[tuple[Subscription, int]]) -> range:
        """Like `add` for each at its position, but much faster, and all or none. Returns their numbers."""
        chosen = list(subscriptions)
        for subscription, _ in chosen:
            self._refuse_foreign(subscription)
        batch = FilterBatch.of((subscription.filter for subscription, _ in chosen), self.catalog)
        return self.add_batch([subscription.id for subscription, _ in chosen], batch, [at for _, at in chosen])

    def _insert_batch(
        self, ids: Sequence[str], batch: FilterBatch, at: Sequence[int] | int, owners: Sequence[str] | None
    ) -> range:
        self._segments.finish()
        table, texts = batch.boxes(len(self.spans)), batch.texts()
        self._write_down()
        first = self.spans.open_many(ids, at, owners)
        self._write_down(texts)
        self._set_waiting()
        self._segments.put(table)
        self._segments.merge_alike()
        return range(first, first + len(batch))

    def load(self, table: BoxTable, ids: list[str], at: int = 0) -> None:
        """Adds many filters at once, already boxes in arrays whose numbers follow the existing ones."""
        self._segments.finish()
        self.spans.open_many(ids, at)
        self._set_waiting()
        self._segments.put(table)

    def withdraw(self, id: str, at: int) -> None:
        number = self.spans.close(id, at)
        self._ended.append((number, at))
        self._segments.close(number)

    def adopt(self, catalog: Catalog) -> None:
        """Keeps all boxes except those that test a renumbered hierarchy: these are rebuilt from their filters. Boxes
        loaded as arrays have no filters and must be loaded again."""
        moved = renumbered(self.catalog, catalog)
        if moved:
            self._segments.finish(wait=True)
            self._set_waiting()
            for segment, table in remade(self._segments, self._filters, moved, catalog):
                self._segments.put(table, segment)
        super().adopt(catalog)
        self._segments.recent = None

    def merge(self, committed: int | None = None) -> None:
        """Merges everything into one segment, synchronously; drops what was closed up to the committed position."""
        self._segments.finish(wait=True)
        self._set_waiting()
        self._segments.merge_all(committed)

    def forget_before(self, position: int) -> None:
        """Promises that no later event has this position or an earlier one. Merges may then drop filters closed by
        it."""
        self._segments.finish()
        self._segments.forget_before(position)

    @property
    def bytes(self) -> int:
        """The memory used by the segments' arrays."""
        return sum(one.segment.bytes for one in self._segments)

    def _insert(self, number: int, filter: Filter) -> None:
        boxes = boxes_of(filter, self.catalog)
        self._filters.add(number, filter)
        self._waiting.extend((number, box) for box in boxes)
        self._tail = None
        if len(self._waiting) >= self.thresholds.most_waiting:
            self._set_waiting()
            self._segments.merge_alike()

    def _freeze(self) -> None:
        """Turns the buffer into a segment and merges segments of similar size."""
        self._segments.finish()
        self._set_waiting()
        self._segments.merge_alike()

    def _set_waiting(self) -> None:
        """Turns the buffer into a segment."""
        if self._waiting:
            self._segments.put(BoxTable.of(self._waiting, self.catalog))
        self._waiting, self._tail = [], None

    def _write_down(self, texts: Any = None) -> None:
        """Turns numbers assigned since the last save into rows of a plan."""
        first = len(self._filters.numbers)
        if first < len(self.spans):
            spans = self.spans
            self._filters.write_down(spans.ids[first:], spans.start[first:], texts, spans.owners[first:])

    def match_at_most(self, batch: EventBatch, most: int) -> Matches:
        """Like `match`, but raises TooManyMatches once a segment has found more than `most`, so that no more than a
        few times as many are ever in memory; one event is always matched, whatever it takes."""
        self._most = most if len(batch) > 1 else NO_LIMIT
        try:
            return self.match(batch)
        finally:
            self._most = NO_LIMIT

    def _match(self, batch: EventBatch) -> Matches:
        self._segments.finish()
        if len(batch):
            self._segments.recent = batch.slice(0, min(len(batch), _MOST_RECENT))
        segments = self._in_use(pc.min(batch.positions).as_py())
        parts, started = self._parts(len(batch), segments), time.perf_counter()
        numbers = len(self.spans)
        found = [s.match(batch, only, numbers, parts, self._threads, self._most) for s, only in segments]
        if len(batch) >= self.thresholds.fewest_for_threads:
            self._threads.note(len(parts), len(batch), time.perf_counter() - started)
        return combined(batch, found, self._filter)

    def _parts(self, events: int, segments: list[tuple[Segment, Restriction]]) -> list[tuple[int, int]]:
        """The parts [first, last) of a batch, one per thread."""
        if events < self.thresholds.fewest_for_threads:
            return [(0, events)]
        parts = self._threads.number(sum(len(segment) for segment, _ in segments))
        return list(pairwise(np.linspace(0, events, parts + 1).astype(np.int64).tolist()))

    def match_one(self, event: GivenEvent, position: int | None = None) -> Numbers:
        self._segments.finish()
        if self._one_event.catalog is not self.catalog:
            self._one_event = OneEvent(self.catalog)
        at = FIRST_POSITION if position is None else position
        found = self._one_event.match(event, at, self._in_use(at), len(self.spans), self._filter)
        if isinstance(found, Event):  # it needs a second look, which only batches do
            return self._match(EventBatch.of([found], self.catalog, at)).numbers
        return found

    def _in_use(self, earliest: int | None) -> list[tuple[Segment, Restriction]]:
        """The segments to search for events at this position and later."""
        if self._tail is None and self._waiting:
            self._tail = Segment.of(BoxTable.of(self._waiting, self.catalog), thresholds=self.thresholds)
        segments = [(one.segment, self._restriction(one, earliest)) for one in self._segments]
        for segment in (*(segment for segment, _ in segments), *([self._tail] if self._tail else [])):
            segment.hold_paths()  # of all segments, before documents are searched for them
        if self._tail is not None:
            segments.append((self._tail, Restriction(self.spans.start, self.spans.stop, _NO_MARKS)))
        return segments

    def _restriction(self, one: Standing, earliest: int | None) -> Restriction:
        if earliest is not None and one.latest_start > earliest:
            return Restriction(self.spans.start, self.spans.stop, _NO_MARKS)
        if not one.closings:
            return _UNRESTRICTED
        self._segments.make_room_for_marks(len(self.spans))
        return Restriction(self.spans.start, self.spans.stop, self._segments.closed)

    def _filter(self, number: int) -> Filter:
        filter = self._filters.of(number, self.catalog)
        assert filter is not None  # boxes loaded as arrays never need Python to decide
        return filter
