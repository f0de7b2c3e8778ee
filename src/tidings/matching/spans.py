"""Numbers and spans: each added subscription gets the next number, which identifies it in matches, and a span: it
applies to the positions [from, to) of the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidings.errors import MatchingError, suggestion

FOREVER = np.iinfo(np.int64).max

Positions = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]


class DuplicateSubscription(MatchingError):
    def __init__(self, id: str) -> None:
        super().__init__(id)

    def __str__(self) -> str:
        return f"subscription {self.args[0]!r} is active already; remove it first (a Matcher also takes replace=True)"


class UnknownSubscription(MatchingError):
    def __init__(self, id: str, known: tuple[str, ...]) -> None:
        super().__init__(id, known)

    def __str__(self) -> str:
        id, known = self.args
        return f"no active subscription {id!r}{suggestion(id, known)}"


class DisorderedPosition(MatchingError):
    """The position is before an earlier change of the same subscription."""

    def __init__(self, id: str, at: int, earliest: int) -> None:
        super().__init__(id, at, earliest)

    def __str__(self) -> str:
        return "subscription {!r} cannot change at position {}: it already changed at {}".format(*self.args)


class IllegalId(MatchingError):
    def __init__(self, id: str) -> None:
        super().__init__(id)

    def __str__(self) -> str:
        return f"the id {self.args[0]!r} contains an unpaired surrogate"


class Closings(NamedTuple):
    """Closed spans: the numbers and where they ended."""

    numbers: Numbers
    stops: Positions


class Spans:
    """Maps each number to its subscription and span. Numbers are never reused."""

    def __init__(self) -> None:
        self.ids: Any = []
        self.owners: Any = []  # whose each is, '' where nobody's
        self._coded: tuple[list[str], Numbers] | None = None
        self._start = np.zeros(16, np.int64)
        self._stop = np.zeros(16, np.int64)
        self._stored: tuple[Any, Closings] | None = None
        self._active: dict[str, int] | None = {}
        self._last_change: dict[str, int] = {}

    @classmethod
    def restored(cls, ids: Any, starts: Any, closings: Closings, owners: Any) -> Spans:
        """Spans as stored in a plan, in Arrow arrays by number. The arrays for kernels and the lookup by id are created
        on first use."""
        made = cls()
        made.ids, made.owners, made._active = _Texts(ids), _Texts(owners), None
        made._stored = starts, closings
        return made

    def __len__(self) -> int:
        return len(self.ids)

    def check(self, id: str, at: int) -> None:
        """Raises the errors of `open`; changes nothing."""
        if id in self._by_id():
            raise DuplicateSubscription(id)
        if not id.isascii() and any("\ud800" <= character <= "\udfff" for character in id):
            raise IllegalId(id)
        if at < self._last_change.get(id, at):
            raise DisorderedPosition(id, at, self._last_change[id])

    def open(self, id: str, at: int) -> int:
        self.check(id, at)
        active, number = self._by_id(), len(self.ids)
        self._make_room(number + 1)
        self._start[number], self._stop[number] = at, FOREVER
        self.ids.append(id)
        self.owners.append("")
        active[id] = number
        return number

    def own(self, number: int, owner: str) -> None:
        """Says whose a new subscription is."""
        self.owners[number], self._coded = owner, None

    def open_many(self, ids: Sequence[str], at: Sequence[int] | int, owners: Sequence[str] | None = None) -> int:
        """Opens spans for many new subscriptions at once, all or none; returns the first number."""
        active = self._by_id()
        first, last = len(self.ids), len(self.ids) + len(ids)
        wanted = self.check_many(ids, at)
        self._make_room(last)
        self._start[first:last], self._stop[first:last] = at, FOREVER
        self.ids.extend(ids)
        self.owners.extend([""] * len(ids) if owners is None else owners)
        if active:
            active.update(wanted)
        else:
            self._active = wanted
        return first

    def check_many(self, ids: Sequence[str], at: Sequence[int] | int) -> dict[str, int]:
        """Raises the error of opening them one by one, else returns the numbers they would get. Checks them
        individually only if something may be wrong."""
        wanted = dict(zip(ids, range(len(self.ids), len(self.ids) + len(ids)), strict=True))
        if len(wanted) < len(ids):
            raise DuplicateSubscription(next(id for id, count in Counter(ids).items() if count > 1))
        known = (self._by_id().keys(), self._last_change.keys())
        if not (all(map(str.isascii, ids)) and all(names.isdisjoint(wanted) for names in known)):
            for id, position in zip(ids, np.broadcast_to(at, len(ids)).tolist(), strict=True):
                self.check(id, position)
        return wanted

    def _make_room(self, numbers: int) -> None:
        if numbers > len(self._start):
            self._start, self._stop = _longer(self._start, numbers), _longer(self._stop, numbers)

    def number(self, id: str) -> int:
        """The number of an active subscription; raises UnknownSubscription."""
        active = self._by_id()
        if id not in active:
            raise UnknownSubscription(id, tuple(active))
        return active[id]

    def close(self, id: str, at: int) -> int:
        number = self.number(id)
        if at < self._start[number]:
            raise DisorderedPosition(id, at, int(self._start[number]))
        del self._by_id()[id]
        self._stop[number] = self._last_change[id] = at
        return number

    def _by_id(self) -> dict[str, int]:
        """The numbers of the active subscriptions."""
        if self._active is None:
            self.ids, self.owners = list(self.ids), list(self.owners)
            self._active = {}
            for number, (id, stop) in enumerate(zip(self.ids, self.stop.tolist(), strict=True)):
                if stop == FOREVER:
                    self._active[id] = number
                else:
                    self._last_change[id] = max(stop, self._last_change.get(id, stop))
        return self._active

    @property
    def start(self) -> Positions:
        self._read()
        return self._start[: len(self.ids)]

    @property
    def stop(self) -> Positions:
        self._read()
        return self._stop[: len(self.ids)]

    def _read(self) -> None:
        """Reads a plan's spans into memory."""
        if self._stored is not None:
            starts, closings = self._stored
            self._stored = None
            self._start = np.array(starts.to_numpy(), np.int64)
            self._stop = np.full(len(self._start), FOREVER)
            self._stop[closings.numbers] = closings.stops

    def active(self) -> Iterator[str]:
        return iter(self._by_id())

    def is_active(self, id: str) -> bool:
        return id in self._by_id()

    def ids_of(self, numbers: Numbers) -> Any:
        """The ids of many numbers, as an Arrow array of strings."""
        if isinstance(self.ids, _Texts):
            return self.ids.take(numbers)
        return pa.array([self.ids[number] for number in numbers.tolist()], pa.string())

    def coded_owners(self) -> tuple[list[str], Numbers]:
        """The different owners, and for each number which of them it has."""
        if self._coded is None or len(self._coded[1]) < len(self):
            owners = self.owners.whole() if isinstance(self.owners, _Texts) else pa.array(self.owners, pa.string())
            coded = owners.dictionary_encode()
            self._coded = coded.dictionary.to_pylist(), coded.indices.to_numpy()
        return self._coded


def _longer(array: Positions, needed: int) -> Positions:
    """A longer copy; unused space is not touched, so it costs neither time nor memory."""
    made = np.empty(needed + max(16, needed // 2), np.int64)
    made[: len(array)] = array
    return made


class _Texts:
    """Ids or owners in chunks of an Arrow array, read one by one."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self._whole: Any = None

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, number: int) -> str:
        return str(self._array[number].as_py())

    def __iter__(self) -> Iterator[str]:
        return iter(self._array.to_pylist())

    def take(self, numbers: Numbers) -> Any:
        return self.whole().take(pa.array(numbers))

    def whole(self) -> Any:
        """One array, built on first use: searching the chunks would take time proportional to their number."""
        if self._whole is None:
            self._whole = self._array.combine_chunks()
        return self._whole
