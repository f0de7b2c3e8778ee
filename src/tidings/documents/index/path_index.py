"""The index: paths by number, added and withdrawn at any time, matched with batches of documents.

Paths that were added since the last batch become a small segment; a segment that is not much smaller than the one
before it is merged with it. So there are few segments, and each path is merged a few times."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tidings.documents.batch import DocumentBatch
from tidings.documents.errors import PathNumberTaken, UnknownPathNumber
from tidings.documents.index.automaton import AutomatonLimits
from tidings.documents.index.leading import Occurrences, occurrences
from tidings.documents.index.matcher import SMALL, Reading, SegmentMatcher, interleaved
from tidings.documents.index.program import Program
from tidings.documents.index.reclaiming import reclaim
from tidings.documents.index.segment import Record, Segment, joined, recorded
from tidings.documents.index.values import Texts
from tidings.documents.index.vocabulary import Vocabulary
from tidings.paths.tree import Path

_OPERATIONS = 64  # of a path: each may be remembered at each node of a document
_LARGEST_MEMORY = 1 << 22
_ROWS = 3  # times the nodes of a document
PATIENCE = 4  # times the nodes of a batch that a step looks at before it remembers what is below each
_MOST_FRESH = 50_000  # paths that wait to be indexed: each is a few objects of Python
SPARE = 10_000
_MERGED = 2  # a segment less than this many times as large as the next is merged with it


class PathIndex:
    def __init__(self, limits: AutomatonLimits | None = None, small: int = SMALL, spare: int = SPARE) -> None:
        """Segments of fewer than `small` paths have no automaton. What only withdrawn paths needed is dropped when more
        were withdrawn than are left, and more than `spare`."""
        self._limits, self._small, self._spare = limits or AutomatonLimits(), small, spare
        self._withdrawn = 0
        self._vocabulary = Vocabulary()
        self._program, self._texts = Program(self._vocabulary), Texts()
        self._matchers: list[SegmentMatcher] = []  # from large to small
        self._fresh: dict[int, Record] = {}

    def __len__(self) -> int:
        return len(self._fresh) + sum(len(matcher.segment) for matcher in self._matchers)

    def __contains__(self, number: int) -> bool:
        return number in self._fresh or any(matcher.segment.has(number) for matcher in self._matchers)

    @property
    def states(self) -> int:
        """Of all automata, as far as documents have needed them."""
        return sum(matcher.states for matcher in self._matchers)

    @property
    def held(self) -> tuple[int, int, int]:
        """How many names, operations and texts it keeps."""
        return len(self._vocabulary), len(self._program), len(self._texts)

    def add(self, number: int, path: Path) -> None:
        """Raises PathNumberTaken."""
        if number in self:
            raise PathNumberTaken(number)
        self._fresh[number] = recorded(path, self._vocabulary, self._program, self._texts)
        if len(self._fresh) == _MOST_FRESH:
            self._settle()

    def remove(self, number: int) -> None:
        """Raises UnknownPathNumber."""
        if self._fresh.pop(number, None) is None:
            self._withdraw(number)
        self._withdrawn += 1
        if self._withdrawn > max(self._spare, len(self)):
            self._reclaim()

    def _withdraw(self, number: int) -> None:
        for place, matcher in enumerate(self._matchers):
            segment = matcher.segment
            if segment.has(number):
                segment.withdraw(number)
                if len(segment) < segment.withdrawn:
                    self._matchers[place : place + 1] = (
                        [self._made(Segment.merged([segment], len(self._texts)))] if len(segment) else []
                    )
                return
        raise UnknownPathNumber(number)

    def _reclaim(self) -> None:
        self._withdrawn = 0
        self._settle()
        if not self._matchers:
            self._vocabulary = Vocabulary()
            self._program, self._texts = Program(self._vocabulary), Texts()
            return
        rows = joined([matcher.segment for matcher in self._matchers])
        rows = reclaim(rows, self._vocabulary, self._program, self._texts)
        self._matchers = [self._made(Segment(*rows, len(self._texts)))]

    def match(self, batch: DocumentBatch) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Offsets and numbers: for document i, paths numbers[offsets[i]:offsets[i + 1]] hold, in no certain order."""
        self._settle()
        program = self._program.arrays()
        largest = int(np.diff(batch.offsets).max(initial=0)) if len(program.kind) else 0
        size = min(1 << (_OPERATIONS * largest).bit_length(), _LARGEST_MEMORY)
        labels, count = self._vocabulary.labels(batch.names), len(self._vocabulary)
        reading = Reading(
            batch.nodes,
            batch.names.kind,
            labels,
            self._texts.values(batch.nodes, labels, count),
            Occurrences(*occurrences(batch.nodes.name, batch.nodes.parent, labels, count)),
            program,
            np.zeros(size, np.int64),
            np.empty(size, np.int32),
            np.zeros(len(program.kind), np.int64),
            PATIENCE * len(batch.nodes.name),
            np.empty((_ROWS * largest + 1, 3), np.int32),
        )
        offsets, numbers = np.zeros(len(batch) + 1, np.int64), np.zeros(0, np.int32)
        for matcher in self._matchers:
            ends, found = matcher.match(batch, reading, count)
            offsets, numbers = (ends, found) if not len(numbers) else interleaved(offsets, numbers, ends, found)
        return offsets, numbers

    def _settle(self) -> None:
        if self._fresh:
            self._matchers.append(self._made(Segment.of_records(self._fresh, len(self._texts))))
            self._fresh = {}
        while len(self._matchers) > 1:
            before, last = (matcher.segment for matcher in self._matchers[-2:])
            if len(before) >= _MERGED * len(last):
                break
            self._matchers[-2:] = [self._made(Segment.merged([before, last], len(self._texts)))]

    def _made(self, segment: Segment) -> SegmentMatcher:
        return SegmentMatcher(segment, self._limits, self._small)
