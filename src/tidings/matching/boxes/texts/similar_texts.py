"""The keys of one axis of similarity: which of them each event of a batch has.

Weights depend on the statistics at an event's position, so there is an index for each of the few that events need."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from tidings.events import EventBatch
from tidings.matching.boxes.texts.batch_words import TextColumn
from tidings.matching.boxes.texts.text_weights import Integers, Ordinals, TextWeights, weights_of
from tidings.matching.boxes.texts.weight_index import WeightIndex
from tidings.matching.ragged import joined_offsets, taken
from tidings.schema.catalog import Catalog
from tidings.schema.statistics import Statistics

_MOST_KEPT = 4  # indexes; events of one batch rarely need two
_weights: WeakKeyDictionary[EventBatch, dict[Statistics, TextWeights]] = WeakKeyDictionary()


class SimilarTexts:
    def __init__(self, attribute: str, keys: Sequence[str]) -> None:
        self._attribute, self._keys = attribute, keys
        self._indexes: dict[Statistics, WeightIndex] = {}

    def found_in(self, batch: EventBatch, column: TextColumn) -> tuple[Integers, Ordinals]:
        """The ordinals of each event, 0 first where it has a text; and where each event begins."""
        history = batch.catalog.statistics_history(self._attribute)
        positions = batch.positions.to_numpy(zero_copy_only=False)
        place = np.searchsorted(np.array([one.since for one in history[1:]], np.int64), positions, side="right")
        needed, of_row = np.unique(place, return_inverse=True)
        found = [self._search(batch, column, history[one]) for one in needed.tolist()] or [
            self._search(batch, column, history[0])
        ]
        texts = column.texts
        if len(needed) > 1:
            each = len(column.cut.ends) - 1
            of_value = of_row if column.offsets is None else np.repeat(of_row, np.diff(column.offsets))
            texts = texts + each * of_value
        rows, stops = taken(joined_offsets([offsets for offsets, _ in found]), texts)
        ordinals = np.concatenate([ordinals for _, ordinals in found])[rows]
        return stops if column.offsets is None else stops[column.offsets], ordinals

    def _search(self, batch: EventBatch, column: TextColumn, statistics: Statistics) -> tuple[Integers, Ordinals]:
        known = _weights.setdefault(batch, {})
        if statistics not in known:
            known[statistics] = weights_of(column.cut, _language(batch.catalog, self._attribute), statistics)
        found = self.index(batch.catalog, statistics).search(known[statistics])
        return found.offsets, found.ordinals

    def index(self, catalog: Catalog, statistics: Statistics) -> WeightIndex:
        index = self._indexes.get(statistics)
        if index is None:
            index = WeightIndex(self._keys, _language(catalog, self._attribute), statistics)
            self._indexes = dict([*self._indexes.items()][1 - _MOST_KEPT :]) | {statistics: index}
        return index


def _language(catalog: Catalog, attribute: str) -> str | None:
    domain = catalog.domain_of(attribute)
    assert domain is not None
    return domain.language
