"""A segment: an immutable set of boxes with its index, matched on its own. A plan is a few segments.

Ordinals and dictionaries belong to the segment, so adding, merging or dropping one changes nothing outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.errors import MatchingError
from tidings.events import EventBatch
from tidings.matching.algorithm import Cost
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.choices import Choices
from tidings.matching.boxes.dimension import Dimension
from tidings.matching.boxes.event_table import EventTable
from tidings.matching.boxes.possible_relations import with_choices
from tidings.matching.index.bitmaps import Bitmaps
from tidings.matching.index.blocks import blocked, find_in_blocks, find_rows, weave
from tidings.matching.index.index import Index, build_index
from tidings.matching.index.kernel import CANDIDATES, COUNTED, OPEN_MATCHES, TESTED, find_matches
from tidings.matching.index.rarest import with_rarest_terms
from tidings.matching.index.threads import Threads
from tidings.matching.index.thresholds import DEFAULTS, Thresholds
from tidings.matching.ragged import joined_offsets

_SAMPLE = 16  # events matched first, to estimate the room needed for the others
NO_LIMIT = 1 << 62


class TooManyMatches(MatchingError):
    """A batch has more matches than the caller has room for: the limit, and how many events stayed below it (0:
    unknown)."""

    def __init__(self, most: int, events: int = 0) -> None:
        super().__init__(most, events)
        self.events = events

    def __str__(self) -> str:
        return f"the batch has more than {self.args[0]:,} matches; match fewer events at once"


class Found(NamedTuple):
    """Matches of one segment. A negative number n is ~n, which Python must still verify; `open` counts these."""

    offsets: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int32]
    open: int
    cost: Cost


class Restriction(NamedTuple):
    """Which matches to test against their spans: none (no spans), the closed ones, or all (nothing marked)."""

    start: npt.NDArray[np.int64]
    stop: npt.NDArray[np.int64]
    closed: npt.NDArray[np.uint8]


class _Pairs(NamedTuple):
    """Matches as pairs (event, number)."""

    pairs: npt.NDArray[np.int32]
    open: int
    candidates: int


_UNRESTRICTED = Restriction(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8))
_NOTHING = _Pairs(np.zeros((0, 2), np.int32), 0, 0)
_NO_STAMP = np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class Segment:
    dimensions: tuple[Dimension, ...]
    relations: tuple[tuple[str, str], ...]
    index: Index
    bitmaps: Bitmaps
    first_number: int
    last_number: int
    repeats: bool  # whether a subscription may have several boxes
    thresholds: Thresholds = DEFAULTS

    @classmethod
    def of(cls, table: BoxTable, recent: EventBatch | None = None, thresholds: Thresholds = DEFAULTS) -> Segment:
        """`recent` events help to choose access paths."""
        known = None if recent is None else EventTable.of(recent, table.dimensions)
        table = with_rarest_terms(table, known)
        index, bitmaps = build_index(table, None if known is None else known.least, thresholds)
        numbers = table.number
        least, most = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, -1)
        ascending = bool((numbers[1:] > numbers[:-1]).all())
        repeats = not ascending and int(np.bincount(numbers - least).max()) > 1
        return cls(table.dimensions, table.relations, index, bitmaps, least, most, repeats, thresholds)

    def __len__(self) -> int:
        return len(self.index.number)

    def hold_paths(self) -> None:
        """Makes its paths known to the index of all paths."""
        for dimension in self.dimensions:
            if dimension.axis.role == "path":
                _ = dimension.held_paths

    @property
    def bytes(self) -> int:
        return self.index.bytes + self.bitmaps.bytes

    def match(
        self, batch: EventBatch, restriction: Restriction, numbers: int, parts: list[tuple[int, int]],
        threads: Threads, most: int = NO_LIMIT,
    ) -> Found:  # fmt: skip
        """All matches of the batch, whose parts [first, last) run in parallel; `numbers` is the number of subscription
        numbers. Raises TooManyMatches when a part has found more than `most`, withdrawn subscriptions included."""
        events = EventTable.of(batch, self.dimensions, self.relations, len(self.index.constants) > 0)
        choices = with_choices(events, batch, self.dimensions, self.relations, len(self.index.constants) > 0)
        found = threads.run(
            lambda first, last: self._part(events, choices, first, last, restriction, numbers, most), parts
        )
        return joined(found)

    @cached_property
    def _blocked(self) -> list[tuple[int, int]]:
        return blocked(self.index, self.bitmaps, self.thresholds.fewest_in_blocks)

    def _part(
        self, events: EventTable, choices: Choices, first: int, last: int, restriction: Restriction, numbers: int,
        most: int,
    ) -> Found:  # fmt: skip
        """The events [first, last)."""
        stamp = np.zeros(numbers if self.repeats else 0, np.int32)
        if not self._blocked:
            return self._by_event(events, choices, first, last, restriction, stamp, most)
        found = self._by_event(events, choices, first, last, _UNRESTRICTED, stamp[:0], most)
        for group, place in self._blocked:
            in_blocks = self._by_block(events, choices, first, last, group, place, most)
            found = self._woven(events, first, last, found, in_blocks)
        if not len(restriction.start) and not len(stamp):
            return found
        return self._woven(events, first, last, found, _NOTHING, restriction, stamp)

    def _by_event(
        self,
        events: EventTable,
        choices: Choices,
        first: int,
        last: int,
        restriction: Restriction,
        stamp: npt.NDArray[np.int32],
        most: int,
    ) -> Found:
        """Matches everything except blocks; a few events first, to estimate the room needed."""
        accumulator = self.bitmaps.accumulator()
        counts = np.zeros(len(COUNTED), np.int64)
        offsets = np.zeros(last + 1, np.int64)
        out = np.empty(self.thresholds.room, np.int32)
        done, stop = first, min(first + _SAMPLE, last)
        while True:
            done = find_matches(
                self.index, self.bitmaps, events, choices, done, stop, stamp, *restriction,
                self.thresholds.fewest_in_blocks, self.thresholds.most_combinations, accumulator, counts, offsets, out,
            )  # fmt: skip
            if done == last:
                cost = Cost(int(counts[CANDIDATES]), int(counts[TESTED]))
                return Found(offsets[first:], out[: offsets[last]], int(counts[OPEN_MATCHES]), cost)
            if offsets[done] > most:
                raise TooManyMatches(most, done - first)
            # Untouched memory costs nothing, so allocate plenty.
            per_event = offsets[done] / (done - first) if done > first else 0
            expected = min(1.5 * per_event * (last - first), most)
            room = int(max(4 * len(out) if done < stop else 0, expected)) + self.thresholds.room
            wider = np.empty(room, np.int32)
            wider[: offsets[done]] = out[: offsets[done]]
            out, stop = wider, last

    def _by_block(
        self, events: EventTable, choices: Choices, first: int, last: int, group: int, place: int, most: int
    ) -> _Pairs:
        """The matches in one cluster, as pairs."""
        dimensions = int(np.diff(self.bitmaps.first_dimension)[place])
        rows = np.empty((last - first, dimensions), np.int64)
        find_rows(place, self.bitmaps, events, first, last, rows)
        single = (events.least == events.greatest).all(axis=1)
        counts, found = np.zeros(len(COUNTED), np.int64), np.zeros(1, np.int64)
        pairs = np.empty((self.thresholds.room, 2), np.int32)
        blocks = -(-int(self.bitmaps.words_each[place]) // self.thresholds.block)
        done = 0
        while done < blocks:
            done = find_in_blocks(
                group,
                place,
                self.index,
                self.bitmaps,
                events,
                choices,
                first,
                last,
                rows,
                single,
                self.thresholds.block,
                done,
                counts,
                pairs,
                found,
            )
            if found[0] > most:
                raise TooManyMatches(most)
            if done < blocks:
                pairs = np.concatenate([pairs, np.empty_like(pairs)])
        return _Pairs(pairs[: found[0]], int(counts[OPEN_MATCHES]), int(counts[CANDIDATES]))

    def _woven(
        self, events: EventTable, first: int, last: int, found: Found, more: _Pairs,
        restriction: Restriction = _UNRESTRICTED, stamp: npt.NDArray[np.int32] = _NO_STAMP,
    ) -> Found:  # fmt: skip
        """Merges both answers; applies the restriction and stamps, if any."""
        offsets = np.zeros(last - first + 1, np.int64)
        numbers = np.empty(len(found.numbers) + len(more.pairs), np.int32)
        shifted = np.concatenate([np.zeros(first, np.int64), found.offsets])
        weave(
            first, last, shifted, found.numbers, more.pairs, events.positions, *restriction, stamp,
            np.zeros(last - first + 1, np.int64), offsets, numbers,
        )  # fmt: skip
        cost = found.cost + Cost(more.candidates)
        return Found(offsets, numbers[: offsets[-1]], found.open + more.open, cost)


def joined(parts: list[Found]) -> Found:
    """Joins the parts of one batch, in order."""
    if len(parts) == 1:
        return parts[0]
    return Found(
        joined_offsets([part.offsets for part in parts]),
        np.concatenate([part.numbers for part in parts]),
        sum(part.open for part in parts),
        sum((part.cost for part in parts), Cost()),
    )
