"""Typed tree: per event type one node per attribute, whose values refer to boxes; the answer is the intersection of all
references.

A-MEDIAS ("the typed profile tree", section 9.4): a cross between Gough's tree and counting. The dispatcher sends an
event to its type's tree and to the tree of boxes without a type. There, each attribute node finds the elementary
interval of the event's value and the *reference* to the boxes that contain it. Boxes that do not test the attribute are
in every reference, through a bit list of the node. References are arrays or bit lists; see `references.py`.

A selectivity measure orders the attributes, so that an event without matches is rejected early: the share of the domain
taken by the *zero-subdomain*, the values that no box of the tree refers to. A1 derives the domain from the filters
alone, with equal weight for all their elementary intervals; A2 weights them by a sample of events. A single box that
does not test an attribute makes its zero-subdomain empty, so ties are common. They are broken by the share that an
average box does not cover. (The section names the measures in one sentence and refers to a chapter that is not among
our sources: the formulas are our interpretation.)
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from tidings.errors import MatchingError, one_of
from tidings.events import EventBatch
from tidings.kernels.compiled import kernel
from tidings.matching.algorithm import Cost
from tidings.matching.bits import trailing_zeros
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.event_table import EventTable
from tidings.matching.papers.event_type_parts import COMMON, EventTypeParts
from tidings.matching.papers.indexed import IndexedMatcher, Integers, Ordinals
from tidings.matching.papers.references import WORD, AttributeNode, Forest, attribute_node, leave, meet
from tidings.matching.ragged import owners
from tidings.schema.catalog import Catalog

Measure = Literal["A1", "A2"]


class UnknownMeasure(MatchingError):
    def __init__(self, measure: str) -> None:
        super().__init__(measure)

    def __str__(self) -> str:
        return f"no selectivity measure {self.args[0]!r}; expected {one_of(get_args(Measure))}"


class MissingSample(MatchingError):
    def __str__(self) -> str:
        return "measure A2 weighs attributes by a sample of events: give the matcher one, or take measure A1"


class TypedTreeMatcher(IndexedMatcher):
    name = "typed-tree"

    def __init__(self, catalog: Catalog, measure: Measure = "A1", sample: EventBatch | None = None) -> None:
        super().__init__(catalog)
        if measure not in get_args(Measure):
            raise UnknownMeasure(measure)
        if measure == "A2" and sample is None:
            raise MissingSample
        self.measure = measure
        self._sample = sample if measure == "A2" else None

    def _build(self, table: BoxTable) -> None:
        self._parts = parts = EventTypeParts.of(table)
        sample = None if self._sample is None else EventTable.of(self._sample, table.dimensions).least
        self._boxes_by_part = np.argsort(parts.part, kind="stable").astype(np.int32)
        self._part_offsets = np.searchsorted(parts.part[self._boxes_by_part], np.arange(parts.count + 1))
        self._sizes = np.diff(self._part_offsets).tolist()
        self.trees: list[list[AttributeNode]] = [[] for _ in range(parts.count)]
        self._grow(table)
        self._reorder(sample)
        self._forest = Forest.of(self.trees)

    def _grow(self, table: BoxTable) -> None:
        """A node for each part and dimension with sides; boxes are numbered within their part."""
        part = self._parts.part
        number = np.empty(len(table), np.int32)
        number[self._boxes_by_part] = np.arange(len(table)) - self._part_offsets[part[self._boxes_by_part]]
        sides = np.flatnonzero(self._parts.left)
        owner = owners(table.offsets)
        sides = sides[np.lexsort((table.dimension[sides], part[owner[sides]]))]
        places = np.stack([part[owner[sides]], table.dimension[sides]], axis=1)
        borders = np.flatnonzero((places[1:] != places[:-1]).any(axis=1)) + 1
        for one in np.split(sides, borders) if len(sides) else ():
            boxes, tree, dimension = owner[one], int(part[owner[one[0]]]), int(table.dimension[one[0]])
            node = attribute_node(dimension, self._sizes[tree], number[boxes], table.low[one], table.high[one])
            self.trees[tree].append(node)

    def _reorder(self, sample: Ordinals | None) -> None:
        """Puts the most selective attribute of each tree first."""
        own = None if sample is None else self._parts.of_points(sample)
        for part, tree in enumerate(self.trees):
            seen = sample if sample is None or part == COMMON else sample[own == part]
            columns = [None if seen is None else seen[:, node.dimension] for node in tree]
            ranks = [selectivity(node, self._sizes[part], one) for node, one in zip(tree, columns, strict=True)]
            order = sorted(range(len(tree)), key=ranks.__getitem__, reverse=True)
            self.trees[part] = [tree[i] for i in order]

    def _find(self, points: Ordinals) -> tuple[Integers, Ordinals, Cost]:
        forest = self._forest
        words = -(-max(self._sizes) // WORD)
        found, spare = np.empty(words, np.uint64), np.empty(words, np.uint64)
        kept = np.empty(words + 1, np.int32)
        index = (
            self._parts.of_points(points), self._part_offsets, self._boxes_by_part, forest.offsets, forest.nodes,
            forest.cuts, forest.references, forest.arrays, forest.bits, forest.changed, forest.indifferent,
            found, spare, kept,
        )  # fmt: skip
        return self._all_found(points, lambda *into: intersect(points, *index, *into))


def selectivity(node: AttributeNode, boxes: int, sample: Ordinals | None) -> tuple[float, float]:
    """The share of the domain in the zero-subdomain, and the share that an average box does not cover; by A1 without a
    sample of the dimension's ordinals, by A2 with one. No box refers to values below the first cut or to unbound
    ones."""
    sizes = np.concatenate([[0], node.sizes])
    weights = np.ones(len(sizes))
    weights[0] = len(node.cuts) == 0 or node.cuts[0] > 0
    if sample is not None and len(sample):
        places = np.searchsorted(node.cuts, sample, side="right")
        weights = np.bincount(places, minlength=len(sizes)).astype(float)
    indifferent = int(np.unpackbits(node.indifferent.view(np.uint8)).sum())
    share = weights / weights.sum()
    zero = float(share[sizes == 0].sum()) if indifferent == 0 else 0.0
    return zero, float((share * (boxes - indifferent - sizes)).sum()) / boxes


@kernel
def intersect(
    points: Any, own: Any, part_offsets: Any, boxes: Any, tree_offsets: Any, nodes: Any,
    cuts: Any, references: Any, arrays: Any, bits: Any, changed: Any, indifferent: Any, scratch: Any, spare: Any,
    kept: Any, first: Any, out_offsets: Any, out: Any, cost: Any,
) -> Any:  # fmt: skip
    """The boxes in all references of their tree, for the points from `first` on. Stops early when `out` is full and
    returns the point to resume at. `cost` counts the boxes of the trees searched and the attribute nodes visited."""
    n = out_offsets[first]
    for p in range(first, len(points)):
        looked, asked = 0, 0
        for turn in range(2):
            part = COMMON if turn == 0 else own[p]
            size = part_offsets[part + 1] - part_offsets[part]
            if size == 0 or (turn == 1 and part == COMMON):
                continue
            begin, end = 0, (size + WORD - 1) // WORD
            found = scratch[:end]
            found[:] = ~np.uint64(0)
            found[end - 1] >>= np.uint64(end * WORD - size)
            asked += size
            for node in range(tree_offsets[part], tree_offsets[part + 1]):
                looked += 1
                ordinal, start, stop = points[p, nodes[node, 0]], nodes[node, 1], nodes[node, 2]
                careless = indifferent[nodes[node, 3] : nodes[node, 3] + len(found)]
                place = start + np.searchsorted(cuts[start:stop], ordinal, side="right") - 1
                if place < start:
                    leave(found[begin:end], careless[begin:end])
                else:
                    meet(references[place], arrays, bits, changed, careless, begin, end, found, spare, kept)
                while begin < end and found[begin] == 0:
                    begin += 1
                while begin < end and found[end - 1] == 0:
                    end -= 1
                if begin == end:
                    break
            for w in range(begin, end):
                word = found[w]
                while word:
                    if n == len(out):
                        return p
                    out[n] = boxes[part_offsets[part] + w * WORD + trailing_zeros(word)]
                    n += 1
                    word &= word - np.uint64(1)
        cost[0] += asked
        cost[1] += looked
        out_offsets[p + 1] = n
    return len(points)
