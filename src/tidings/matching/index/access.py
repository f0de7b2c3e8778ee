"""Chooses how to find boxes: which boxes share a group, and which equalities are the group's key.

The equalities of a box are its key in a hash table; boxes with the same key form a cluster. If clusters are large,
boxes of the same shape (the same dimensions, tested in the same way) form their own group, whose clusters are answered
by copying a slice or by a short scan. If they are small, shapes share a group and are tested together, so that an event
searches few groups. A rare set of equalities uses a subset as its key if that costs less than another group. Boxes
without equalities form one cluster, and a large cluster that must be tested gets bitmaps (see `bitmaps.py`)."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from tidings.kernels.compiled import inlined
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.dimension import OPEN
from tidings.matching.hash_table import grouped
from tidings.matching.index.cluster_tests import NOTHING, box_tests
from tidings.matching.index.thresholds import DEFAULTS, Thresholds
from tidings.matching.ragged import offsets_of

# How a side is tested: [x, x+1), [low, ∞), [0, high), [low, high), any value, and all but [high, low) (see
# `outsides.py`).
EQUAL, LOWER, UPPER, BOTH, BOUND, OUTSIDE = range(6)
ALL, PREFIX, SUFFIX, ROWS, MIXED = range(5)  # how the group's clusters are answered

_NS_A_GROUP, _NS_A_CANDIDATE = 40, 8  # rough cost of searching a group and testing a box (measured on flights)


@dataclass(slots=True)
class Group:
    access: tuple[int, ...]  # dimensions whose equalities form the key
    answer: int
    sides: tuple[int, ...] = ()  # the other dimensions, the sorted one first; () if they differ between boxes
    sorted_by: int = BOUND  # how the first of them is tested: LOWER, UPPER or BOTH; BOUND: not sorted
    shapes: list[int] = field(default_factory=list)


def kinds_of(low: npt.NDArray[np.int32], high: npt.NDArray[np.int32]) -> npt.NDArray[np.int8]:
    """How each side is tested."""
    kinds = np.full(len(low), BOTH, np.int8)
    kinds[high == OPEN] = LOWER
    kinds[low == 0] = UPPER
    kinds[(low == 0) & (high == OPEN)] = BOUND
    kinds[high == low + 1] = EQUAL
    kinds[low > high] = OUTSIDE
    return kinds


def choose_groups(
    table: BoxTable, recent: npt.NDArray[np.int32] | None = None, thresholds: Thresholds = DEFAULTS
) -> tuple[list[Group], npt.NDArray[np.int32]]:
    """The groups, and the group of each box; `recent` events show which keys are selective."""
    if len(table) <= thresholds.few:
        return [Group((), MIXED)], np.zeros(len(table), np.int32)
    kinds = kinds_of(table.low, table.high)
    tests = box_tests(table)
    shape_of, examples, counts = _shapes(table, kinds, tests)
    variety = _variety(table, kinds, recent)
    groups: list[Group] = []
    mixed: dict[tuple[int, ...], list[int]] = defaultdict(list)
    equal = offsets_of(kinds == EQUAL)
    keyless = equal[table.offsets[examples + 1]] == equal[table.offsets[examples]]
    rare = keyless & (counts < thresholds.fewest_alike)  # often the majority, and all alike: no closer look needed
    if rare.any():
        mixed[()] = np.flatnonzero(rare).tolist()
    for shape in np.flatnonzero(~rare)[np.argsort(-counts[~rare], kind="stable")].tolist():
        example = int(examples[shape])
        sides = slice(table.offsets[example], table.offsets[example + 1])
        asked = list(zip(table.dimension[sides].tolist(), kinds[sides].tolist(), strict=True))
        plain = table.residual_offsets[example] == table.residual_offsets[example + 1]
        compares = bool(tests[example] != NOTHING)
        equalities = tuple(d for d, kind in asked if kind == EQUAL)
        selective = sorted(equalities, key=lambda d: -variety[d])[: thresholds.longest_key]
        keys = math.prod(variety[d] for d in equalities[: thresholds.longest_key])
        alike = _group_alike(shape, asked, plain)
        # Boxes that would be tested one by one do better with others, in clusters large enough for bitmaps (measured on
        # thesis, 100,000 filters: 2.5 times the rate).
        large = thresholds.large_cluster if _is_quick(alike, plain, compares) else thresholds.fewest_with_bitmaps
        many = counts[shape] >= max(thresholds.fewest_alike, large * keys)
        if many and len(groups) < thresholds.most_groups and len(equalities) <= thresholds.longest_key:
            groups.append(alike)
        else:
            mixed[tuple(sorted(selective))].append(shape)
    for access, shapes in _fewer_keys(mixed, counts, variety).items():
        groups.append(Group(access, MIXED, shapes=shapes))
    group_of_shape = np.zeros(len(examples), np.int32)
    for place, group in enumerate(groups):
        group_of_shape[group.shapes] = place
    return groups, group_of_shape[shape_of]


def _fewer_keys(
    mixed: dict[tuple[int, ...], list[int]], counts: npt.NDArray[np.int64], variety: list[float]
) -> dict[tuple[int, ...], list[int]]:
    """Joins sets of equalities to smaller ones, rarest first, while the extra tests cost less than a group."""
    families = {access: list(shapes) for access, shapes in mixed.items()}
    for access in sorted(mixed, key=lambda one: int(counts[mixed[one]].sum())):
        boxes = int(counts[families[access]].sum())
        parts = {part for size in (1, 2, 3) for part in combinations(access, size) if part != access}
        best, least = None, float(_NS_A_GROUP)
        for part in parts:
            tested = boxes / math.prod(variety[d] for d in part) * _NS_A_CANDIDATE
            cost = tested if part in families else tested + 0.75 * _NS_A_GROUP  # a new group may be shared later
            if cost < least:
                best, least = part, cost
        if best is not None:
            families.setdefault(best, []).extend(families.pop(access))
    return families


def _group_alike(shape: int, asked: list[tuple[int, int]], plain: bool) -> Group:
    access = tuple(d for d, kind in asked if kind == EQUAL)
    rest = sorted(((d, kind) for d, kind in asked if kind != EQUAL), key=lambda one: one[1])
    if not rest:
        return Group(access, ALL if plain else ROWS, shapes=[shape])
    first = rest[0][1]
    sides = tuple(d for d, _ in rest)
    if plain and len(rest) == 1 and first in (LOWER, UPPER):
        return Group(access, PREFIX if first == LOWER else SUFFIX, sides, first, [shape])
    return Group(access, ROWS, sides, min(first, BOUND), [shape])


def _is_quick(group: Group, plain: bool, compares: bool) -> bool:
    """Whether clusters are answered by a slice, or by a branch-free loop over one (`slices.py`)."""
    if group.answer != ROWS or (compares and not group.sides):
        return True
    return (plain or compares) and len(group.sides) <= 3 and group.sorted_by in (LOWER, UPPER)


def _shapes(
    table: BoxTable, kinds: npt.NDArray[np.int8], tests: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The shape number of each box; for each shape an example and its number of boxes."""
    has_residuals = np.diff(table.residual_offsets) > 0
    besides = tests << 1 | has_residuals
    _, shape_of, examples = grouped(besides, table.offsets, table.dimension.astype(np.int64) * 8 + kinds)
    return shape_of.astype(np.int32), examples, np.bincount(shape_of, minlength=len(examples))


