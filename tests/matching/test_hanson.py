"""Hanson: the interval trees against the definition, and the choice of the most selective side."""

import numpy as np
import pytest

from tests.matching.random_boxes import random_boxes, table_of
from tests.matching.test_paper_indexes import found
from tidings.matching.algorithm import Cost
from tidings.matching.boxes.dimension import OPEN
from tidings.matching.papers.interval_trees import IntervalTrees, interval_trees


def stabbed(trees: IntervalTrees, d: int, ordinal: int) -> list[int]:
    """As the kernel does it: from the leaf to the root, on each node the intervals that reach the ordinal."""
    ordinal = min(ordinal, int(trees.leaves[d]) - 1)
    node, right, entries = int(trees.leaves[d]) + ordinal, False, []
    while node:
        start, stop = trees.offsets[trees.roots[d] + node], trees.offsets[trees.roots[d] + node + 1]
        if right:
            entries += [int(trees.by_high[i]) for i in range(start, stop) if trees.high[i] >= ordinal]
            assert (np.diff(trees.high[start:stop]) <= 0).all()
        else:
            entries += [i for i in range(start, stop) if trees.low[i] <= ordinal]
            assert (np.diff(trees.low[start:stop]) >= 0).all()
        right, node = node % 2 == 1, node // 2
    return entries


@pytest.mark.parametrize("ordinals", [1, 2, 7, 8, 33])
def test_the_intervals_that_hold_an_ordinal(ordinals: int) -> None:
    table = random_boxes(ordinals, 200, 2, ordinals)
    trees, order = interval_trees(2, table.dimension, table.low, table.high)
    for d in range(2):
        for ordinal in range(ordinals + 3):
            hit = (table.dimension == d) & (table.low <= ordinal) & (ordinal < table.high)
            assert sorted(order[stabbed(trees, d, ordinal)].tolist()) == np.flatnonzero(hit).tolist()


def test_the_most_selective_side_is_indexed() -> None:  # Le Subscribe 3, figure 6
    """An equality among 100 values before one among 4, and a narrow interval before a wide one."""
    boxes = [
        {0: (1, 2), 1: (50, 51)},
        {0: (1, 2), 1: (10, 90)},
        {1: (10, 90), 2: (0, 2)},
        {0: (3, 4), 1: (99, 100), 2: (9, int(OPEN))},
    ]
    table = table_of(boxes, 3)
    # By dimension 0 box 1 is a candidate, by 1 none, by 2 box 2. Each has one side left, which is tested.
    assert found("hanson", table, np.array([[1, 51, 1]], np.int32)) == ([[1, 2]], Cost(2, 2))
    assert found("hanson", table, np.array([[2, 50, 5]], np.int32)) == ([[]], Cost(1, 1))
    assert found("hanson", table, np.array([[-1, -1, 1]], np.int32)) == ([[]], Cost(1, 1))
