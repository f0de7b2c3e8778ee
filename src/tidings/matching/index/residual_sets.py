"""Many boxes have the same residuals, so an index keeps each different set once: a box has one small number, and sets
that are asked often stay in the processor's cache."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tidings.matching.boxes.box_table import HAS_ALL, POINTING, BoxTable
from tidings.matching.compiled import kernel
from tidings.matching.index.access import mix
from tidings.matching.ragged import offsets_of, places, taken

Ordinals = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]


def residual_sets(table: BoxTable) -> tuple[Ordinals, Integers, Ordinals, Ordinals]:
    """By box the number of its set (0: none), by set its rows, the rows, and the part of the pool that they point
    into; nothing by box where no box has any."""
    if not len(table.residuals):
        return np.zeros(0, np.int32), np.zeros(2, np.int64), table.residuals, np.zeros(0, np.int32)
    size = 1 << max(4, int(2 * len(table)).bit_length())
    set_of, examples = np.zeros(len(table), np.int32), np.zeros(len(table) + 1, np.int64)
    count = number_sets(table.residual_offsets, table.residuals, table.pool, np.zeros(size, np.int32), set_of, examples)
    lengths = np.diff(table.residual_offsets)[examples[1 : count + 1]]
    offsets = offsets_of(np.append(0, lengths))
    first = table.residual_offsets[examples[1 : count + 1]]
    rows = places(first, lengths)
    return set_of, offsets, *_tightened(table.residuals[rows], table.pool)


def _tightened(residuals: Ordinals, pool: Ordinals) -> tuple[Ordinals, Ordinals]:
    """The rows with a pool of their own: what only dropped or repeated ones pointed to is left behind."""
    pointing = np.flatnonzero(np.isin(residuals[:, 0], POINTING))
    first = residuals[pointing, 3].astype(np.int64)
    lengths = residuals[pointing, 4] - first
    ends = offsets_of(lengths)
    residuals[pointing, 3], residuals[pointing, 4] = ends[:-1], ends[1:]
    return residuals, pool[places(first, lengths)]


def expanded(set_of: Ordinals, offsets: Integers, residuals: Ordinals, boxes: int) -> tuple[Integers, Ordinals]:
    """The residuals box by box again."""
    if not len(set_of):
        return np.zeros(boxes + 1, np.int64), residuals
    rows, ends = taken(offsets, set_of)
    return ends, residuals[rows]


@kernel
def number_sets(offsets: Any, residuals: Any, pool: Any, slots: Any, set_of: Any, examples: Any) -> Any:
    """Numbers the different sets from 1 on, as they occur."""
    count = 0
    last = np.uint64(len(slots) - 1)
    for box in range(len(offsets) - 1):
        first, stop = offsets[box], offsets[box + 1]
        if first == stop:
            continue
        h = np.uint64(stop - first)
        for r in range(first, stop):
            for part in range(3):
                h = mix(h ^ np.uint64(residuals[r, part] + 3))
            if residuals[r, 0] > HAS_ALL:
                h = mix(h ^ np.uint64(residuals[r, 3] + 3))
            else:
                for i in range(residuals[r, 3], residuals[r, 4]):
                    h = mix(h ^ np.uint64(pool[i] + 3))
        slot = h & last
        while slots[slot] != 0 and not same_set(box, examples[slots[slot]], offsets, residuals, pool):
            slot = (slot + np.uint64(1)) & last
        if slots[slot] == 0:
            count += 1
            examples[count] = box
            slots[slot] = count
        set_of[box] = slots[slot]
    return count


@kernel
def same_set(box: Any, other: Any, offsets: Any, residuals: Any, pool: Any) -> Any:
    if offsets[box + 1] - offsets[box] != offsets[other + 1] - offsets[other]:
        return False
    shift = offsets[other] - offsets[box]
    for r in range(offsets[box], offsets[box + 1]):
        s = r + shift
        for part in range(3):
            if residuals[r, part] != residuals[s, part]:
                return False
        if residuals[r, 0] > HAS_ALL:
            if residuals[r, 3] != residuals[s, 3]:
                return False
            continue
        if residuals[r, 4] - residuals[r, 3] != residuals[s, 4] - residuals[s, 3]:
            return False
        for i in range(residuals[r, 4] - residuals[r, 3]):
            if pool[residuals[r, 3] + i] != pool[residuals[s, 3] + i]:
                return False
    return True