def _variety(table: BoxTable, kinds: npt.NDArray[np.int8], recent: npt.NDArray[np.int32] | None) -> list[float]:
    """The selectivity of each dimension: an event meets one in this many of the boxes that test for a value.

    Recent events, as rows of ordinals, show how often each value occurs; without them, values are assumed to occur as
    often as filters test for them.
    """
    equal = kinds == EQUAL
    found = []
    for place in range(len(table.dimensions)):
        asked = table.low[equal & (table.dimension == place)]
        if not len(asked):
            found.append(1.0)
            continue
        shares = np.bincount(asked).astype(np.float64) / len(asked)
        if recent is None:
            found.append(1 / float((shares**2).sum()))
            continue
        seen = recent[:, place]
        seen = seen[(seen >= 0) & (seen < len(shares))]
        met = float(shares[seen].sum())
        found.append((len(recent) + 1) / (met + float((shares**2).sum())))  # one more event, as filters predict
    return found


@inlined
def spread(dimension: Any, ordinal: Any) -> Any:
    """Hashes one part of a key to 64 bits; the key's hash uses the sum of its parts, so their order does not matter."""
    return mix(np.uint64(ordinal + 1) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(dimension))


@inlined
def mix(h: Any) -> Any:
    """Mixes 64 bits (the finalizer of MurmurHash3)."""
    h ^= h >> np.uint64(33)
    h *= np.uint64(0xFF51AFD7ED558CCD)
    h ^= h >> np.uint64(33)
    return h
