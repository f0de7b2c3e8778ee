"""The segments of a matcher, and the merges that keep them few: small ones at once, large ones in the background.

Segments never change, so a merge needs no lock: its thread builds the new segment, and the caller's next step replaces
the merged ones with it. Until then, and if the merge fails, they stay in use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.events import EventBatch
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.merge import merge_tables, table_of, tightened
from tidings.matching.index.segment import Segment
from tidings.matching.index.thresholds import DEFAULTS, Thresholds
from tidings.matching.spans import Numbers, Positions, Spans


@dataclass(slots=True)
class Standing:
    """A segment in use, and which of its matches to test against their spans."""

    segment: Segment
    latest_start: int
    closings: int


class _Merged(NamedTuple):
    segment: Segment | None  # None if no box is left
    dropped: Numbers  # numbers without any box left


class _Pending(NamedTuple):
    sources: tuple[Segment, ...]
    future: Future[_Merged]


class Segments:
    """`forget` receives the numbers whose boxes were dropped."""

    def __init__(self, spans: Spans, forget: Callable[[Numbers], None], thresholds: Thresholds = DEFAULTS) -> None:
        self.spans = spans
        self.thresholds = thresholds
        self.committed: int | None = None  # no event up to this position will be matched any more
        self.recent: EventBatch | None = None  # merges choose access paths by these
        self.closed = np.zeros(16, np.uint8)  # by number
        self._forget = forget
        self._standing: list[Standing] = []
        self._pending: _Pending | None = None

    def __iter__(self) -> Iterator[Standing]:
        return iter(self._standing)

    def __len__(self) -> int:
        return len(self._standing)

    def append(self, segment: Segment, latest_start: int) -> None:
        self._standing.append(Standing(segment, latest_start, self._closings(segment)))

    def put(self, table: BoxTable, before: Segment | None = None) -> None:
        """Turns boxes into a segment: appended, or replacing another."""
        segment = Segment.of(table, thresholds=self.thresholds) if len(table) else None
        if before is not None:
            self._swap((before,), segment)
        elif segment is not None:
            starts = self.spans.start[segment.first_number : segment.last_number + 1]
            self.append(segment, int(starts.max()))

    def close(self, number: int) -> None:
        """Records that the number's span was closed."""
        self.make_room_for_marks(number + 1)
        self.closed[number] = 1
        for one in self._standing:
            if one.segment.first_number <= number <= one.segment.last_number:
                one.closings += 1

    def make_room_for_marks(self, numbers: int) -> None:
        if numbers > len(self.closed):
            self.closed = np.concatenate([self.closed, np.zeros(2 * numbers - len(self.closed), np.uint8)])

    def finish(self, wait: bool = False) -> None:
        """Installs a finished merge, waiting for it if asked to; raises the merge's error if it failed."""
        pending = self._pending
        if pending is not None and (wait or pending.future.done()):
            self._pending = None
            self._take_over(pending.sources, pending.future.result())

    def merge_alike(self) -> None:
        """Merges segments of similar size; at most one large merge runs at a time."""
        while (sources := self._alike()) is not None:
            self._merge(sources)

    def merge_all(self, committed: int | None) -> None:
        """Merges all into one segment, synchronously."""
        self.finish(wait=True)
        if committed is not None:
            self._commit(committed)
        sources = tuple(one.segment for one in self._standing)
        if len(sources) > 1 or (sources and self.committed is not None):
            self._take_over(sources, self._merging(sources)())

    def forget_before(self, position: int) -> None:
        """No event up to this position will be matched any more: merges drop what was closed by then. Rebuilds a
        segment if much of it can be dropped."""
        committed = self._commit(position)
        for one in list(self._standing):
            boxes = len(one.segment)
            if one.closings * self.thresholds.many_gone < boxes or not self._free((one.segment,)):
                continue
            gone = np.count_nonzero(self.spans.stop[one.segment.index.number] <= committed)
            if gone * self.thresholds.many_gone >= boxes:
                self._merge((one.segment,))

    def _commit(self, position: int) -> int:
        self.committed = position if self.committed is None else max(position, self.committed)
        return self.committed

    def _alike(self) -> tuple[Segment, ...] | None:
        """The last segments that should and can be merged now, all at once: after two, a third would often follow.
        While a large merge runs, only as many as make a small one."""
        segments = [one.segment for one in self._standing]
        for last in range(len(segments) - 1, 0, -1):
            first, boxes = last, len(segments[last])
            while (
                first
                and len(segments[first - 1]) < self.thresholds.alike * boxes
                and self._free(segments[first - 1 : last + 1])
            ):
                first -= 1
                boxes += len(segments[first])
            if first < last:
                return tuple(segments[first : last + 1])
        return None

    def _free(self, sources: Sequence[Segment]) -> bool:
        """Whether none of them is being merged and, if they are large, no large merge is running."""
        if self._pending is None:
            return True
        small = sum(map(len, sources)) < self.thresholds.large_merge
        return small and not any(source is busy for source in sources for busy in self._pending.sources)

    def _merge(self, sources: tuple[Segment, ...]) -> None:
        work = self._merging(sources)
        if sum(map(len, sources)) < self.thresholds.large_merge:
            self._take_over(sources, work())
            return
        # A thread per merge: none idles between merges, and an exiting process waits only for this one.
        with_one_thread = ThreadPoolExecutor(1, "tidings-merge")
        self._pending = _Pending(sources, with_one_thread.submit(work))
        with_one_thread.shutdown(wait=False)

    def _merging(self, sources: tuple[Segment, ...]) -> Callable[[], _Merged]:
        """The work of a merge, with all its input."""
        stop = None if self.committed is None else self.spans.stop
        committed, recent, thresholds = self.committed, self.recent, self.thresholds
        return lambda: _merged(sources, stop, committed, recent, thresholds)

    def _take_over(self, sources: tuple[Segment, ...], merged: _Merged) -> None:
        self._swap(sources, merged.segment)
        if len(merged.dropped):
            self._forget(merged.dropped)

    def _swap(self, sources: Sequence[Segment], segment: Segment | None) -> None:
        """Replaces a run of adjacent segments with one."""
        place = next(i for i, one in enumerate(self._standing) if one.segment is sources[0])
        replaced = self._standing[place : place + len(sources)]
        del self._standing[place : place + len(sources)]
        if segment is not None:
            latest_start = max(one.latest_start for one in replaced)
            self._standing.insert(place, Standing(segment, latest_start, self._closings(segment)))

    def _closings(self, segment: Segment) -> int:
        """How many of its boxes are closed by now, including those closed while it was being built."""
        if not self.closed[segment.first_number : segment.last_number + 1].any():
            return 0
        self.make_room_for_marks(segment.last_number + 1)
        return int(np.count_nonzero(self.closed[segment.index.number]))


def _merged(
    sources: tuple[Segment, ...], stop: Positions | None, committed: int | None, recent: EventBatch | None,
    thresholds: Thresholds,
) -> _Merged:  # fmt: skip
    """Merges several segments into one, without what was closed up to the committed position."""
    tables, dropped = [], [np.zeros(0, np.int32)]
    for source in sources:
        table = table_of(source)
        if stop is not None and committed is not None:
            needed: npt.NDArray[np.bool_] = stop[table.number] > committed
            if not needed.all():
                dropped.append(table.number[~needed])
                table = tightened(table.take(np.flatnonzero(needed)))
        tables.append(table)
    table = merge_tables(tables)
    return _Merged(Segment.of(table, recent, thresholds) if len(table) else None, np.unique(np.concatenate(dropped)))
