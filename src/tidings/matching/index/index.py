"""The index of one segment: flat arrays for kernels, and how to build them from a `BoxTable`.

Boxes are sorted by (group, cluster, bound); a cluster is the boxes of a group with the same key. Matches copy `number`.
Sides that belong to the key are stored once per cluster, the others once per box."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.kernels.compiled import kernel
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.hash_table import grouped
from tidings.matching.index.access import BOUND, MIXED, UPPER, Group, choose_groups, mix, spread
from tidings.matching.index.bitmaps import Bitmaps, make_bitmaps
from tidings.matching.index.cluster_tests import cluster_tests
from tidings.matching.index.outsides import with_outsides
from tidings.matching.index.residual_sets import residual_sets
from tidings.matching.index.thresholds import DEFAULTS, Thresholds
from tidings.matching.ragged import flattened, offsets_of, owners, sums


class Index(NamedTuple):
    """Arrays by group (G), cluster (C), box (B) and side."""

    needs: npt.NDArray[np.uint64]  # G: bits of the first 64 dimensions that an event must bind
    answer: npt.NDArray[np.int8]  # G
    access_offsets: npt.NDArray[np.int64]  # G + 1
    access: npt.NDArray[np.int16]
    first_cluster: npt.NDArray[np.int64]  # G + 1
    first_key: npt.NDArray[np.int64]  # G
    first_box: npt.NDArray[np.int64]  # G + 1
    first_side: npt.NDArray[np.int64]  # G
    width: npt.NDArray[np.int32]  # G: sides per box; -1 if they differ
    sorted_by: npt.NDArray[np.int8]  # G
    first_mixed: npt.NDArray[np.int64]  # G: where a mixed group's boxes begin in mixed_offsets
    mixed_offsets: npt.NDArray[np.int64]
    cluster_start: npt.NDArray[np.int32]  # C + 1
    keys: npt.NDArray[np.int32]
    slots: npt.NDArray[np.uint64]  # the hash table: upper half of the hash, then the cluster + 1
    number: npt.NDArray[np.int32]  # B
    side_dimension: npt.NDArray[np.int16]
    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    residual_set: npt.NDArray[np.int32]  # B, or empty if no box has residuals
    set_offsets: npt.NDArray[np.int64]
    residuals: npt.NDArray[np.int32]
    pool: npt.NDArray[np.int32]
    cluster_test: npt.NDArray[np.int32]  # C: what its boxes have in common (`cluster_tests.py`), or empty
    linear: npt.NDArray[np.float64]  # B: scale and offset of linear comparisons that are tested together, or empty
    constants: npt.NDArray[np.float64]
    shape_starts: npt.NDArray[np.int64]  # of the patterns' shapes, one more at the end
    shape_steps: npt.NDArray[np.int32]

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for array in self)


def build_index(
    table: BoxTable, recent: npt.NDArray[np.int32] | None = None, thresholds: Thresholds = DEFAULTS
) -> tuple[Index, Bitmaps]:
    table = with_outsides(table)
    groups, group_of = choose_groups(table, recent, thresholds)
    access_offsets, access = flattened([group.access for group in groups], np.int16)
    cluster_of, examples = _clusters(table, group_of, access_offsets, access)
    bound = _bounds(table, groups, group_of)
    # One sort of one integer: clusters are numbered by group, so this is the order (group, cluster, bound).
    order = np.argsort((cluster_of << 32) | bound)
    counts = np.bincount(cluster_of, minlength=len(examples))
    cluster_start = offsets_of(counts).astype(np.int32)
    cluster_group = group_of[examples]
    first_cluster = np.searchsorted(cluster_group, np.arange(len(groups) + 1)).astype(np.int64)
    first_box = cluster_start[first_cluster].astype(np.int64)
    keys_each = np.array([len(group.access) for group in groups], np.int64)
    first_key = offsets_of(keys_each * np.diff(first_cluster))[:-1]
    keys = np.empty(int((keys_each * np.diff(first_cluster)).sum()), np.int32)
    width = np.array([-1 if group.answer == MIXED else len(group.sides) for group in groups], np.int32)
    sizes = np.diff(first_box)
    rest = np.diff(table.offsets)[order] - keys_each[group_of[order]]
    side_offsets = offsets_of(sums(rest, first_box))
    first_side, sides = side_offsets[:-1], int(side_offsets[-1])
    is_mixed = width < 0
    first_mixed = offsets_of(np.where(is_mixed, sizes, 0))[:-1]
    in_mixed = is_mixed[group_of[order]] if len(groups) else np.zeros(0, bool)
    mixed_offsets = np.zeros(int(in_mixed.sum()) + 1, np.int64)
    if is_mixed.any():  # mixed groups come last, adjacent, so one run of offsets serves them all
        mixed_offsets[0] = first_side[np.argmax(is_mixed)]
    wanted_offsets, wanted = flattened([group.sides for group in groups], np.int16)
    number = np.empty(len(table), np.int32)
    side_dimension = np.empty(sides, np.int16)
    low, high = np.empty(sides, np.int32), np.empty(sides, np.int32)
    arrange(
        order, group_of, cluster_of, cluster_start, table.number, table.offsets, table.dimension, table.low,
        table.high, access_offsets, access, wanted_offsets, wanted, width, first_cluster, first_key, first_side,
        first_box, first_mixed, keys, number, side_dimension, low, high, mixed_offsets,
    )  # fmt: skip
    slots = _hash_table(access_offsets, access, first_cluster, first_key, keys, len(examples))
    set_of, set_offsets, residuals, pool = residual_sets(table, order)
    cluster_test, linear = cluster_tests(table, order, cluster_start)
    shape_starts, shape_steps = flattened(table.shapes, np.int32)
    index = Index(
        _needs(groups, table, group_of), np.array([g.answer for g in groups], np.int8), access_offsets, access,
        first_cluster, first_key, first_box, first_side, width,
        np.array([g.sorted_by for g in groups], np.int8), first_mixed, mixed_offsets, cluster_start, keys, slots,
        number, side_dimension, low, high, set_of, set_offsets, residuals, pool,
        cluster_test, linear, np.ascontiguousarray(table.constants), shape_starts, shape_steps,
    )  # fmt: skip
    bitmaps = make_bitmaps(index, thresholds)
    for array in (*index, *bitmaps):
        array.setflags(write=False)  # like arrays read from files, so that one compiled kernel serves both
    return index, bitmaps


def _needs(groups: list[Group], table: BoxTable, group_of: npt.NDArray[np.int32]) -> npt.NDArray[np.uint64]:
    """The dimensions that every box of a group tests, as far as the group determines them."""
    needs = np.zeros(len(groups), np.uint64)
    for place, group in enumerate(groups):
        for dimension in (*group.access, *group.sides):
            if dimension < 64:
                needs[place] |= np.uint64(1) << np.uint64(dimension)
    return needs


def _clusters(
    table: BoxTable, group_of: npt.NDArray[np.int32], access_offsets: Any, access: Any
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The cluster of each box, numbered by group; an example box of each cluster."""
    in_key = np.zeros((len(access_offsets) - 1, max(len(table.dimensions), 1)), bool)
    in_key[owners(access_offsets), access] = True
    keyed = in_key[np.repeat(group_of, np.diff(table.offsets)), table.dimension]
    _, cluster_of, examples = grouped(group_of, offsets_of(sums(keyed, table.offsets)), table.low[keyed])
    count = len(examples)
    by_group = np.argsort(group_of[examples], kind="stable")
    renumbered = np.empty(count, np.int64)
    renumbered[by_group] = np.arange(count)
    return renumbered[cluster_of], examples[by_group]


