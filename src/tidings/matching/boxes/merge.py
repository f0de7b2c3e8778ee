"""Turns segments back into tables, and joins tables: merges work without the filters' texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tidings.kernels.compiled import kernel
from tidings.matching.boxes.box import POINT_ROLES, Axis
from tidings.matching.boxes.box_table import ON_AXIS, PAIRED, PATTERN, POINTING, WITH_CONSTANTS, BoxTable
from tidings.matching.boxes.dimension import OPEN, Dimension, Ordinals, are_points
from tidings.matching.boxes.texts.pattern_shape import Shape
from tidings.matching.index.access import MIXED
from tidings.matching.index.residual_sets import expanded
from tidings.matching.ragged import joined_offsets, offsets_of, owners, places

if TYPE_CHECKING:
    from tidings.matching.index.segment import Segment


def table_of(segment: Segment) -> BoxTable:
    """The boxes of a segment, in its own ordinals."""
    index = segment.index
    boxes, groups = len(index.number), len(index.needs)
    group_of = owners(index.first_box)
    keys = np.diff(index.access_offsets)
    width = np.where(index.width < 0, 0, index.width)[group_of].astype(np.int64)
    mixed = index.answer[group_of] == MIXED if groups else np.zeros(0, bool)
    width[mixed] = np.diff(index.mixed_offsets)
    offsets = offsets_of(width + keys[group_of])
    dimension = np.empty(int(offsets[-1]), np.int16)
    low, high = np.empty(int(offsets[-1]), np.int32), np.empty(int(offsets[-1]), np.int32)
    gather_sides(index, offsets, dimension, low, high)
    residual_offsets, residuals = expanded(index.residual_set, index.set_offsets, index.residuals, boxes)
    return BoxTable(
        segment.dimensions, index.number, offsets, dimension, low, high, residual_offsets, residuals,
        index.pool, segment.relations, index.constants, shapes_of(index.shape_starts, index.shape_steps),
    )  # fmt: skip


@kernel
def gather_sides(index: Any, offsets: Any, dimension: Any, low: Any, high: Any) -> None:
    """Reinserts the key's sides among the others, sorted by dimension."""
    for group in range(len(index.needs)):
        keys = index.access_offsets[group + 1] - index.access_offsets[group]
        cluster = index.first_cluster[group]
        for box in range(index.first_box[group], index.first_box[group + 1]):
            while index.cluster_start[cluster + 1] <= box:
                cluster += 1
            end = offsets[box]
            key = index.first_key[group] + (cluster - index.first_cluster[group]) * keys
            for k in range(keys):
                dimension[end] = index.access[index.access_offsets[group] + k]
                low[end] = index.keys[key + k]
                high[end] = index.keys[key + k] + 1
                end += 1
            within = box - index.first_box[group]
            if index.width[group] < 0:
                first = index.mixed_offsets[index.first_mixed[group] + within]
            else:
                first = index.first_side[group] + within * index.width[group]
            for side in range(first, first + offsets[box + 1] - end):
                dimension[end] = index.side_dimension[side]
                low[end] = index.low[side]
                high[end] = index.high[side]
                end += 1
            for i in range(offsets[box] + 1, end):  # few sides: insertion sort
                j = i
                while j > offsets[box] and dimension[j - 1] > dimension[j]:
                    dimension[j - 1], dimension[j] = dimension[j], dimension[j - 1]
                    low[j - 1], low[j] = low[j], low[j - 1]
                    high[j - 1], high[j] = high[j], high[j - 1]
                    j -= 1


def merge_tables(tables: Sequence[BoxTable]) -> BoxTable:
    """All boxes over common dimensions, in the order of the tables."""
    if len(tables) == 1:
        return tables[0]
    axes = sorted({dimension.axis for table in tables for dimension in table.dimensions})
    dimensions = tuple(_joined(axis, tables) for axis in axes)
    place = {dimension.axis: number for number, dimension in enumerate(dimensions)}
    relations = tuple(dict.fromkeys(pair for table in tables for pair in table.relations))
    moved = [_moved(table, dimensions, place, relations) for table in tables]
    pools = offsets_of([len(table.pool) for table in tables])
    constants, renumbered = np.unique(
        np.concatenate([table.constants for table in tables]), axis=0, return_inverse=True
    )
    firsts = offsets_of([len(table.constants) for table in tables])
    shapes = {shape: number for number, shape in enumerate(dict.fromkeys(s for table in tables for s in table.shapes))}
    residuals = []
    for (_, _, _, rows, _), table, shift, first in zip(moved, tables, pools, firsts, strict=False):
        shifted = rows.copy()
        points = np.isin(shifted[:, 0], POINTING)
        shifted[points, 3:] += np.int32(shift)
        numbered = np.isin(shifted[:, 0], WITH_CONSTANTS)
        shifted[numbered, 3] = renumbered.ravel()[shifted[numbered, 3] + first]
        patterns = np.flatnonzero(shifted[:, 0] == PATTERN)
        if len(patterns):
            renamed = np.array([shapes[shape] for shape in table.shapes], np.int32)
            shifted[patterns, 1] = 2 * renamed[shifted[patterns, 1] >> 1] + (shifted[patterns, 1] & 1)
        residuals.append(shifted)
    return BoxTable(
        dimensions,
        np.concatenate([table.number for table in tables]),
        joined_offsets([table.offsets for table in tables]),
        np.concatenate([one[0] for one in moved]),
        np.concatenate([one[1] for one in moved]),
        np.concatenate([one[2] for one in moved]),
        joined_offsets([table.residual_offsets for table in tables]),
        np.concatenate(residuals),
        np.concatenate([one[4] for one in moved]),
        relations,
        constants,
        tuple(shapes),
    )


