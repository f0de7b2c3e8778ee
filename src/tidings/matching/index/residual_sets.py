"""Many boxes have the same residuals, so an index stores each distinct set once: a box has one small number, and
frequently tested sets stay in the processor's cache."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tidings.matching.boxes.box_table import POINTING, BoxTable
from tidings.matching.hash_table import grouped
from tidings.matching.ragged import offsets_of, places, taken

Ordinals = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]


def residual_sets(table: BoxTable, order: Integers) -> tuple[Ordinals, Integers, Ordinals, Ordinals]:
    """The set number of each box in this order (0: none), the rows of each set, the rows, and the part of the pool that
    they use; empty by box if no box has residuals. Sets are numbered as they come: boxes side by side have theirs side
    by side, too."""
    if not len(table.residuals):
        return np.zeros(0, np.int32), np.zeros(2, np.int64), table.residuals, np.zeros(0, np.int32)
    set_of, examples = _numbered(table)
    set_of = set_of[order]
    used, first = np.unique(set_of[set_of > 0], return_index=True)
    by_first = np.argsort(first)
    renumbered = np.zeros(len(examples) + 1, np.int32)
    renumbered[used[by_first]] = np.arange(1, len(used) + 1)
    set_of, examples = renumbered[set_of], examples[used[by_first] - 1]
    rows, offsets = taken(table.residual_offsets, examples)
    return set_of, np.append(0, offsets), *_tightened(table.residuals[rows], table.pool)


def _numbered(table: BoxTable) -> tuple[Ordinals, Integers]:
    """The set number of each box, from 1 on, and an example box of each set. First numbers equal rows, wherever in the
    pool their values are, then equal lists of rows."""
    kind, negated, first, start, stop = table.residuals.T.astype(np.int64)
    pointing = np.isin(kind, POINTING)
    # The content of a row besides its kind and dimension: a part of the pool, or one number.
    begins = np.where(pointing, start, len(table.pool) + np.arange(len(kind)))
    lengths = np.where(pointing, stop - start, 1)
    said = np.append(table.pool, start)[places(begins, lengths)]
    _, row, _ = grouped(first << 40 | (kind + 1) << 32 | negated, offsets_of(lengths), said)
    having = np.flatnonzero(np.diff(table.residual_offsets) > 0)
    _, offsets = taken(table.residual_offsets, having)
    _, number, examples = grouped(np.zeros(len(having), np.int64), offsets, row)
    set_of = np.zeros(len(table), np.int32)
    set_of[having] = number + 1
    return set_of, having[examples]


def _tightened(residuals: Ordinals, pool: Ordinals) -> tuple[Ordinals, Ordinals]:
    """The rows with their own pool, without the parts that only dropped or duplicate rows used."""
    pointing = np.flatnonzero(np.isin(residuals[:, 0], POINTING))
    first = residuals[pointing, 3].astype(np.int64)
    lengths = residuals[pointing, 4] - first
    ends = offsets_of(lengths)
    residuals[pointing, 3], residuals[pointing, 4] = ends[:-1], ends[1:]
    return residuals, pool[places(first, lengths)]


def expanded(set_of: Ordinals, offsets: Integers, residuals: Ordinals, boxes: int) -> tuple[Integers, Ordinals]:
    """Expands the sets to residuals by box."""
    if not len(set_of):
        return np.zeros(boxes + 1, np.int64), residuals
    rows, ends = taken(offsets, set_of)
    return ends, residuals[rows]
