"""Interval trees over ordinals, one per dimension: find the intervals that contain an ordinal in O(log n + answers).

Section 3 of Le Subscribe uses Hanson's IBS trees here: balanced search trees over the bounds, with each interval marked
at O(log n) nodes and the marks moved on rebalancing. We use Edelsbrunner's interval trees on a fixed heap: an interval
is stored only at the highest node whose centre it contains, so n intervals take 2 n places instead of n log n. The
search costs the same, the answers of a node are contiguous, and equalities are at the leaves, where one lookup finds
them. We do not need incremental insertion, the strength of IBS trees: the index is rebuilt.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.matching.boxes.dimension import OPEN
from tidings.matching.papers.indexed import Integers, Ordinals


class IntervalTrees(NamedTuple):
    """Node v of dimension d has the intervals offsets[roots[d] + v]:offsets[roots[d] + v + 1], by ascending low, and
    again, by descending high, in `by_high`. Node 1 is the root; 2 v and 2 v + 1 are the children of v; the leaf of
    ordinal i is leaves[d] + i."""

    roots: Integers  # by dimension
    leaves: Integers  # by dimension: the number of leaves, a power of two
    offsets: Integers
    low: Ordinals  # the least ordinal of each interval
    high: Ordinals  # the greatest ordinal of each interval in the order of `by_high`
    by_high: Ordinals


def interval_trees(
    columns: int, dimension: npt.NDArray[np.int16], low: Ordinals, high: Ordinals
) -> tuple[IntervalTrees, Integers]:
    """The trees of the intervals [low, high), and the order of the intervals in the trees."""
    greatest = np.zeros(columns, np.int64)  # bounds: ordinals from here on are in the same intervals
    np.maximum.at(greatest, dimension, np.where(high == OPEN, low, high))
    leaves = _above(greatest)
    last = np.where(high == OPEN, leaves[dimension] - 1, high - 1)
    roots = 2 * (np.cumsum(leaves) - leaves)
    node = roots[dimension] + _node(low.astype(np.int64), last, leaves[dimension])
    order = np.lexsort((low, node))
    back = np.lexsort((-last[order], node[order]))
    offsets = np.searchsorted(node[order], np.arange(2 * leaves.sum() + 1))
    trees = IntervalTrees(
        roots,
        leaves,
        offsets.astype(np.int64),
        low[order],
        last[order][back].astype(np.int32),
        back.astype(np.int32),
    )
    return trees, order


def _above(numbers: Integers) -> Integers:
    """The least greater powers of two."""
    return np.int64(1) << np.frexp(numbers.astype(np.float64))[1].astype(np.int64)


def _node(low: Integers, last: Integers, leaves: Integers) -> Integers:
    """The node where the paths from the root to both ends diverge; the leaf if they do not."""
    apart = np.frexp((low ^ last).astype(np.float64))[1]  # the number of bits from the first different one on
    return (leaves + low) >> apart
