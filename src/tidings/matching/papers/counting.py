"""Counting: chapters 4 and 7 of the thesis; "fair predicate" in section 3 of Le Subscribe, figure 2.

Each distinct predicate is stored and evaluated once. Each satisfied predicate adds a hit to its boxes; a box with as
many hits as predicates matches. The cost is the number of hits: one for every satisfied predicate of every box.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.kernels.compiled import kernel
from tidings.matching.algorithm import Cost
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.papers.indexed import FULL, IndexedMatcher, Integers, Ordinals
from tidings.matching.papers.predicate_clusters import count_hits, predicate_clusters, take_back


class CountingMatcher(IndexedMatcher):
    """In its cost, both candidates and predicates are hits, since each hit reads the counter of its box."""

    name = "counting"

    def _build(self, table: BoxTable) -> None:
        every = np.ones(len(table), bool)
        self._clusters = predicate_clusters(table, np.ones(len(table.low), bool), every, ~every)

    def _find(self, points: Ordinals) -> tuple[Integers, Ordinals, Cost]:
        clusters = self._clusters
        left = clusters.needed.copy()
        ranges = np.empty((3 * points.shape[1], 2), np.int64)
        return self._all_found(points, lambda *into: count_points(clusters, points, ranges, left, *into))


@kernel
def count_points(
    clusters: Any, points: Any, ranges: Any, left: Any, first: Any, offsets: Any, out: Any, cost: Any
) -> Any:
    """The boxes that match each point from `first` on. Stops early when `out` is full and returns the point to resume
    at."""
    n = offsets[first]
    for p in range(first, len(points)):
        n, hits, rows = count_hits(clusters, points[p], ranges, left, n, out)
        if n == FULL:
            return p
        take_back(clusters, ranges, rows, hits, left)
        cost[0] += hits + len(clusters.always)
        cost[1] += hits
        offsets[p + 1] = n
    return len(points)
