"""Files and tables of subscriptions to be added to a matcher, without an object for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tidings.errors import LanguageError
from tidings.language.subscription_file import SubscriptionTexts, read_texts
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
        return cls.of(read_texts(lines), catalog)

    @classmethod
    def of(
        cls, read: SubscriptionTexts, catalog: Catalog, composites: Mapping[int, LanguageError] | None = None
    ) -> SubscriptionBatch:
        """The filters of a file that was read, given what is wrong with its composites. Raises WrongSubscriptions."""
        filters = FilterBatch.of_texts(read.texts, catalog)
        read.refuse_wrong(filters.problems, composites)
        return cls(read.ids, filters)

    def __len__(self) -> int:
        return len(self.ids)
