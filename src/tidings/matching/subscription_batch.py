"""Files and tables of subscriptions to be added to a matcher, without an object for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tidings.language.subscription_file import read_texts
from tidings.matching.boxes.filter_batch import FilterBatch
from tidings.schema.catalog import Catalog


@dataclass(frozen=True, slots=True)
class SubscriptionBatch:
    """Ids and filters, one each: the input of `Algorithm.add_batch`."""

    ids: list[str]
    filters: FilterBatch

    @classmethod
    def read(cls, lines: Iterable[Any], catalog: Catalog) -> SubscriptionBatch:
        """Reads lines of a file, or objects with an id and a filter. Raises WrongSubscriptions with all problems."""
        read = read_texts(lines)
        filters = FilterBatch.of_texts(read.texts, catalog)
        read.refuse_wrong(filters.problems)
        return cls(read.ids, filters)

    def __len__(self) -> int:
        return len(self.ids)