def shapes_of(starts: Any, steps: Any) -> tuple[Shape, ...]:
    """The shapes of an index."""
    return tuple(tuple(steps[start:stop].tolist()) for start, stop in pairwise(starts.tolist()))


def tightened(table: BoxTable) -> BoxTable:
    """The same boxes over dimensions with only the cuts that one of them needs: for use after some were dropped."""
    low, high, pool = table.low.copy(), table.high.copy(), table.pool.copy()
    dimensions = list(table.dimensions)
    for number, old in enumerate(dimensions):
        if old.given:
            continue
        sides = np.flatnonzero(table.dimension == number)
        pooled = _pooled(table, number)
        asked = [(low, sides), (pool, pooled), *([(high, sides)] if old.axis.role not in POINT_ROLES else [])]
        used = np.unique(np.concatenate([values[rows] for values, rows in asked]))
        used = used[(used > 0) & (used != OPEN)]
        if len(used) == len(old.keys):
            continue
        keys = [old.keys[one - 1] for one in used.tolist()] if isinstance(old.keys, list) else old.keys[used - 1]
        dimensions[number] = replace(old, keys=keys)
        for values, rows in asked:
            cut = rows[(values[rows] > 0) & (values[rows] != OPEN)]
            values[cut] = np.searchsorted(used, values[cut]) + 1
        if old.axis.role in POINT_ROLES:
            high[sides] = low[sides] + 1
    return replace(table, dimensions=tuple(dimensions), low=low, high=high, pool=pool)


def _pooled(table: BoxTable, dimension: int) -> Any:
    """The positions in the pool that residuals of a dimension refer to."""
    rows = table.residuals
    rows = rows[np.isin(rows[:, 0], POINTING) & (rows[:, 2] == dimension)]
    first, examples = np.unique(rows[:, 3], return_index=True)  # many boxes may have the same
    lengths = (rows[examples, 4] - first).astype(np.int64)
    return places(first, lengths)


def _joined(axis: Axis, tables: Sequence[BoxTable]) -> Dimension:
    parts = [d for table in tables for d in table.dimensions if d.axis == axis]
    if parts[0].given:
        return parts[0]
    if isinstance(parts[0].keys, list):
        keys = sorted({key for part in parts for key in part.keys})
        return Dimension(axis, parts[0].kind, keys, all(part.only_points for part in parts) and are_points(keys))
    return Dimension(axis, parts[0].kind, np.unique(np.concatenate([part.keys for part in parts])))


def _moved(
    table: BoxTable, dimensions: tuple[Dimension, ...], place: dict[Axis, int], relations: tuple[Any, ...]
) -> tuple[Any, Ordinals, Ordinals, Ordinals, Ordinals]:
    """A table's sides, residuals and pool in the ordinals of the common dimensions."""
    dimension = np.array([place[d.axis] for d in table.dimensions] or [0], np.int16)[table.dimension]
    low, high, pool = table.low.copy(), table.high.copy(), table.pool.copy()
    rows = table.residuals.copy()
    for number, old in enumerate(table.dimensions):
        new = dimensions[place[old.axis]]
        of_dimension = np.flatnonzero(table.dimension == number)
        if not old.given:
            remap = old.remapped(new)
            low[of_dimension] = remap[low[of_dimension]]
            if old.axis.role not in POINT_ROLES:
                bounded = of_dimension[high[of_dimension] != OPEN]
                high[bounded] = remap[high[bounded]]
            else:
                high[of_dimension] = low[of_dimension] + 1
            asked = _pooled(table, number)
            part = table.pool[asked]
            pool[asked] = np.where(part == OPEN, OPEN, remap[np.where(part == OPEN, 0, part)])
        rows[np.isin(rows[:, 0], ON_AXIS) & (table.residuals[:, 2] == number), 2] = place[old.axis]
    pairs = np.array([relations.index(pair) for pair in table.relations] or [0], np.int32)
    related = np.isin(rows[:, 0], PAIRED)
    rows[related, 2] = pairs[table.residuals[related, 2]]
    # Dimensions are sorted by axis on both sides, so sides stay in order.
    return dimension, low, high, rows, pool
