"""A segment: an immutable set of boxes with its index, matched on its own. A plan is a few segments.

Ordinals and dictionaries belong to the segment, so nothing outside must change when one is added, merged or dropped.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.events import EventBatch
from tidings.matching.bitmaps import Bitmaps
from tidings.matching.box_kernel import ASKED, CANDIDATES, TESTED, find_matches
from tidings.matching.box_table import BoxTable
from tidings.matching.dimension import Dimension
from tidings.matching.event_table import EventTable
from tidings.matching.index import Index, build_index
from tidings.matching.matcher import Cost

_ROOM = 1 << 16  # matches that there is room for at least
_SAMPLE = 16  # events that are matched first, to learn how much room the others need
_ROOM_TO_ASK = 4096
_FEWEST_FOR_THREADS = 512


class Found(NamedTuple):
    """Matches of one segment; `asked` are pairs (event, number) that only the specification can decide."""

    offsets: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int32]
    asked: npt.NDArray[np.int64]
    cost: Cost


class Restriction(NamedTuple):
    """Which matches must be tested against their span: none (no spans), the closed ones, or (nothing marked) all."""

    start: npt.NDArray[np.int64]
    stop: npt.NDArray[np.int64]
    closed: npt.NDArray[np.uint8]


class _Events(NamedTuple):
    """The arrays of an EventTable, as kernels take them."""

    least: npt.NDArray[np.int32]
    greatest: npt.NDArray[np.int32]
    set_starts: npt.NDArray[np.int64]
    set_stops: npt.NDArray[np.int64]
    sets: npt.NDArray[np.int32]
    relations: npt.NDArray[np.uint8]
    positions: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Segment:
    dimensions: tuple[Dimension, ...]
    relations: tuple[tuple[str, str], ...]
    index: Index
    bitmaps: Bitmaps
    first_number: int
    last_number: int
    repeats: bool  # whether a subscription may have several boxes

    @classmethod
    def of(cls, table: BoxTable, recent: EventBatch | None = None) -> Segment:
        """`recent` events help to choose how boxes are found."""
        known = None if recent is None else EventTable.of(recent, table.dimensions).least
        index, bitmaps = build_index(table, known)
        numbers = table.number
        least, most = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, -1)
        ascending = bool((numbers[1:] > numbers[:-1]).all())
        repeats = not ascending and int(np.bincount(numbers - least).max()) > 1
        return cls(table.dimensions, table.relations, index, bitmaps, least, most, repeats)

    def __len__(self) -> int:
        return len(self.index.number)

    @property
    def bytes(self) -> int:
        return self.index.bytes + self.bitmaps.bytes

    def match(self, batch: EventBatch, restriction: Restriction, numbers: int, threads: int) -> Found:
        """All matches of the batch; `numbers` is how many subscription numbers there are."""
        table = EventTable.of(batch, self.dimensions, self.relations)
        events = _Events(*(getattr(table, name) for name in _Events._fields))
        parts = threads if len(batch) >= _FEWEST_FOR_THREADS else 1
        cuts = np.linspace(0, len(batch), parts + 1).astype(np.int64).tolist()
        if parts == 1:
            return self._part(events, 0, len(batch), restriction, numbers)
        with ThreadPoolExecutor(parts) as pool:
            jobs = [
                pool.submit(self._part, events, first, last, restriction, numbers) for first, last in pairwise(cuts)
            ]
            return joined([job.result() for job in jobs])

    def _part(self, events: _Events, first: int, last: int, restriction: Restriction, numbers: int) -> Found:
        """The events [first, last): a few first, to learn how much room the answer needs."""
        stamp = np.zeros(numbers if self.repeats else 0, np.int32)
        words = int(self.bitmaps.words_each.max()) if len(self.bitmaps.words_each) else 0
        accumulator = np.empty(2 * words, np.uint64)
        counts = np.zeros(3, np.int64)
        asked = np.empty((_ROOM_TO_ASK, 2), np.int64)
        offsets = np.zeros(last + 1, np.int64)
        out = np.empty(_ROOM, np.int32)
        done, stop = first, min(first + _SAMPLE, last)
        while True:
            done = find_matches(
                self.index, self.bitmaps, events, done, stop, stamp, *restriction,
                accumulator, counts, asked, offsets, out,
            )  # fmt: skip
            if counts[ASKED] > len(asked):
                asked = np.concatenate([asked, np.empty((int(counts[ASKED]), 2), np.int64)])
                counts[:], done, stop = 0, first, min(first + _SAMPLE, last)
                stamp[:] = 0
                continue
            if done == last:
                cost = Cost(int(counts[CANDIDATES]), int(counts[TESTED]))
                return Found(offsets[first:], out[: offsets[last]], asked[: counts[ASKED]], cost)
            # Room that is not touched costs nothing, so there may be plenty of it.
            per_event = offsets[done] / (done - first) if done > first else 0
            room = int(max(4 * len(out) if done < stop else 0, 1.5 * per_event * (last - first))) + _ROOM
            wider = np.empty(room, np.int32)
            wider[: offsets[done]] = out[: offsets[done]]
            out, stop = wider, last


def joined(parts: list[Found]) -> Found:
    """Parts of one batch, in order."""
    if len(parts) == 1:
        return parts[0]
    offsets, base = [np.zeros(1, np.int64)], 0
    for part in parts:
        offsets.append(part.offsets[1:] + base)
        base += int(part.offsets[-1])
    cost = Cost()
    for part in parts:
        cost += part.cost
    return Found(
        np.concatenate(offsets),
        np.concatenate([part.numbers for part in parts]),
        np.concatenate([part.asked for part in parts]),
        cost,
    )
