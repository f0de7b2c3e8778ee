"""Many boxes have the same residuals, so an index keeps each different set once: a box has one small number, and sets
that are asked often stay in the processor's cache."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tidings.matching.boxes.box_table import POINTING, BoxTable
from tidings.matching.hash_table import grouped
from tidings.matching.ragged import offsets_of, places, taken

Ordinals = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]


def residual_sets(table: BoxTable) -> tuple[Ordinals, Integers, Ordinals, Ordinals]:
    """By box the number of its set (0: none), by set its rows, the rows, and the part of the pool that they point
    into; nothing by box where no box has any."""
    if not len(table.residuals):
        return np.zeros(0, np.int32), np.zeros(2, np.int64), table.residuals, np.zeros(0, np.int32)
    set_of, examples = _numbered(table)
    rows, offsets = taken(table.residual_offsets, examples)
    return set_of, np.append(0, offsets), *_tightened(table.residuals[rows], table.pool)


def _numbered(table: BoxTable) -> tuple[Ordinals, Integers]:
    """By box the number of its set, from 1 on, and a box with each set. First equal rows get one number, whatever part
    of the pool they point to, then equal lists of rows."""
    kind, negated, first, start, stop = table.residuals.T.astype(np.int64)
    pointing = np.isin(kind, POINTING)
    # What a row says besides its kind and dimension: a part of the pool, or one number.
    begins = np.where(pointing, start, len(table.pool) + np.arange(len(kind)))
    lengths = np.where(pointing, stop - start, 1)
    said = np.append(table.pool, start)[places(begins, lengths)]
    _, row, _ = grouped(first << 8 | kind << 1 | negated, offsets_of(lengths), said)
    having = np.flatnonzero(np.diff(table.residual_offsets) > 0)
    _, offsets = taken(table.residual_offsets, having)
    _, number, examples = grouped(np.zeros(len(having), np.int64), offsets, row)
    set_of = np.zeros(len(table), np.int32)
    set_of[having] = number + 1
    return set_of, having[examples]


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
