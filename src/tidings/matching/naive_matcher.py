"""The specification (`naive`) as an algorithm among the others."""

from __future__ import annotations

import numpy as np

from tidings.events import EventBatch
from tidings.language import Filter
from tidings.language.normal_form import push_negation
from tidings.language.tree import Node
from tidings.matching.algorithm import Algorithm, Cost, Matches
from tidings.matching.naive import choices, holds
from tidings.schema.catalog import Catalog


class NaiveMatcher(Algorithm):
    """Tests every filter on every event."""

    name = "naive"

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        self._trees: list[Node] = []

    def _insert(self, number: int, filter: Filter) -> None:
        self._trees.append(push_negation(filter.tree, self.catalog))

    def _match(self, batch: EventBatch) -> Matches:
        found: list[int] = []
        offsets = [0]
        candidates = 0
        for row, position in enumerate(batch.positions.to_pylist()):
            bindings = batch.bindings(row)
            counting = (self.spans.start <= position) & (position < self.spans.stop)
            for number in np.flatnonzero(counting).tolist():
                tree = self._trees[number]
                candidates += 1
                if any(holds(tree, bindings, chosen, self.catalog) for chosen in choices(tree, bindings)):
                    found.append(number)
            offsets.append(len(found))
        return Matches(np.array(offsets, np.int64), np.array(found, np.int32), Cost(candidates, candidates))
