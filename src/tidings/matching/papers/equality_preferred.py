"""Equality-preferred: section 3 of Le Subscribe, figure 4.

Hashing finds the boxes whose equalities hold; all other predicates of all boxes are counted as in `counting`. Only the
boxes found and those without an equality (the paper's neqsub) are compared with their number of predicates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.kernels.compiled import kernel
from tidings.matching.algorithm import Cost
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.papers.equality_clusters import NONE, cluster_of, equality_clusters
from tidings.matching.papers.indexed import FULL, IndexedMatcher, Integers, Ordinals
from tidings.matching.papers.predicate_clusters import count_hits, predicate_clusters, take_back
from tidings.matching.papers.sides import equalities
from tidings.matching.ragged import owners


class EqualityPreferredMatcher(IndexedMatcher):
    """In its cost, candidates are the boxes whose equalities hold plus the hits; predicates are the hits.

    A box with an equality has a handicap of one hit, so counting alone reports only boxes without one.
    """

    name = "equality-preferred"

    def _build(self, table: BoxTable) -> None:
        equal = equalities(table)
        handicap = np.zeros(len(table), bool)
        handicap[owners(table.offsets)[equal]] = True
        self._equal = equality_clusters(table)
        self._counted = predicate_clusters(table, ~equal, np.ones(len(table), bool), handicap)
        self._member_slots = self._counted.slots[self._equal.boxes]

    def _find(self, points: Ordinals) -> tuple[Integers, Ordinals, Cost]:
        equal, counted, slots = self._equal, self._counted, self._member_slots
        left = counted.needed.copy()
        ranges = np.empty((3 * points.shape[1], 2), np.int64)
        return self._all_found(points, lambda *into: prefer_points(equal, counted, slots, points, ranges, left, *into))


@kernel
def prefer_points(
    equal: Any, counted: Any, slots: Any, points: Any, ranges: Any, left: Any, first: Any, offsets: Any,
    out: Any, cost: Any,
) -> Any:  # fmt: skip
    """The boxes that match each point from `first` on. Stops early when `out` is full and returns the point to resume
    at."""
    n = offsets[first]
    for p in range(first, len(points)):
        n, hits, rows = count_hits(counted, points[p], ranges, left, n, out)
        if n == FULL:
            return p
        n, candidates = compare_members(equal, slots, left, points[p], n, out)
        take_back(counted, ranges, rows, hits, left)
        if n == FULL:
            return p
        cost[0] += candidates + hits + len(counted.always)
        cost[1] += hits
        offsets[p + 1] = n
    return len(points)


@kernel
def compare_members(equal: Any, slots: Any, left: Any, point: Any, n: Any, out: Any) -> Any:
    """Appends the boxes whose equalities hold and that lack only the handicap. Returns the new n, or FULL, and how many
    boxes were compared."""
    candidates = 0
    for d in range(len(point)):
        if point[d] < 0:
            continue
        for schema in range(equal.by_dimension[d], equal.by_dimension[d + 1]):
            cluster = cluster_of(equal, schema, point)
            if cluster == NONE:
                continue
            start, stop = equal.starts[cluster], equal.starts[cluster + 1]
            if n + stop - start > len(out):
                return FULL, 0
            candidates += stop - start
            for member in range(start, stop):
                if left[slots[member]] == 1:
                    out[n] = equal.boxes[member]
                    n += 1
    return n, candidates
