"""Equality-preferred with nonequality quarantining: section 3 of Le Subscribe, figure 5.

Hashing finds the boxes with equalities, and their other sides are tested at once. Only the boxes without any equality,
the quarantined ones, are counted. It wins while those are few and the equalities are selective.
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
from tidings.matching.papers.sides import equalities, sides_tested
from tidings.matching.ragged import owners


class QuarantineMatcher(IndexedMatcher):
    """In its cost, candidates are boxes whose equalities hold, and hits; predicates are sides tested, and hits."""

    name = "quarantine"

    def _build(self, table: BoxTable) -> None:
        owner = owners(table.offsets)
        quarantined = np.ones(len(table), bool)
        quarantined[owner[equalities(table)]] = False
        self._equal = equality_clusters(table)
        self._counted = predicate_clusters(table, quarantined[owner], quarantined, np.zeros(len(table), bool))

    def _find(self, points: Ordinals) -> tuple[Integers, Ordinals, Cost]:
        equal, counted = self._equal, self._counted
        left = counted.needed.copy()
        ranges = np.empty((3 * points.shape[1], 2), np.int64)
        return self._all_found(points, lambda *into: quarantine_points(equal, counted, points, ranges, left, *into))


@kernel
def quarantine_points(
    equal: Any,
    counted: Any,
    points: Any,
    ranges: Any,
    left: Any,
    first: Any,
    offsets: Any,
    out: Any,
    cost: Any,
) -> Any:
    """The boxes that match each point from `first` on. Stops early when `out` is full and returns the point to resume
    at."""
    n = offsets[first]
    for p in range(first, len(points)):
        n, candidates, tested = test_members(equal, points[p], n, out)
        if n == FULL:
            return p
        n, hits, rows = count_hits(counted, points[p], ranges, left, n, out)
        if n == FULL:
            return p
        take_back(counted, ranges, rows, hits, left)
        cost[0] += candidates + hits + len(counted.always)
        cost[1] += tested + hits
        offsets[p + 1] = n
    return len(points)


@kernel
def test_members(equal: Any, point: Any, n: Any, out: Any) -> Any:
    """Appends the matching boxes with equalities. Returns the new n, or FULL, and how many boxes and sides were
    tested."""
    candidates = 0
    tested = 0
    for d in range(len(point)):
        if point[d] < 0:
            continue
        for schema in range(equal.by_dimension[d], equal.by_dimension[d + 1]):
            cluster = cluster_of(equal, schema, point)
            if cluster == NONE:
                continue
            start, stop = equal.starts[cluster], equal.starts[cluster + 1]
            if n + stop - start > len(out):
                return FULL, 0, 0
            candidates += stop - start
            for member in range(start, stop):
                sides = sides_tested(
                    point, equal.rest_offsets[member], equal.rest_offsets[member + 1], equal.rest_dimension,
                    equal.rest_low, equal.rest_high,
                )  # fmt: skip
                tested += abs(sides)
                if sides >= 0:
                    out[n] = equal.boxes[member]
                    n += 1
    return n, candidates, tested
