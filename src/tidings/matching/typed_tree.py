"""Typed tree: per event type one node per attribute, whose values refer to boxes; the answer is where all references meet.

A-MEDIAS ("the typed profile tree", section 9.4): Gough's tree crossed with counting. The dispatcher sends an event to its
type's tree (and to that of the boxes without a type). There each attribute node finds the elementary interval of the
event's value and the *reference* to the boxes that hold it; boxes that do not care about the attribute are in every
reference, by a bit list of the node's. References are arrays or bit lists, see `references.py`.

Attributes come in the order of a selectivity measure, so that an event that matches nothing is let go early: by the share of
the *zero-subdomain*, the values that no box of the tree refers to, in the domain. A1 takes the domain from the filters
alone, all their elementary intervals alike; A2 weighs them by a sample of events. One box that does not care makes an
attribute's zero-subdomain empty, so ties, which then are common, are decided by the share that a box lacks on average.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from tidings.errors import MatchingError, one_of
from tidings.events import EventBatch
from tidings.matching.box_table import BoxTable
from tidings.matching.compiling import kernel
from tidings.matching.event_table import EventTable
from tidings.matching.event_type_parts import COMMON, EventTypeParts, owners_of
from tidings.matching.indexed import IndexedMatcher, Integers, Ordinals
from tidings.matching.matcher import Cost
from tidings.matching.references import AttributeNode, References, attribute_node, meet
from tidings.schema.catalog import Catalog

Measure = Literal["A1", "A2"]


class UnknownMeasure(MatchingError):
    def __init__(self, measure: str) -> None:
        super().__init__(measure)

    def __str__(self) -> str:
        return f"no selectivity measure {self.args[0]!r}; there is {one_of(get_args(Measure))}"


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
        place = np.empty(len(table), np.int64)  # within its part
        place[self._boxes_by_part] = np.arange(len(table))
        place -= self._part_offsets[parts.part]
        owner = owners_of(table)
        sides = np.flatnonzero(parts.left & (table.low < table.high))
        group = parts.part[owner[sides]].astype(np.int64) * (len(table.dimensions) + 1) + table.dimension[sides]
        sides = sides[np.argsort(group, kind="stable")]
        self.trees: list[list[AttributeNode]] = [[] for _ in range(parts.count)]
        for of_node in np.split(sides, np.flatnonzero(np.diff(np.sort(group))) + 1) if len(sides) else ():
            part = int(parts.part[owner[of_node[0]]])
            size = int(self._part_offsets[part + 1] - self._part_offsets[part])
            self.trees[part].append(
                attribute_node(
                    int(table.dimension[of_node[0]]),
                    size,
                    place[owner[of_node]].astype(np.int32),
                    table.low[of_node],
                    table.high[of_node],
                )
            )
        self._reorder(sample)
        self._flat = References.of(self.trees)

    def _reorder(self, sample: Ordinals | None) -> None:
        """The most selective attribute first, in each tree."""
        own = None if sample is None else self._parts.of_points(sample)
        for part, tree in enumerate(self.trees):
            seen = sample if sample is None or part == COMMON else sample[own == part]
            tree.sort(key=lambda node: selectivity(node, None if seen is None else seen[:, node.dimension]), reverse=True)
