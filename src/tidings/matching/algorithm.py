"""The contract of every matching algorithm: filters come and go at journal positions, batches are matched.

A filter counts for the positions in its span [from, to). A batch may hold events from before and after a
change, so the answer depends on the events' positions alone, never on when the matcher was told.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tidings.errors import MatchingError
from tidings.events import Event, EventBatch, validate
from tidings.events.quick_look import GivenEvent, raw_event
from tidings.language import Filter, Subscription
from tidings.language.normal_form import MOST_CONJUNCTIONS
from tidings.language.predicates import attributes_of
from tidings.matching.boxes.filter_batch import FilterBatch
from tidings.matching.ragged import owners
from tidings.matching.spans import FOREVER, Numbers, Positions, Spans
from tidings.schema.catalog import Catalog

__all__ = ["FOREVER", "Algorithm", "Cost", "ForeignBatch", "ForeignFilter", "Matches"]

FIRST_POSITION = 1  # of a batch's first event where nobody says another


class ForeignFilter(MatchingError):
    """A filter was bound to another catalog than the matcher has."""

    def __init__(self, id: str, attribute: str) -> None:
        super().__init__(id, attribute)

    def __str__(self) -> str:
        return "subscription {!r}: the matcher's catalog has no attribute {!r}; bind the filter to it".format(
            *self.args
        )


class ForeignBatch(MatchingError):
    """A batch was made by another version of the catalog than the matcher has."""

    def __init__(self, batch_version: int, matcher_version: int) -> None:
        super().__init__(batch_version, matcher_version)

    def __str__(self) -> str:
        if self.args[0] == self.args[1]:
            return "the batch was made with another schema than the matcher has: make it with the matcher's"
        return (
            "the batch was made with schema version {} and the matcher has {}: adopt() the newer catalog "
            "or make the batch with the matcher's"
        ).format(*self.args)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a match run did: subscriptions looked at and predicates tested."""

    candidates: int = 0
    predicates: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.candidates + other.candidates, self.predicates + other.predicates)


@dataclass(frozen=True, slots=True)
class Matches:
    """Event i matched the subscriptions `numbers[offsets[i]:offsets[i + 1]]`, each once, in any order."""

    offsets: Positions
    numbers: Numbers
    cost: Cost = Cost()

    def __len__(self) -> int:
        return len(self.numbers)

    def of(self, event: int) -> Numbers:
        return self.numbers[self.offsets[event] : self.offsets[event + 1]]

    def events(self) -> Positions:
        """For each match the place of its event in the batch."""
        return owners(self.offsets)


class Algorithm(ABC):
    """One algorithm. Subclasses say how filters are kept (`_insert`) and candidates found (`_match`)."""

    name: ClassVar[str]

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._known = catalog  # the last one that was found to be the same
        self.spans = Spans()

    def add(self, subscription: Subscription, at: int = 0) -> int:
        """The filter counts from position `at` on. Returns the number that stands for it in matches."""
        self._refuse_foreign(subscription)
        number = self.spans.open(subscription.id, at)
        self._insert(number, subscription.filter)
        return number

    def add_texts(
        self, ids: Sequence[str], texts: Sequence[str], at: Sequence[int] | int = 0, limit: int = MOST_CONJUNCTIONS
    ) -> range:
        """Filters as texts, which count from position `at` on (one for all, or one each): all or none of them. Raises
        what `Filter.parse(text, catalog, limit)` and `add` one after the other would. Returns the numbers that stand
        for them. The quick way in: with the default algorithm ten times as fast (`bench.adding`).

        For their warnings, or for all that is wrong instead of the first error, make the FilterBatch yourself."""
        return self.add_batch(ids, FilterBatch.of_texts(texts, self.catalog, limit), at)

    def add_batch(self, ids: Sequence[str], batch: FilterBatch, at: Sequence[int] | int = 0) -> range:
        """All or none of the filters, which are bound to this matcher's catalog. Raises LanguageError where one has a
        problem, and MatchingError for an id that cannot be added."""
        if len(ids) != len(batch):
            raise ValueError(f"{len(ids):,} ids for {len(batch):,} filters: expected one each")
        batch.refuse_wrong()
        return self._insert_batch(ids, batch, at)

    def withdraw(self, id: str, at: int) -> None:
        """The filter no longer counts from position `at` on."""
        self.spans.close(id, at)

    def adopt(self, catalog: Catalog) -> None:
        """Goes on with a grown catalog; what was added keeps its meaning."""
        self.catalog = self._known = catalog

    def match(self, batch: EventBatch) -> Matches:
        """All pairs of an event and a filter that counts for it and matches."""
        if batch.catalog is not self._known:
            if batch.catalog.version != self.catalog.version or batch.catalog != self.catalog:
                raise ForeignBatch(batch.catalog.version, self.catalog.version)
            self._known = batch.catalog
        return self._match(batch)

    def match_one(self, event: GivenEvent, position: int | None = None) -> Numbers:
        """The subscriptions that one event matches: a JSON text, a raw event as a dict, or a valid `Event`. Raises
        RefusedEvent, as `validate` does. Without a position it has that of the first event in a batch."""
        raw = raw_event(event)
        valid = raw if isinstance(raw, Event) else validate(raw, self.catalog)
        at = FIRST_POSITION if position is None else position
        return self.match(EventBatch.of([valid], self.catalog, at)).of(0)

    def id(self, number: int) -> str:
        return str(self.spans.ids[number])

    def is_active(self, id: str) -> bool:
        """Whether it was added and not withdrawn since."""
        return self.spans.is_active(id)

    def _refuse_foreign(self, subscription: Subscription) -> None:
        for conjunction in subscription.filter.conjunctions:
            for literal in conjunction:
                for name in attributes_of(literal):
                    if self.catalog.domain_of(name) is None:
                        raise ForeignFilter(subscription.id, name)

    def __len__(self) -> int:
        """How many subscriptions are active."""
        return sum(1 for _ in self.spans.active())

    def _insert_batch(self, ids: Sequence[str], batch: FilterBatch, at: Sequence[int] | int) -> range:
        positions = np.broadcast_to(at, len(ids)).tolist()
        self.spans.check_many(ids, positions)
        first = len(self.spans)
        for id, filter, position in zip(ids, batch.filters(), positions, strict=True):
            self.add(Subscription(id, filter), position)
        return range(first, first + len(ids))

    @abstractmethod
    def _insert(self, number: int, filter: Filter) -> None: ...

    @abstractmethod
    def _match(self, batch: EventBatch) -> Matches: ...
