"""Bitmaps for large clusters that would be tested box by box: one machine word decides 64 boxes.

Each dimension of such a cluster is divided into a few buckets of ordinals. A row of bits per bucket says which boxes
may accept an ordinal there (boxes that do not test the dimension always do); one more row is for events that do not
bind it. A second set of rows says which boxes accept every ordinal of the bucket. The rows of an event's buckets are
intersected: a box that is sure in every dimension matches, and only boxes that may match are tested exactly (thesis,
100,000 filters: 260 sides tested per event; 6,200 before sure rows and shared clusters)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.kernels.compiled import inlined, kernel
from tidings.matching.boxes.dimension import OPEN
from tidings.matching.index.access import MIXED, ROWS
from tidings.matching.index.thresholds import Thresholds
from tidings.matching.ragged import offsets_of

if TYPE_CHECKING:
    from tidings.matching.index.index import Index

_MOST_BUCKETS = 64
_MOST_SAMPLED = 20_000


class Bitmaps(NamedTuple):
    """Clusters with bitmaps, ascending, and their concatenated rows."""

    cluster: npt.NDArray[np.int64]
    first_dimension: npt.NDArray[np.int64]  # by cluster, one more at the end
    words_each: npt.NDArray[np.int64]  # by cluster: words in a row
    dimension: npt.NDArray[np.int16]
    first_edge: npt.NDArray[np.int64]  # by dimension of a cluster, one more at the end
    edges: npt.NDArray[np.int32]  # bucket k holds the ordinals [edges[k - 1], edges[k])
    first_word: npt.NDArray[np.int64]  # by dimension of a cluster: row 0 (unbound), a row per bucket, the sure rows
    first_plain: npt.NDArray[np.int64]  # by cluster: the row of boxes without residuals; -1 without sure rows
    words: npt.NDArray[np.uint64]

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for array in self)

    def accumulator(self) -> npt.NDArray[np.uint64]:
        """Room for the rows of the largest cluster: possible matches, sure ones, and a union of each."""
        return np.empty(4 * int(self.words_each.max(initial=0)), np.uint64)


def make_bitmaps(index: Index, thresholds: Thresholds) -> Bitmaps:
    """Builds bitmaps for every cluster that is large enough."""
    chosen = _worthwhile(index, thresholds.fewest_with_bitmaps)
    first_dimension, words_each, dimensions, first_plain = [0], [], [], []
    edges: list[npt.NDArray[np.int32]] = []
    first_word, used = [], 0
    for cluster, group in chosen:
        start, stop = int(index.cluster_start[cluster]), int(index.cluster_start[cluster + 1])
        sides = _sides(index, group, start, stop)
        words = (stop - start + 63) // 64
        keyless = index.access_offsets[group] == index.access_offsets[group + 1]
        in_blocks = keyless and stop - start >= thresholds.fewest_in_blocks  # blocks read only one set of rows
        sets = 1 if in_blocks else 2
        first_plain.append(-1 if in_blocks else used)
        used += 0 if in_blocks else words
        for dimension in np.unique(index.side_dimension[sides]).tolist():
            of_dimension = np.arange(sides.start, sides.stop)[index.side_dimension[sides] == dimension]
            dimensions.append(dimension)
            edges.append(_edges(index.low[of_dimension], index.high[of_dimension]))
            first_word.append(used)
            used += sets * words * (len(edges[-1]) + 2)
        first_dimension.append(len(dimensions))
        words_each.append(words)
    made = Bitmaps(
        np.array([cluster for cluster, _ in chosen], np.int64),
        np.array(first_dimension, np.int64),
        np.array(words_each, np.int64),
        np.array(dimensions, np.int16),
        offsets_of([len(one) for one in edges]),
        np.concatenate([np.zeros(0, np.int32), *edges]).astype(np.int32),
        np.array(first_word, np.int64),
        np.array(first_plain, np.int64),
        np.full(used, ~np.uint64(0)),
    )
    place_of = np.zeros(int(index.side_dimension.max()) + 1 if len(index.side_dimension) else 0, np.int64)
    for place, (cluster, group) in enumerate(chosen):
        start, stop = int(index.cluster_start[cluster]), int(index.cluster_start[cluster + 1])
        offsets = _side_offsets(index, group, start, stop)
        residual_set = index.residual_set[start:stop]
        fill_bitmaps(place, offsets, index.side_dimension, index.low, index.high, residual_set, place_of, *made)
    return made


def _worthwhile(index: Index, fewest_boxes: int) -> list[tuple[int, int]]:
    """(cluster, group) of each cluster with many boxes and several sides per box."""
    sizes = np.diff(index.cluster_start)
    large = np.flatnonzero(sizes >= fewest_boxes)
    groups = np.searchsorted(index.first_cluster, large, side="right") - 1
    found = []
    for cluster, group in zip(large.tolist(), groups.tolist(), strict=True):
        answer, width = index.answer[group], index.width[group]
        if (answer == ROWS and width >= 3) or answer == MIXED:
            found.append((cluster, group))
    return found


def _side_offsets(index: Index, group: int, start: int, stop: int) -> npt.NDArray[np.int64]:
    """The offsets of the sides of a cluster's boxes."""
    within = np.arange(start, stop + 1) - index.first_box[group]
    if index.width[group] >= 0:
        return np.asarray(index.first_side[group] + within * index.width[group], np.int64)
    return np.asarray(index.mixed_offsets[index.first_mixed[group] + within])


