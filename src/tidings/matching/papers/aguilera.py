"""Aguilera: a tree in which filters with a common prefix share a path, and an event follows every matching path.

"Efficient matching for Web-based publish/subscribe systems", section 3, figure 7. A node tests one dimension. It has an
edge for each distinct interval of its boxes and a *-edge for boxes that do not test the dimension. An event follows
every edge it satisfies: at most one equality edge, found by binary search; one-sided edges, sorted by their bound so
that the satisfied ones are adjacent; and two-sided edges, tested one by one. Nodes with only a *-edge are omitted.
Dimensions with many equalities come first because they branch least.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.kernels.compiled import kernel
from tidings.matching.algorithm import Cost
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.dimension import OPEN
from tidings.matching.papers.indexed import IndexedMatcher, Integers, Ordinals
from tidings.matching.ragged import owners

EQUAL, BELOW, ABOVE, BETWEEN = range(4)  # kinds of edges, in the order in which a node stores them

# Columns of a node: the dimension (-1: no test), the slice of boxes that end here, the start of each kind of edge and
# the end of all, and the node at the end of the *-edge (-1: none).
DIMENSION, FIRST, LAST, EDGES, STAR = 0, 1, 2, 3, 8
# Columns of an edge besides its bounds: the node at its end, or -1 and the slice of boxes that end there.
NODE, START, STOP = range(3)


class AguileraMatcher(IndexedMatcher):
    name = "aguilera"

    def _build(self, table: BoxTable) -> None:
        self.order = _order(table)
        level = np.empty(len(table.dimensions), np.int64)
        level[self.order] = np.arange(len(self.order))
        owner = owners(table.offsets)
        by_level = np.lexsort((level[table.dimension], owner))
        levels = level[table.dimension[by_level]]
        low, high = table.low[by_level].astype(np.int64), table.high[by_level].astype(np.int64)
        kind = np.select([high == low + 1, high == OPEN, low == 0], [EQUAL, ABOVE, BELOW], BETWEEN)
        test = levels * 4 + kind
        bounds = np.where(kind == BELOW, (high << 32) | low, (low << 32) | high)
        self._boxes_in_order = _lexicographic(table, test, bounds)
        self._grow(table, test, bounds)

    def _grow(self, table: BoxTable, test: Integers, bounds: Integers) -> None:
        """Builds the tree from the sorted boxes. It has at most one node per side, plus the root."""
        sides = len(test)
        nodes, edges = np.empty((2 * sides + 1, STAR + 1), np.int32), np.empty((sides, 3), np.int32)
        edge_bounds, stack = np.empty((sides, 2), np.int32), np.empty((2 * sides + 1, 4), np.int64)
        used = grow_tree(
            self._boxes_in_order, table.offsets, test, bounds, self.order.astype(np.int32), stack, nodes,
            edges, edge_bounds,
        )  # fmt: skip
        self.nodes = nodes[: used[0]].copy()
        self.edges = edges[: used[1]].copy()
        self._bound, self._other = (np.ascontiguousarray(edge_bounds[: used[1], i]) for i in range(2))

    def _find(self, points: Ordinals) -> tuple[Integers, Ordinals, Cost]:
        stack = np.empty(len(self.nodes), np.int32)
        tree = self.nodes, self.edges, self._bound, self._other, self._boxes_in_order, stack
        return self._all_found(points, lambda *into: follow_paths(points, *tree, *into))


def _order(table: BoxTable) -> Integers:
    """The dimensions from the root down: first those that most boxes test for equality, then those that most boxes
    test."""
    equal = table.high == table.low + 1
    equalities = np.bincount(table.dimension[equal], minlength=len(table.dimensions))
    sides = np.bincount(table.dimension, minlength=len(table.dimensions))
    return np.lexsort((-sides, -equalities)).astype(np.int64)


def _lexicographic(table: BoxTable, test: Integers, bounds: Integers) -> Ordinals:
    """The boxes sorted by their sides in order; a box whose sides are a prefix of another's comes first."""
    lengths = np.diff(table.offsets)
    keys: list[Integers] = []
    for depth in range(int(lengths.max(initial=0)) - 1, -1, -1):
        deep = np.flatnonzero(lengths > depth)
        for values in (bounds, test):
            key = np.full(len(table), -1, np.int64)
            key[deep] = values[table.offsets[deep] + depth]
            keys.append(key)
    return (np.lexsort(keys) if keys else np.arange(len(table))).astype(np.int32)


