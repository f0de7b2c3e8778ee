"""Hanson: section 3 of Le Subscribe, figure 6, after Hanson et al. (SIGMOD 1990).

An interval index holds each box's most selective side. The boxes that an event's values find there are tested for their
other sides, one by one. The algorithm depends on the selectivity estimate (`sides.by_selectivity`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.kernels.compiled import kernel
from tidings.matching.algorithm import Cost
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.papers.indexed import FULL, IndexedMatcher, Integers, Ordinals
from tidings.matching.papers.interval_trees import interval_trees
from tidings.matching.papers.sides import by_selectivity, sides_tested
from tidings.matching.ragged import offsets_of, taken


class Entries(NamedTuple):
    """The boxes in tree order and their remaining sides: the paper's table `predicates`."""

    boxes: Ordinals
    offsets: Integers
    dimension: npt.NDArray[np.int16]
    low: Ordinals
    high: Ordinals
    always: Ordinals  # boxes without sides


class HansonMatcher(IndexedMatcher):
    """In its cost, candidates are the boxes whose most selective side holds; predicates are the other sides tested."""

    name = "hanson"

    def _build(self, table: BoxTable) -> None:
        by_share = by_selectivity(table)
        sided = np.flatnonzero(np.diff(table.offsets) > 0)
        chosen = by_share[table.offsets[sided]]
        self._trees, order = interval_trees(
            len(table.dimensions), table.dimension[chosen], table.low[chosen], table.high[chosen]
        )
        others = np.ones(len(by_share), bool)
        others[chosen] = False
        rest_rows = by_share[others[by_share]]  # most selective first, so most candidates fail at once
        rest, offsets = taken(offsets_of(np.diff(table.offsets)[sided] - 1), order)
        rest = rest_rows[rest]
        always = np.flatnonzero(np.diff(table.offsets) == 0).astype(np.int32)
        self._entries = Entries(
            sided[order].astype(np.int32),
            offsets,
            table.dimension[rest],
            table.low[rest],
            table.high[rest],
            always,
        )

    def _find(self, points: Ordinals) -> tuple[Integers, Ordinals, Cost]:
        trees, entries = self._trees, self._entries
        return self._all_found(points, lambda *into: hanson_points(trees, entries, points, *into))


@kernel
def hanson_points(trees: Any, entries: Any, points: Any, first: Any, offsets: Any, out: Any, cost: Any) -> Any:
    """The boxes that match each point from `first` on. Stops early when `out` is full and returns the point to resume
    at."""
    n = offsets[first]
    for p in range(first, len(points)):
        point = points[p]
        if n + len(entries.always) > len(out):
            return p
        for i in range(len(entries.always)):
            out[n] = entries.always[i]
            n += 1
        candidates = len(entries.always)
        tested = 0
        for d in range(len(point)):
            if point[d] < 0:
                continue
            n, looked_at, sides = search(trees, entries, d, point, n, out)
            if n == FULL:
                return p
            candidates += looked_at
            tested += sides
        cost[0] += candidates
        cost[1] += tested
        offsets[p + 1] = n
    return len(points)


@kernel
def search(trees: Any, entries: Any, d: Any, point: Any, n: Any, out: Any) -> Any:
    """Appends the boxes whose side in the tree of dimension d and all other sides contain the point.

    Walks from the ordinal's leaf up to the root. All intervals of a node contain its centre, so an interval contains
    the ordinal if it reaches the ordinal on that side of the centre. Returns the new n, or FULL, and how many
    candidates there were and how many sides were tested.
    """
    leaves = trees.leaves[d]
    ordinal = min(np.int64(point[d]), leaves - 1)
    node = leaves + ordinal
    candidates = 0
    tested = 0
    right = False
    while node > 0:
        start, end = trees.offsets[trees.roots[d] + node], trees.offsets[trees.roots[d] + node + 1]
        stop = start
        if right:
            while stop < end and trees.high[stop] >= ordinal:
                stop += 1
        else:  # leaves, too: there low is the ordinal
            while stop < end and trees.low[stop] <= ordinal:
                stop += 1
        if n + stop - start > len(out):
            return FULL, 0, 0
        candidates += stop - start
        for i in range(start, stop):
            entry = trees.by_high[i] if right else i
            sides = sides_tested(
                point,
                entries.offsets[entry],
                entries.offsets[entry + 1],
                entries.dimension,
                entries.low,
                entries.high,
            )
            tested += abs(sides)
            if sides >= 0:
                out[n] = entries.boxes[entry]
                n += 1
        right = node & 1 == 1
        node >>= 1
    return n, candidates, tested
