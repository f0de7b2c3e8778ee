"""Scan: tests every box on every point, in flat arrays. The slow twin of every index, and the baseline they must
beat."""

from __future__ import annotations

from typing import Any

from tidings.kernels.compiled import kernel
from tidings.matching.algorithm import Cost
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.papers.indexed import IndexedMatcher, Integers, Ordinals


class ScanMatcher(IndexedMatcher):
    name = "scan"

    def _build(self, table: BoxTable) -> None:
        self._boxes_in_arrays = table

    def _find(self, points: Ordinals) -> tuple[Integers, Ordinals, Cost]:
        table = self._boxes_in_arrays
        sides = table.offsets, table.dimension, table.low, table.high
        return self._all_found(points, lambda *into: scan_points(points, *sides, *into))


@kernel
def scan_points(
    points: Any, offsets: Any, dimension: Any, low: Any, high: Any, first: Any, out_offsets: Any, out: Any, cost: Any
) -> Any:
    """Tests all boxes on the points from `first` on. Stops early when `out` is full and returns the point to resume
    at."""
    n = out_offsets[first]
    for p in range(first, len(points)):
        for box in range(len(offsets) - 1):
            fits = True
            for i in range(offsets[box], offsets[box + 1]):
                ordinal = points[p, dimension[i]]
                if ordinal < low[i] or ordinal >= high[i]:
                    fits = False
                    break
            if fits:
                if n == len(out):
                    return p
                out[n] = box
                n += 1
        cost += len(offsets) - 1
        out_offsets[p + 1] = n
    return len(points)