def _bounds(table: BoxTable, groups: list[Group], group_of: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """The sort key of each box within its cluster."""
    first = np.array([g.sides[0] if g.sides and g.sorted_by != BOUND else -1 for g in groups], np.int16)
    upper = np.array([g.sorted_by == UPPER for g in groups], bool)
    bound = np.zeros(len(table), np.int64)
    take_bounds(table.offsets, table.dimension, table.low, table.high, group_of, first, upper, bound)
    return bound


def _hash_table(
    access_offsets: Any, access: Any, first_cluster: Any, first_key: Any, keys: Any, clusters: int
) -> npt.NDArray[np.uint64]:
    slots = np.zeros(1 << max(4, int(1.5 * clusters).bit_length()), np.uint64)
    fill_table(access_offsets, access, first_cluster, first_key, keys, slots)
    return slots


@kernel
def take_bounds(
    offsets: Any, dimension: Any, low: Any, high: Any, group_of: Any, first: Any, upper: Any, bound: Any
) -> None:
    for box in range(len(offsets) - 1):
        wanted = first[group_of[box]]
        if wanted < 0:
            # Not sorted by a bound, so sorted by dimensions: similar boxes are adjacent (see `blocks.py`).
            for i in range(offsets[box], offsets[box + 1]):
                if dimension[i] < 31:
                    bound[box] |= 1 << (30 - np.int64(dimension[i]))
            continue
        for i in range(offsets[box], offsets[box + 1]):
            if dimension[i] == wanted:
                bound[box] = high[i] if upper[group_of[box]] else low[i]


@kernel
def fill_table(access_offsets: Any, access: Any, first_cluster: Any, first_key: Any, keys: Any, slots: Any) -> None:
    """Adds each cluster under its key; half the hash is stored with it, so most misses end there."""
    last = np.uint64(len(slots) - 1)
    for group in range(len(access_offsets) - 1):
        width = access_offsets[group + 1] - access_offsets[group]
        if width == 0:
            continue
        for cluster in range(first_cluster[group], first_cluster[group + 1]):
            h = np.uint64(group + 1)
            place = first_key[group] + (cluster - first_cluster[group]) * width
            for k in range(width):
                h += spread(access[access_offsets[group] + k], keys[place + k])
            h = mix(h)
            slot = h & last
            while slots[slot] != 0:
                slot = (slot + np.uint64(1)) & last
            slots[slot] = h & np.uint64(0xFFFFFFFF00000000) | np.uint64(cluster + 1)


@kernel
def arrange(
    order: Any, group_of: Any, cluster_of: Any, cluster_start: Any, box_number: Any, offsets: Any, dimension: Any,
    low: Any, high: Any, access_offsets: Any, access: Any, wanted_offsets: Any, wanted: Any, width: Any,
    first_cluster: Any, first_key: Any, first_side: Any, first_box: Any, first_mixed: Any, keys: Any, number: Any,
    side_dimension: Any, out_low: Any, out_high: Any, mixed_offsets: Any,
) -> None:  # fmt: skip
    """Writes everything in its final order."""
    filled = first_side.copy()
    for place in range(len(order)):
        box = order[place]
        group = group_of[box]
        number[place] = box_number[box]
        begin, end = offsets[box], offsets[box + 1]
        access_from, access_to = access_offsets[group], access_offsets[group + 1]
        if place == cluster_start[cluster_of[box]]:
            key = first_key[group] + (cluster_of[box] - first_cluster[group]) * (access_to - access_from)
            side = begin
            for a in range(access_from, access_to):
                while dimension[side] != access[a]:
                    side += 1
                keys[key] = low[side]
                key += 1
        if width[group] >= 0:
            for w in range(wanted_offsets[group], wanted_offsets[group + 1]):
                for side in range(begin, end):
                    if dimension[side] == wanted[w]:
                        side_dimension[filled[group]] = dimension[side]
                        out_low[filled[group]] = low[side]
                        out_high[filled[group]] = high[side]
                        filled[group] += 1
        else:
            a = access_from
            for side in range(begin, end):
                if a < access_to and dimension[side] == access[a]:
                    a += 1
                    continue
                side_dimension[filled[group]] = dimension[side]
                out_low[filled[group]] = low[side]
                out_high[filled[group]] = high[side]
                filled[group] += 1
            mixed_offsets[first_mixed[group] + place - first_box[group] + 1] = filled[group]
