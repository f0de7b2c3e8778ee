"""One index of paths for the whole process, shared by all segments of all matchers.

A document is read once and searched once for all paths, however many segments there are, and a merge or a new plan
builds nothing again: a path is in the index as long as some dimension has it. Segments only translate the numbers of
the paths into their own ordinals."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, finalize

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidings.documents.batch import read_documents
from tidings.documents.index.path_index import PathIndex
from tidings.matching.ragged import offsets_of, owners
from tidings.paths.keys import path_of_key
from tidings.schema.documents.limits import DocumentLimits

_BYTES_AT_ONCE = 4 << 20  # of documents: their arrays take some 20 times as much
_ANY_SIZE = DocumentLimits(nodes=2**31 - 2, size=2**40)  # of a value that was accepted

Integers = npt.NDArray[np.int64]
Ordinals = npt.NDArray[np.int32]


class _Answer(NamedTuple):
    """What a column of documents has: paths by number, for each value."""

    version: int
    offsets: Integers
    numbers: Ordinals


class SharedPaths:
    """Safe for threads: merges look at recent events, too."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._index = PathIndex()
        self._numbers: dict[str, int] = {}
        self._uses: dict[str, int] = {}
        self._free: list[int] = []
        self._version = 0
        self._released: deque[Sequence[str]] = deque()  # by dimensions that are gone
        self._answers: WeakKeyDictionary[Any, dict[str, _Answer]] = WeakKeyDictionary()
        self._last: tuple[Sequence[bytes], _Answer] = (), _Answer(-1, np.zeros(1, np.int64), np.zeros(0, np.int32))

    def __contains__(self, key: str) -> bool:
        return key in self._numbers

    def hold(self, owner: object, keys: Sequence[str]) -> HeldPaths:
        """The paths stay in the index as long as the owner lives."""
        with self._lock:
            added = False
            for key in keys:
                if key in self._uses:
                    self._uses[key] += 1
                    continue
                number = self._free.pop() if self._free else len(self._numbers)
                self._index.add(number, path_of_key(key))
                self._numbers[key], self._uses[key] = number, 1
                added = True
            self._version += added
            numbers = np.array([self._numbers[key] for key in keys], np.int64)
            self._forget_released()  # also where no document ever comes
        # Only noted there: a dimension may end at any time, also within a call of this object.
        finalize(owner, self._released.append, keys).atexit = False
        return HeldPaths(self, numbers)

    def search(self, batch: Any, attribute: str, flat: Any) -> _Answer:
        """The paths that each value of the batch's column has; remembered for the batch."""
        with self._lock:
            answers = self._answers.setdefault(batch, {})
            known = answers.get(attribute)
            if known is None or known.version != self._version:
                known = answers[attribute] = self._search(flat.cast(pa.binary()).to_pylist())
            return known

    def search_values(self, documents: Sequence[bytes]) -> _Answer:
        """Of one event, for one segment after the other."""
        with self._lock:
            before, known = self._last
            if known.version != self._version or before != documents:
                known = self._search(documents)
                self._last = documents, known
            return known

    def _search(self, documents: Sequence[bytes | None]) -> _Answer:
        """None is no document, and has no path."""
        self._forget_released()
        lengths, parts = np.zeros(len(documents), np.int64), [np.zeros(0, np.int32)]
        present = deque(place for place, one in enumerate(documents) if one is not None)
        while present:
            some: list[int] = []
            size = 0
            while present and size < _BYTES_AT_ONCE:
                some.append(present.popleft())
                size += len(documents[some[-1]] or b"")
            batch = read_documents([documents[place] or b"" for place in some], _ANY_SIZE, valid=True)
            offsets, numbers = self._index.match(batch)
            lengths[some] = np.diff(offsets)
            parts.append(numbers)
        return _Answer(self._version, offsets_of(lengths), np.concatenate(parts))

    def _forget_released(self) -> None:
        while self._released:
            for key in self._released.popleft():
                self._uses[key] -= 1
                if not self._uses[key]:
                    del self._uses[key]
                    number = self._numbers.pop(key)
                    self._index.remove(number)
                    self._free.append(number)


class HeldPaths:
    """The paths of one dimension, whose ordinal i + 1 is its i-th key."""

    def __init__(self, shared: SharedPaths, numbers: Integers) -> None:
        self._shared = shared
        self._ordinal: Ordinals = np.zeros(int(numbers.max(initial=-1)) + 1, np.int32)  # by number
        self._ordinal[numbers] = np.arange(1, len(numbers) + 1, dtype=np.int32)

    def found_in(self, batch: Any, attribute: str, offsets: Integers | None, flat: Any) -> tuple[Integers, Ordinals]:
        """The ordinals of each row's documents, 0 first where there is a document; and where each row begins."""
        answer = self._shared.search(batch, attribute, flat)
        present = flat.is_valid().to_numpy(zero_copy_only=False)
        ends, ordinals = self._own(answer, present)
        return ends if offsets is None else ends[offsets], ordinals

    def of_one(self, documents: Sequence[bytes]) -> list[int]:
        """The ordinals of one event's documents."""
        _, ordinals = self._own(self._shared.search_values(documents), np.ones(len(documents), bool))
        found: list[int] = ordinals.tolist()
        return found

    def _own(self, answer: _Answer, present: npt.NDArray[np.bool_]) -> tuple[Integers, Ordinals]:
        known = answer.numbers < len(self._ordinal)
        ordinals = np.where(known, self._ordinal[np.where(known, answer.numbers, 0)], 0) if len(self._ordinal) else None
        if ordinals is None:
            return offsets_of(present), np.zeros(int(present.sum()), np.int32)
        mine = ordinals > 0
        rows = owners(answer.offsets)[mine]
        counts = np.bincount(rows, minlength=len(present)) + present
        ends = offsets_of(counts)
        made = np.zeros(int(ends[-1]), np.int32)  # the first of each row stays 0
        first = np.repeat(ends[:-1], counts)
        filled = np.arange(len(made)) > first
        made[filled] = ordinals[mine]
        return ends, made


SHARED_PATHS = SharedPaths()
