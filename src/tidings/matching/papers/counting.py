"""Counting: the thesis's chapters 4 and 7; "fair predicate" in Le Subscribe's section 3, figure 2.

Each different predicate is stored and evaluated once. An event's satisfied predicates are found, each gives a
hit to its boxes, and a box with as many hits as predicates matches. The price is the hits: one for every
satisfied predicate of every box.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.matching.algorithm import Cost
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.compiled import kernel
from tidings.matching.papers.indexed import FULL, IndexedMatcher, Integers, Ordinals
from tidings.matching.papers.predicate_clusters import count_hits, predicate_clusters, take_back


class CountingMatcher(IndexedMatcher):
    """Its cost: a candidate, and a predicate, is a hit, since each hit looks at its box's counter."""

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
    """The boxes that each point from `first` on matches; stops early, and says where, when `out` is full."""
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
