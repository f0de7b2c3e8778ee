"""Gough: a tree in which every event follows one path, at the risk of exponential size.

"Efficient matching for Web-based publish/subscribe systems", section 3, figure 3 (after Gough and Smith). There is one
level per dimension. The edges of a node are the elementary intervals between its boxes' bounds; the lowest also takes
unbound values. A node represents the boxes that are partly satisfied on the way to it. Nodes of a level with the same
boxes are merged, so subtrees are shared. A box is stored at the edge that satisfies its last side, not at the leaves
below: the path is the same, and finished boxes no longer multiply the nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.errors import MatchingError
from tidings.kernels.compiled import kernel
from tidings.matching.algorithm import Cost
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.papers.gough_tree import GoughTree, GrowingTree
from tidings.matching.papers.indexed import IndexedMatcher, Integers, Ordinals
from tidings.matching.ragged import owners
from tidings.schema.catalog import Catalog

MOST_NODES = 2_000_000
_ENTRIES_PER_NODE = 25  # edges and box numbers per node that the limit assumes, on average: 200 MB by default


class TreeTooLarge(MatchingError):
    """Too many combinations of sides can be satisfied; the tree does not fit."""

    def __init__(self, boxes: int, limit: int) -> None:
        super().__init__(boxes, limit)

    def __str__(self) -> str:
        return (
            "the Gough tree of {:,} conjunctions has more than {:,} nodes, or too many boxes in them: it "
            "grows with the combinations of predicates; use another algorithm, such as 'aguilera', or fewer "
            "filters"
        ).format(*self.args)


class GoughMatcher(IndexedMatcher):
    name = "gough"

    def __init__(self, catalog: Catalog, most_nodes: int = MOST_NODES) -> None:
        super().__init__(catalog)
        self._conjunctions = 0
        self.most_nodes = most_nodes
        self._tree: GoughTree | None = None

    def _build(self, table: BoxTable) -> None:
        self._tree = None
        self._conjunctions = len(table)
        owner = owners(table.offsets).astype(np.int32)
        lengths = np.diff(table.offsets)
        self._sideless = np.flatnonzero(lengths == 0).astype(np.int32)
        self.order = level_order(table, owner)
        left = lengths.copy()
        tree = GrowingTree(len(table), self.most_nodes, self.most_nodes * _ENTRIES_PER_NODE)
        for place in self.order.tolist():
            sides = np.flatnonzero(table.dimension == place)
            sides = sides[np.argsort(table.low[sides], kind="stable")]
            boxes = owner[sides]
            starting = boxes[left[boxes] == lengths[boxes]]
            left[boxes] -= 1
            if not tree.expand(boxes, table.low[sides], table.high[sides], starting, left):
                raise TreeTooLarge(len(table), self.most_nodes)
        self._tree = tree.grown()

    @property
    def tree(self) -> GoughTree:
        if self._tree is None:
            raise TreeTooLarge(self._conjunctions, self.most_nodes)
        return self._tree

    def _find(self, points: Ordinals) -> tuple[Integers, Ordinals, Cost]:
        tree = self.tree
        index = (
            self.order, tree.first_nodes, tree.node_offsets, tree.bound, tree.child, tree.answer_offsets, tree.answers,
            self._sideless,
        )  # fmt: skip
        return self._all_found(points, lambda *into: follow_path(points, *index, *into))


def level_order(table: BoxTable, owner: Ordinals) -> Integers:
    """The dimensions from the root down, each chosen to minimise the boxes that are started but not finished."""
    lengths = np.diff(table.offsets)
    left = lengths.copy()
    waiting = set(table.dimension.tolist())
    order: list[int] = []
    while waiting:
        begins = (left == lengths) & (lengths > 1)
        ends = (left == 1) & (lengths > 1)
        change = np.bincount(table.dimension, begins[owner].astype(float) - ends[owner], len(table.dimensions))
        place = min(waiting, key=lambda one: (change[one], one))
        waiting.remove(place)
        order.append(place)
        left[owner[table.dimension == place]] -= 1
    return np.array(order, np.int64)


@kernel
def follow_path(
    points: Any, order: Any, first_nodes: Any, node_offsets: Any, bound: Any, child: Any,
    answer_offsets: Any, answers: Any, sideless: Any, first: Any, out_offsets: Any, out: Any,
    cost: Any,
) -> Any:  # fmt: skip
    """Figure 3 for the points from `first` on. Stops early when `out` is full and returns the point to resume at."""
    n = out_offsets[first]
    for p in range(first, len(points)):
        if n + len(sideless) > len(out):
            return p
        for i in range(len(sideless)):
            out[n] = sideless[i]
            n += 1
        place = 0
        for level in range(len(order)):
            ordinal = points[p, order[level]]
            node = first_nodes[level] + place
            start, stop = node_offsets[node], node_offsets[node + 1]
            while stop - start > 1:  # the last edge that starts at or below the ordinal; the first starts at -1
                middle = (start + stop) // 2
                if bound[middle] <= ordinal:
                    start = middle
                else:
                    stop = middle
            if n + answer_offsets[start + 1] - answer_offsets[start] > len(out):
                return p
            for i in range(answer_offsets[start], answer_offsets[start + 1]):
                out[n] = answers[i]
                n += 1
            place = child[start]
        cost[0] += n - out_offsets[p]
        cost[1] += len(order)
        out_offsets[p + 1] = n
    return len(points)
