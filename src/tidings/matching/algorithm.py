"""The contract of every matching algorithm: add and withdraw filters at journal positions, match batches.

A filter applies to the positions in its span [from, to). A batch may contain events from before and after a change, so
the answer depends only on the events' positions, never on when the matcher learned of the change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

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

__all__ = ["FOREVER", "Algorithm", "Cost", "Failed", "ForeignBatch", "ForeignFilter", "Matches"]

FIRST_POSITION = 1  # of a batch's first event by default


class ForeignFilter(MatchingError):
    """The filter is bound to a different catalog than the matcher's."""

    def __init__(self, id: str, attribute: str) -> None:
        super().__init__(id, attribute)

    def __str__(self) -> str:
        return "subscription {!r}: the matcher's catalog has no attribute {!r}; bind the filter to it".format(
            *self.args
        )


class ForeignBatch(MatchingError):
    """The batch was made with a different version of the catalog than the matcher's."""

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
    """The cost of a match run: subscriptions examined and predicates tested."""

    candidates: int = 0
    predicates: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.candidates + other.candidates, self.predicates + other.predicates)


class Failed(NamedTuple):
    """An event, by its row in the batch, on which an expression of a subscription ended in an error."""

    event: int
    number: int
    detail: str


@dataclass(frozen=True, slots=True)
class Matches:
    """Event i matched the subscriptions `numbers[offsets[i]:offsets[i + 1]]`, each once, in any order. `failed`: where
    a filter of another language was evaluated in vain, each pair once."""

    offsets: Positions
    numbers: Numbers
    cost: Cost = Cost()
    failed: tuple[Failed, ...] = ()

    def __len__(self) -> int:
        return len(self.numbers)

    def of(self, event: int) -> Numbers:
        return self.numbers[self.offsets[event] : self.offsets[event + 1]]

    def events(self) -> Positions:
        """The row of its event in the batch, for each match."""
        return owners(self.offsets)


class Algorithm(ABC):
    """One algorithm. Subclasses define how to store filters (`_insert`) and how to find candidates (`_match`)."""

    name: ClassVar[str]

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._known = catalog  # the last catalog found to be identical
        self.spans = Spans()

    def add(self, subscription: Subscription, at: int = 0) -> int:
        """Adds a filter that applies from position `at` on. Returns its number, which identifies it in matches."""
        self._refuse_foreign(subscription)
        number = self.spans.open(subscription.id, at)
        self._insert(number, subscription.filter)
        return number

    def add_texts(
        self, ids: Sequence[str], texts: Sequence[str], at: Sequence[int] | int = 0, limit: int = MOST_CONJUNCTIONS,
        owners: Sequence[str] | None = None,
    ) -> range:  # fmt: skip
        """Adds filters given as text, all or none, that apply from position `at` on (one for all, or one each). Raises
        the errors of parsing each with `Filter.parse(text, catalog, limit)` and calling `add`. Returns their numbers.
        The fast way in: ten times as fast with the default algorithm (`bench.adding`).

        For warnings, or for all errors instead of the first, create the FilterBatch yourself."""
        return self.add_batch(ids, FilterBatch.of_texts(texts, self.catalog, limit), at, owners)

    def add_batch(
        self, ids: Sequence[str], batch: FilterBatch, at: Sequence[int] | int = 0, owners: Sequence[str] | None = None
    ) -> range:
        """Adds all or none of the filters, which must be bound to this matcher's catalog. Raises LanguageError if one
        has a problem, and MatchingError for an id that cannot be added. Only plans keep the owners."""
        if len(ids) != len(batch):
            raise ValueError(f"{len(ids):,} ids for {len(batch):,} filters: expected one each")
        batch.refuse_wrong()
        return self._insert_batch(ids, batch, at, owners)

    def withdraw(self, id: str, at: int) -> None:
        """Withdraws the filter: it no longer applies from position `at` on."""
        self.spans.close(id, at)

    def adopt(self, catalog: Catalog) -> None:
        """Switches to a grown catalog; existing filters keep their meaning."""
        self.catalog = self._known = catalog

    def match(self, batch: EventBatch) -> Matches:
        """All pairs of an event and a matching filter that applies to it."""
        if batch.catalog is not self._known:
            if batch.catalog.version != self.catalog.version or batch.catalog != self.catalog:
                raise ForeignBatch(batch.catalog.version, self.catalog.version)
            self._known = batch.catalog
        return self._match(batch)

    def match_one(self, event: GivenEvent, position: int | None = None) -> Numbers:
        """The subscriptions that one event matches. The event is JSON text, a dict, or a valid `Event`. Raises
        RefusedEvent, as `validate` does. The default position is that of the first event in a batch."""
        raw = raw_event(event)
        valid = raw if isinstance(raw, Event) else validate(raw, self.catalog)
        at = FIRST_POSITION if position is None else position
        return self.match(EventBatch.of([valid], self.catalog, at)).of(0)

    def id(self, number: int) -> str:
        return str(self.spans.ids[number])

    def is_active(self, id: str) -> bool:
        """Whether the subscription was added and not withdrawn since."""
        return self.spans.is_active(id)

    def _refuse_foreign(self, subscription: Subscription) -> None:
        for conjunction in subscription.filter.conjunctions:
            for literal in conjunction:
                for name in attributes_of(literal):
                    if self.catalog.domain_of(name) is None:
                        raise ForeignFilter(subscription.id, name)

    def __len__(self) -> int:
        """The number of active subscriptions."""
        return sum(1 for _ in self.spans.active())

    def _insert_batch(
        self, ids: Sequence[str], batch: FilterBatch, at: Sequence[int] | int, owners: Sequence[str] | None
    ) -> range:
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
