"""Predicates stored once, clustered by kind and dimension, and counted: what the fair predicate algorithm is made of.

From Le Subscribe's section 3 ("Fair predicate approach", figure 2) and the thesis's 4.2 and 7.1. A side of a box is one
predicate when it is an equality or open at one end, two when it is bounded at both. `pred_to_subs`, the association of
predicates with boxes, is one array: since satisfied predicates of a cluster stand side by side, so do their boxes.

Used by counting (all sides of all boxes), equality-preferred (sides that are no equalities) and quarantine (boxes without any).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.matching.box_table import BoxTable
from tidings.matching.compiling import kernel
from tidings.matching.dimension import OPEN
from tidings.matching.finding import FULL
from tidings.matching.indexed import Integers, Ordinals
from tidings.matching.sides import equalities, owners

AT_LEAST, BELOW, EQUAL = range(
    3
)  # the kinds of predicates: value <= ordinal, ordinal < value, ordinal = value
UNDONE = 20  # counters that are copied in the time of undoing one hit (1 ns, at 1,000,000 counters)


class PredicateClusters(NamedTuple):
    """Predicates ascend by (kind, dimension, value). Boxes are counted in slots; see `count_hits` for `needed`."""

    predicates: Ordinals  # rows of (kind, dimension, value)
    sizes: Integers  # by dimension: ordinals from the last on satisfy the same predicates
    bases: Integers  # by dimension: where its part of `upto` starts
    upto: Integers  # [kind, base + ordinal + 1]: the first predicate of the cluster with a greater value than the ordinal
    offsets: Integers  # predicate p is of the slots postings[offsets[p]:offsets[p + 1]]
    postings: Ordinals
    needed: npt.NDArray[Any]  # by slot: how many hits make a match
    boxes: Ordinals  # by slot
    slots: Ordinals  # by box; -1 where it is not counted
    always: Ordinals  # boxes with nothing to count, which any point matches


def predicate_clusters(
    table: BoxTable,
    sides: npt.NDArray[np.bool_],
    counted: npt.NDArray[np.bool_],
    handicap: npt.NDArray[np.bool_],
) -> PredicateClusters:
    """Counts these sides of the counted boxes. One with a handicap needs one hit more than it has predicates: it never
    matches by counting alone, and stands at 1 when all its predicates are satisfied."""
    kind, dimension, value, box = _decomposed(table, sides)
    columns = len(table.dimensions)
    keys = ((kind * columns + dimension) << 32) + value
    order = np.argsort(keys)
    different = np.concatenate([np.ones(min(1, len(keys)), bool), np.diff(keys[order]) > 0])
    predicate = np.cumsum(different) - 1
    rows = order[different]

    # Boxes that share their first predicate get neighbouring counters, so that most hits of a cluster walk through memory:
    # 350 µs an event against 450 at 1,000,000 boxes of Le Subscribe, p = 0.5.
    first = np.full(len(table), len(rows), np.int64)
    first[box[order][::-1]] = predicate[::-1]
    needed = np.bincount(box, minlength=len(table)) + handicap
    slotted = np.flatnonzero(counted & (needed > 0))
    boxes = slotted[np.argsort(first[slotted], kind="stable")]
    slots = np.full(len(table), -1, np.int32)
    slots[boxes] = np.arange(len(boxes))

    pairs = np.sort((predicate << 32) + slots[box[order]])
    bound = value + (kind == EQUAL)  # the ordinal after an equality's is the first that is too great for it
    sizes, bases, upto = _places(columns, dimension, bound, keys[rows])
    return PredicateClusters(
        np.stack([kind[rows], dimension[rows], value[rows]], axis=1).astype(np.int32),
        sizes,
        bases,
        upto,
        np.searchsorted(pairs >> 32, np.arange(len(rows) + 1)).astype(np.int64),
        (pairs & 0xFFFFFFFF).astype(np.int32),
        needed[boxes].astype(np.uint8 if needed.max(initial=0) < 256 else np.uint16),
        boxes.astype(np.int32),
        slots,
        np.flatnonzero(counted & (needed == 0)).astype(np.int32),
    )


def _decomposed(
    table: BoxTable, sides: npt.NDArray[np.bool_]
) -> tuple[Integers, Integers, Integers, Integers]:
    """Kind, dimension, value and box of each predicate that the sides are made of."""
    equal = equalities(table)
    lower = ~equal & (
        (table.low > 0) | (table.high == OPEN)
    )  # a side open at both ends: bound at all, at least 0
    upper = ~equal & (table.high < OPEN)
    parts = [
        (kind, np.flatnonzero(sides & chosen), bound)
        for kind, chosen, bound in (
            (AT_LEAST, lower, table.low),
            (BELOW, upper, table.high),
            (EQUAL, equal, table.low),
        )
    ]
    kinds = np.repeat(np.array([kind for kind, _, _ in parts], np.int64), [len(rows) for _, rows, _ in parts])
    places = np.concatenate([rows for _, rows, _ in parts])
    values = np.concatenate([bound[rows] for _, rows, bound in parts])
    return kinds, table.dimension[places].astype(np.int64), values.astype(np.int64), owners(table)[places]


def _places(
    columns: int, dimension: Integers, bound: Integers, keys: Integers
) -> tuple[Integers, Integers, Integers]:
    """Ordinals are small and dense, so the search for a bound is a lookup, with an entry before the first ordinal."""
    sizes = np.ones(columns, np.int64)
    np.maximum.at(sizes, dimension, bound + 1)
    bases = np.cumsum(sizes + 1) - (sizes + 1)
    of_entry = np.repeat(np.arange(columns), sizes + 1)
    ordinal = np.arange(len(of_entry)) - bases[of_entry] - 1
    upto = [
        np.searchsorted(keys, ((kind * columns + of_entry) << 32) + ordinal, side="right")
        for kind in range(3)
    ]
    return sizes, bases, np.stack(upto).astype(np.int64)


@kernel
def satisfied(point: Any, sizes: Any, bases: Any, upto: Any, ranges: Any) -> Any:
    """Writes the satisfied predicates as rows [first, last) to `ranges`, three a dimension at most; returns how many rows.

    The paper's eqpredmatch, lesspredmatch and greaterpredmatch: a lookup, and all before or after a place.
    """
    n = 0
    for d in range(len(sizes)):
        if point[d] < 0:
            continue
        base = bases[d] + 1
        last = base + sizes[d] - 1
        at = min(base + point[d], last)
        for kind in range(3):
            first, stop = upto[kind, base - 1], upto[kind, at]
            if kind == BELOW:
                first, stop = stop, upto[kind, last]
            elif kind == EQUAL:
                first = upto[kind, at - 1]
            if first < stop:
                ranges[n, 0], ranges[n, 1] = first, stop
                n += 1
    return n


@kernel
def count_hits(clusters: Any, point: Any, ranges: Any, left: Any, n: Any, out: Any) -> Any:
    """Appends to `out`, from `n` on, the boxes whose predicates are all satisfied. Returns the new n, or FULL, then how many
    hits there were and in how many rows of `ranges` they stand, for `take_back`.

    `left` counts down from `needed`, so a match is seen at its last hit and nobody passes over the boxes again: 28 µs an
    event against 42 for a pass over eight counters at a time and 53 over each (100,000 boxes of Le Subscribe, p = 0.5).
    """
    rows = satisfied(point, clusters.sizes, clusters.bases, clusters.upto, ranges)
    hits = 0
    for r in range(rows):
        ranges[r, 0], ranges[r, 1] = clusters.offsets[ranges[r, 0]], clusters.offsets[ranges[r, 1]]
        hits += ranges[r, 1] - ranges[r, 0]
    if n + len(clusters.always) + min(hits, len(left)) >= len(out):
        return FULL, 0, 0
    for i in range(len(clusters.always)):
        out[n] = clusters.always[i]
        n += 1
    matched = n
    postings = clusters.postings
    for r in range(rows):
        for i in range(ranges[r, 0], ranges[r, 1]):
            slot = postings[i]
            left[slot] -= 1
            out[n] = slot
            n += left[slot] == 0
    for i in range(matched, n):
        out[i] = clusters.boxes[out[i]]
    return n, hits, rows


@kernel
def take_back(clusters: Any, ranges: Any, rows: Any, hits: Any, left: Any) -> None:
    """Makes `left` what is needed again: by undoing few hits, by copying all counters after many."""
    if hits * UNDONE < len(left):
        for r in range(rows):
            for i in range(ranges[r, 0], ranges[r, 1]):
                left[clusters.postings[i]] += 1
    else:
        for i in range(len(left)):
            left[i] = clusters.needed[i]