def _sides(index: Index, group: int, start: int, stop: int) -> slice:
    offsets = _side_offsets(index, group, start, stop)
    return slice(int(offsets[0]), int(offsets[-1]))


def _edges(low: npt.NDArray[np.int32], high: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Bucket edges: every bound if there are few, else denser where bounds are dense."""
    bounds = np.concatenate([low[low > 0], high[high < OPEN]])
    bounds = np.sort(bounds[:: len(bounds) // _MOST_SAMPLED + 1])  # edges need not be exact, only the bits
    different = bounds[np.flatnonzero(np.diff(bounds, prepend=-1))]
    if len(different) < 2 * _MOST_BUCKETS:
        return different.astype(np.int32)
    places = np.linspace(0, len(bounds) - 1, _MOST_BUCKETS + 1)[1:-1].astype(np.int64)
    return np.unique(bounds[places]).astype(np.int32)


@kernel
def fill_bitmaps(
    place: Any, offsets: Any, side_dimension: Any, low: Any, high: Any, residual_set: Any, place_of: Any, cluster: Any,
    first_dimension: Any, words_each: Any, dimension: Any, first_edge: Any, edges: Any, first_word: Any,
    first_plain: Any, words: Any,
) -> None:  # fmt: skip
    """Starts from all bits set and clears a box's bits in the buckets that one of its sides excludes, or, in the sure
    rows, does not fully contain."""
    per_row, plain = words_each[place], first_plain[place]
    for j in range(first_dimension[place], first_dimension[place + 1]):
        place_of[dimension[j]] = j
    if plain >= 0:
        words[plain : plain + per_row] = 0
    for box in range(len(offsets) - 1):
        word, bit = box >> 6, np.uint64(1) << np.uint64(box & 63)
        others = ~bit
        if plain >= 0 and (len(residual_set) == 0 or residual_set[box] == 0):
            words[plain + word] |= bit
        for side in range(offsets[box], offsets[box + 1]):
            j = place_of[side_dimension[side]]
            cuts = edges[first_edge[j] : first_edge[j + 1]]
            rows = len(cuts) + 2
            at = first_word[j] + word
            sure = at + rows * per_row
            first = 1 + np.searchsorted(cuts, low[side], side="right")
            last = 1 + np.searchsorted(cuts, high[side] - 1, side="right")
            begins = low[side] == 0 if first == 1 else low[side] == cuts[first - 2]  # starts with its bucket
            ends = high[side] == OPEN if last == rows - 1 else high[side] == cuts[last - 1]  # ends with its bucket
            if low[side] <= high[side]:
                clear(words, at, 0, first, per_row, others)
                clear(words, at, last + 1, rows, per_row, others)
                if plain >= 0:
                    clear(words, sure, 0, first + 1 - begins, per_row, others)
                    clear(words, sure, last + ends, rows, per_row, others)
            else:  # all but [high, low)
                clear(words, at, 0, 1, per_row, others)
                clear(words, at, last + 1, first, per_row, others)
                if plain >= 0:
                    clear(words, sure, 0, 1, per_row, others)
                    clear(words, sure, last + ends, first + 1 - begins, per_row, others)


@inlined
def clear(words: Any, at: Any, first: Any, stop: Any, per_row: Any, others: Any) -> None:
    """Clears one box's bit in the rows [first, stop)."""
    for row in range(first, stop):
        words[at + row * per_row] &= others
