"""Distinct predicates, clustered by kind and dimension, and counted: the parts of the fair predicate algorithm.

From section 3 of Le Subscribe ("Fair predicate approach", figure 2) and 4.2 and 7.1 of the thesis. A side of a box is
one predicate if it is an equality or has one bound, two if it has both. The map from predicates to boxes,
`pred_to_subs`, is one array: the satisfied predicates of a cluster are contiguous, so their boxes are, too.

Used by counting (all sides of all boxes), equality-preferred (sides that are not equalities) and quarantine (boxes
without equalities).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.kernels.compiled import kernel
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.dimension import OPEN
from tidings.matching.papers.indexed import FULL, Integers, Ordinals
from tidings.matching.papers.sides import equalities
from tidings.matching.ragged import owners

AT_LEAST, BELOW, EQUAL = range(3)  # kinds of predicates: value <= ordinal, ordinal < value, ordinal = value
UNDONE = 20  # counters copied in the time it takes to undo one hit (1 ns, at 1,000,000 counters)

Chosen = npt.NDArray[np.bool_]


class PredicateClusters(NamedTuple):
    """Predicates are sorted by (kind, dimension, value). Predicate p belongs to the counters (slots)
    postings[offsets[p]:offsets[p + 1]] and to the lone boxes lone[lone_offsets[p]:lone_offsets[p + 1]]."""

    predicates: Ordinals  # rows of (kind, dimension, value)
    sizes: Integers  # by dimension: ordinals from the last on satisfy the same predicates
    bases: Integers  # by dimension: where its part of `upto` starts
    upto: Integers  # [kind, base + 1 + ordinal]: the cluster's first predicate with a value above the ordinal
    offsets: Integers
    postings: Ordinals
    lone_offsets: Integers
    lone: Ordinals  # boxes that need one hit: they match with their predicate, so they are copied, not counted
    needed: npt.NDArray[Any]  # by slot: hits needed for a match
    boxes: Ordinals  # by slot
    slots: Ordinals  # by box; -1 if it has no counter
    always: Ordinals  # boxes with nothing to count, which match any point


def predicate_clusters(table: BoxTable, sides: Chosen, counted: Chosen, handicap: Chosen) -> PredicateClusters:
    """Counts these sides of the counted boxes. A box with a handicap needs one hit more than it has predicates, so it
    never matches by counting alone and has 1 left when all its predicates are satisfied."""
    kind, dimension, value, box = _decomposed(table, sides)
    columns = len(table.dimensions)
    keys = ((kind * columns + dimension) << 32) + value
    order = np.argsort(keys)
    different = np.diff(keys[order], prepend=-1) > 0
    predicate = np.cumsum(different) - 1
    rows, owner = order[different], box[order]

    needed = np.bincount(box, minlength=len(table)) + handicap
    alone = (needed == 1) & ~handicap
    boxes = _neighbours(np.flatnonzero(counted & (needed > 0) & ~alone), owner, predicate)
    slots = np.full(len(table), -1, np.int32)
    slots[boxes] = np.arange(len(boxes))
    lone = alone[owner]
    offsets, postings = _associated(predicate[~lone], slots[owner[~lone]], len(rows))
    lone_offsets, lone_boxes = _associated(predicate[lone], owner[lone], len(rows))

    bound = value + (kind == EQUAL)  # the ordinal after an equality's is the first above it
    sizes, bases, upto = _places(columns, dimension, bound, keys[rows])
    return PredicateClusters(
        np.stack([kind[rows], dimension[rows], value[rows]], axis=1).astype(np.int32),
        sizes,
        bases,
        upto,
        offsets,
        postings,
        lone_offsets,
        lone_boxes,
        needed[boxes].astype(np.uint8 if needed.max(initial=0) < 256 else np.uint16),
        boxes.astype(np.int32),
        slots,
        np.flatnonzero(counted & (needed == 0)).astype(np.int32),
    )


def _decomposed(table: BoxTable, sides: Chosen) -> tuple[Integers, Integers, Integers, Integers]:
    """Kind, dimension, value and box of each predicate of the sides."""
    equal = equalities(table)
    lower = ~equal & ((table.low > 0) | (table.high == OPEN))  # open at both ends, merely bound: at least 0
    upper = ~equal & (table.high < OPEN)
    bounds = {AT_LEAST: (lower, table.low), BELOW: (upper, table.high), EQUAL: (equal, table.low)}
    rows = [np.flatnonzero(sides & chosen) for chosen, _ in bounds.values()]
    kinds = np.repeat(np.array(list(bounds), np.int64), [len(some) for some in rows])
    values = np.concatenate([bound[some] for some, (_, bound) in zip(rows, bounds.values(), strict=True)])
    places = np.concatenate(rows)
    return kinds, table.dimension[places].astype(np.int64), values.astype(np.int64), owners(table.offsets)[places]


def _neighbours(boxes: Integers, owner: Integers, predicate: Integers) -> Integers:
    """Orders the boxes so that those with the same first predicate are adjacent; most hits of a cluster then access
    memory sequentially: 350 µs per event instead of 450 (1,000,000 boxes, p = 0.5)."""
    first = np.full(int(boxes.max(initial=-1)) + 1, len(predicate), np.int64)
    known = owner < len(first)
    first[owner[known][::-1]] = predicate[known][::-1]  # the last write is the least predicate
    return boxes[np.argsort(first[boxes], kind="stable")]


def _associated(predicate: Integers, places: npt.NDArray[Any], count: int) -> tuple[Integers, Ordinals]:
    """Offsets by predicate, and the slots or boxes of each, ascending."""
    pairs = np.sort((predicate << 32) + places)
    offsets = np.searchsorted(pairs >> 32, np.arange(count + 1)).astype(np.int64)
    return offsets, (pairs & 0xFFFFFFFF).astype(np.int32)


def _places(columns: int, dimension: Integers, bound: Integers, keys: Integers) -> tuple[Integers, Integers, Integers]:
    """Ordinals are small and dense, so bounds are looked up, not searched; one entry precedes ordinal 0."""
    sizes = np.ones(columns, np.int64)
    np.maximum.at(sizes, dimension, bound + 1)
    bases = np.cumsum(sizes + 1) - (sizes + 1)
    of_entry = np.repeat(np.arange(columns), sizes + 1)
    ordinal = np.arange(len(of_entry)) - bases[of_entry] - 1
    sought = [((kind * columns + of_entry) << 32) + ordinal for kind in range(3)]
    return sizes, bases, np.searchsorted(keys, np.stack(sought), side="right").astype(np.int64)


@kernel
def satisfied(point: Any, sizes: Any, bases: Any, upto: Any, ranges: Any) -> Any:
    """Writes the satisfied predicates as rows [first, last) to `ranges`; returns how many rows, at most 3 per
    dimension.

    The paper's eqpredmatch, lesspredmatch and greaterpredmatch: a lookup, and everything before or after an index.
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
    """Appends to `out`, from `n` on, the boxes whose predicates are all satisfied. Returns the new n, or FULL, the
    number of hits, and the number of rows of `ranges` with satisfied predicates.

    `left` counts down from `needed`, so the last hit reveals a match and no second pass over the boxes is needed (28 µs
    per event; 42 with a pass over eight counters at a time, 53 over each: 100,000 boxes of Le Subscribe, p = 0.5).
    Copying the lone boxes instead of counting them saves a tenth here and half in quarantine. Rejected: writing every
    slot without a branch and keeping it if it was the last hit (38 µs instead of 25).
    """
    rows = satisfied(point, clusters.sizes, clusters.bases, clusters.upto, ranges)
    hits, copied = 0, 0
    for r in range(rows):
        hits += clusters.offsets[ranges[r, 1]] - clusters.offsets[ranges[r, 0]]
        copied += clusters.lone_offsets[ranges[r, 1]] - clusters.lone_offsets[ranges[r, 0]]
    if n + len(clusters.always) + copied + min(hits, len(left)) > len(out):
        return FULL, 0, 0
    for i in range(len(clusters.always)):
        out[n] = clusters.always[i]
        n += 1
    for r in range(rows):
        for i in range(clusters.lone_offsets[ranges[r, 0]], clusters.lone_offsets[ranges[r, 1]]):
            out[n] = clusters.lone[i]
            n += 1
        for i in range(clusters.offsets[ranges[r, 0]], clusters.offsets[ranges[r, 1]]):
            slot = clusters.postings[i]
            left[slot] -= 1
            if left[slot] == 0:
                out[n] = clusters.boxes[slot]
                n += 1
    return n, hits + copied, rows


@kernel
def take_back(clusters: Any, ranges: Any, rows: Any, hits: Any, left: Any) -> None:
    """Resets `left` to `needed`: undoes the hits if they are few, else copies all counters."""
    if hits * UNDONE < len(left):
        for r in range(rows):
            for i in range(clusters.offsets[ranges[r, 0]], clusters.offsets[ranges[r, 1]]):
                left[clusters.postings[i]] += 1
    else:
        for i in range(len(left)):
            left[i] = clusters.needed[i]
