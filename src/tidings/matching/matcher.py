"""The contract of every matching algorithm: filters come and go at journal positions, batches are matched.

A filter counts for the positions in its span [from, to). A batch may hold events from before and after a
change, so the answer depends on the events' positions alone, never on when the matcher was told.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tidings.errors import MatchingError, suggestion
from tidings.events import EventBatch
from tidings.language import Filter, Subscription
from tidings.language.tree import Not, attributes_of
from tidings.schema.catalog import Catalog

FOREVER = np.iinfo(np.int64).max

Positions = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]


class DuplicateSubscription(MatchingError):
    def __init__(self, id: str) -> None:
        super().__init__(id)

    def __str__(self) -> str:
        return f"subscription {self.args[0]!r} is active already; withdraw it before it is added again"


class UnknownSubscription(MatchingError):
    def __init__(self, id: str, known: tuple[str, ...]) -> None:
        super().__init__(id, known)

    def __str__(self) -> str:
        id, known = self.args
        return f"no active subscription {id!r}{suggestion(id, known)}"


class DisorderedPosition(MatchingError):
    """A change was placed before one that the same subscription has had already."""

    def __init__(self, id: str, at: int, earliest: int) -> None:
        super().__init__(id, at, earliest)

    def __str__(self) -> str:
        return "subscription {!r} cannot change at position {}: it already changed at {}".format(*self.args)


class ForeignFilter(MatchingError):
    """A filter was bound to another catalog than the matcher has."""

    def __init__(self, id: str, attribute: str) -> None:
        super().__init__(id, attribute)

    def __str__(self) -> str:
        return "subscription {!r}: the matcher's catalog has no attribute {!r}; bind the filter to it".format(
            *self.args
        )


class IllegalId(MatchingError):
    def __init__(self, id: str) -> None:
        super().__init__(id)

    def __str__(self) -> str:
        return f"the id {self.args[0]!r} has half a character, which UTF-8 cannot write"


class ForeignBatch(MatchingError):
    """A batch was made by another version of the catalog than the matcher has."""

    def __init__(self, batch_version: int, matcher_version: int) -> None:
        super().__init__(batch_version, matcher_version)

    def __str__(self) -> str:
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
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


class Spans:
    """Which subscription a number stands for, and the positions it counts for. Numbers are never re-used."""

    def __init__(self) -> None:
        self.ids: Any = []
        self._start = np.zeros(16, np.int64)
        self._stop = np.zeros(16, np.int64)
        self._active: dict[str, int] | None = {}
        self._last_change: dict[str, int] = {}

    @classmethod
    def restored(cls, ids: Any, spans: npt.NDArray[np.int64]) -> Spans:
        """Spans as a plan keeps them; the look-up by id is made when a change first needs it."""
        made = cls()
        made.ids, made._active = _Ids(ids), None
        made._start, made._stop = spans[0], spans[1]
        return made

    def __len__(self) -> int:
        return len(self.ids)

    def check(self, id: str, at: int) -> None:
        """Raises what `open` would; changes nothing."""
        if id in self._by_id():
            raise DuplicateSubscription(id)
        if not id.isascii() and any("\ud800" <= character <= "\udfff" for character in id):
            raise IllegalId(id)
        if at < self._last_change.get(id, at):
            raise DisorderedPosition(id, at, self._last_change[id])

    def open(self, id: str, at: int) -> int:
        self.check(id, at)
        active = self._by_id()
        number = len(self.ids)
        if number == len(self._start):
            self._start = np.concatenate([self._start, np.zeros(max(16, number), np.int64)])
            self._stop = np.concatenate([self._stop, np.zeros(max(16, number), np.int64)])
        self.ids.append(id)
        self._start[number], self._stop[number] = at, FOREVER
        active[id] = number
        return number

    def open_many(self, ids: list[str], at: int) -> None:
        """Opens spans for many new subscriptions at once."""
        active = self._by_id()
        first = len(self.ids)
        wanted = dict(zip(ids, range(first, first + len(ids)), strict=True))
        if len(wanted) < len(ids) or not wanted.keys().isdisjoint(active):
            seen: set[str] = set(active)
            raise DuplicateSubscription(next(id for id in ids if id in seen or seen.add(id)))  # type: ignore[func-returns-value]
        more = np.zeros(max(0, first + len(ids) - len(self._start)) + 16, np.int64)
        self._start, self._stop = np.concatenate([self._start, more]), np.concatenate([self._stop, more])
        self._start[first : first + len(ids)], self._stop[first : first + len(ids)] = at, FOREVER
        self.ids.extend(ids)
        active.update(wanted)

    def close(self, id: str, at: int) -> int:
        active = self._by_id()
        if id not in active:
            raise UnknownSubscription(id, tuple(active))
        number = active[id]
        if at < self._start[number]:
            raise DisorderedPosition(id, at, int(self._start[number]))
        del active[id]
        self._stop[number] = self._last_change[id] = at
        return number

    def _by_id(self) -> dict[str, int]:
        """The numbers of the active subscriptions."""
        if self._active is None:
            self.ids = list(self.ids)
            self.writable()
            self._active = {}
            for number, (id, stop) in enumerate(zip(self.ids, self._stop, strict=True)):
                if stop == FOREVER:
                    self._active[id] = number
                else:
                    self._last_change[id] = max(int(stop), self._last_change.get(id, int(stop)))
        return self._active

    @property
    def start(self) -> Positions:
        return self._start[: len(self.ids)]

    @property
    def stop(self) -> Positions:
        return self._stop[: len(self.ids)]

    def writable(self) -> None:
        """Takes a plan's spans into memory, before they change and before a kernel that was compiled for such
        arrays."""
        if not self._start.flags.writeable:
            self._start, self._stop = np.array(self._start), np.array(self._stop)

    def active(self) -> Iterator[str]:
        return iter(self._by_id())


class _Ids:
    """Subscription ids in an Arrow array, read one by one."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, number: int) -> str:
        return str(self._array[number].as_py())

    def __iter__(self) -> Iterator[str]:
        return iter(self._array.to_pylist())


class Matcher(ABC):
    """One algorithm. Subclasses say how filters are kept (`_insert`) and candidates found (`_match`)."""

    name: ClassVar[str]

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._known = catalog  # the last one that was found to be the same
        self.spans = Spans()

    def add(self, subscription: Subscription, at: int = 0) -> int:
        """The filter counts from position `at` on. Returns the number that stands for it in matches."""
        for conjunction in subscription.filter.conjunctions:
            for literal in conjunction:
                for name in attributes_of(literal.term if isinstance(literal, Not) else literal):
                    if self.catalog.domain_of(name) is None:
                        raise ForeignFilter(subscription.id, name)
        number = self.spans.open(subscription.id, at)
        self._insert(number, subscription.filter)
        return number

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

    def id(self, number: int) -> str:
        return str(self.spans.ids[number])

    def __len__(self) -> int:
        """How many subscriptions are active."""
        return sum(1 for _ in self.spans.active())

    @abstractmethod
    def _insert(self, number: int, filter: Filter) -> None: ...

    @abstractmethod
    def _match(self, batch: EventBatch) -> Matches: ...