@kernel
def grow_tree(
    boxes: Any,
    offsets: Any,
    test: Any,
    bounds: Any,
    order: Any,
    stack: Any,
    nodes: Any,
    edges: Any,
    edge_bounds: Any,
) -> Any:
    """Creates a node for each run of sorted boxes with a common prefix; returns the numbers of nodes and edges.

    The stack holds (node, first box, last box, number of sides already tested). `test[i]` packs the level and kind of
    side i; `bounds[i]` packs both its ends, with the sort key of the edges in the upper half.
    """
    n_nodes, n_edges, top = 1, 0, 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, len(boxes), 0
    while top:
        top -= 1
        node, i, stop, depth = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        nodes[node, DIMENSION], nodes[node, FIRST], nodes[node, STAR] = -1, i, -1
        while i < stop and offsets[boxes[i] + 1] - offsets[boxes[i]] == depth:
            i += 1
        nodes[node, LAST] = i
        for kind in range(5):
            nodes[node, EDGES + kind] = n_edges
        if i == stop:
            continue
        level = test[offsets[boxes[i]] + depth] // 4
        nodes[node, DIMENSION] = order[level]
        while i < stop and test[offsets[boxes[i]] + depth] // 4 == level:
            side = offsets[boxes[i]] + depth
            run, all_end = i, True
            while (
                i < stop
                and test[offsets[boxes[i]] + depth] == test[side]
                and (bounds[offsets[boxes[i]] + depth] == bounds[side])
            ):
                all_end = all_end and offsets[boxes[i] + 1] - offsets[boxes[i]] == depth + 1
                i += 1
            edge_bounds[n_edges, 0], edge_bounds[n_edges, 1] = bounds[side] >> 32, bounds[side] & 0x7FFFFFFF
            edges[n_edges, NODE], edges[n_edges, START], edges[n_edges, STOP] = -1, run, i
            if not all_end:
                edges[n_edges, NODE] = n_nodes
                stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = n_nodes, run, i, depth + 1
                top += 1
                n_nodes += 1
            n_edges += 1
            for kind in range(test[side] % 4 + 1, 5):
                nodes[node, EDGES + kind] = n_edges
        if i < stop:
            nodes[node, STAR] = n_nodes
            stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = n_nodes, i, stop, depth
            top += 1
            n_nodes += 1
    return n_nodes, n_edges


@kernel
def first_above(bound: Any, start: Any, stop: Any, ordinal: Any) -> Any:
    """The first index in the ascending `bound[start:stop]` whose value is greater than the ordinal."""
    while start < stop:
        middle = (start + stop) // 2
        if bound[middle] <= ordinal:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def follow_paths(
    points: Any, nodes: Any, edges: Any, bound: Any, other: Any, boxes: Any, stack: Any, first: Any,
    out_offsets: Any, out: Any, cost: Any,
) -> Any:  # fmt: skip
    """Figure 7 for the points from `first` on, with a stack instead of recursion. Stops early when `out` is full and
    returns the point to resume at. `cost` counts the boxes reached and the edges searched, tested or followed."""
    n = out_offsets[first]
    for p in range(first, len(points)):
        tested = 0
        stack[0], top = 0, 1
        while top:
            top -= 1
            node = nodes[stack[top]]
            if n + node[LAST] - node[FIRST] > len(out):
                return p
            for i in range(node[FIRST], node[LAST]):
                out[n] = boxes[i]
                n += 1
            if node[STAR] >= 0:
                stack[top] = node[STAR]
                top += 1
                tested += 1
            ordinal = points[p, node[DIMENSION]] if node[DIMENSION] >= 0 else -1
            if ordinal < 0:
                continue
            for kind in range(4):
                start, stop = node[EDGES + kind], node[EDGES + kind + 1]
                if start == stop:
                    continue
                place = first_above(bound, start, stop, ordinal)
                if kind == EQUAL:
                    start, stop = place - (place > start and bound[place - 1] == ordinal), place
                elif kind == BELOW:
                    start = place
                else:
                    stop = place
                tested += stop - start if stop > start else 1
                for edge in range(start, stop):
                    if kind == BETWEEN and other[edge] <= ordinal:
                        continue
                    if edges[edge, NODE] >= 0:
                        stack[top] = edges[edge, NODE]
                        top += 1
                        continue
                    if n + edges[edge, STOP] - edges[edge, START] > len(out):
                        return p
                    for i in range(edges[edge, START], edges[edge, STOP]):
                        out[n] = boxes[i]
                        n += 1
        cost[0] += n - out_offsets[p]
        cost[1] += tested
        out_offsets[p + 1] = n
    return len(points)
