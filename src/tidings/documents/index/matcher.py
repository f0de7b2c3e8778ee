"""A segment's paths against a batch: by the automaton, or by simulation where it does not pay or may not grow."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.documents.batch import DocumentBatch
from tidings.documents.index.automaton import Automaton, AutomatonLimits
from tidings.documents.index.collect import collect
from tidings.documents.index.groups import grouped, no_groups
from tidings.documents.index.leading import LONGEST, Occurrences
from tidings.documents.index.program import Arrays
from tidings.documents.index.segment import Segment
from tidings.documents.index.simulate import Active, simulate
from tidings.documents.index.trie import Integers, Numbers
from tidings.documents.index.values import Values
from tidings.documents.index.vocabulary import OTHER_ATTRIBUTE, OTHER_ELEMENT
from tidings.documents.names import ELEMENT, TEXT
from tidings.documents.tokenizer import Nodes
from tidings.kernels.compiled import kernel

SMALL = 64  # paths; fewer are simulated: a segment of recent additions is soon merged, and would begin without states
_REGROUPED_AFTER = 2  # times the work of grouping


class Marks(NamedTuple):
    """When each was last met: the tick of a document; `left`: twice the tick of a node, plus one if it held there."""

    state: Integers
    group: Integers
    node: Integers
    slot: Integers
    left: Integers


class Clock(NamedTuple):
    ticks: Integers  # of documents
    node_ticks: Integers
    looked: Integers  # trie nodes that were looked at one by one since the last grouping
    spans: Integers  # room for the entries that one value finds
    trail: Integers  # room for steps


class Reading(NamedTuple):
    """A batch as all segments read it."""

    nodes: Nodes
    kinds: npt.NDArray[np.int8]  # by name, as labels
    labels: Integers
    values: Values
    where: Occurrences
    program: Arrays
    memory: Integers
    given: Numbers
    looked: Integers  # by operation: at how many nodes it has looked without remembering
    patience: int  # the most
    rows: Numbers  # room for nodes in a row


class SegmentMatcher:
    def __init__(self, segment: Segment, limits: AutomatonLimits, small: int = SMALL) -> None:
        self.segment = segment
        self._automaton = Automaton(segment.trie, segment.entries, limits) if len(segment.numbers) >= small else None
        self._expected = 16.0  # matches of a document
        self._restarted()

    @property
    def states(self) -> int:
        return 0 if self._automaton is None else len(self._automaton)

    def _restarted(self) -> None:
        segment = self.segment
        self._groups = no_groups(segment.trie)
        self._withdrawn = segment.withdrawn  # when paths were grouped
        entries = segment.entries
        spans = np.empty((entries.places + 2 * len(entries.cell_place) + len(entries.list_label), 2), np.int64)
        trail = np.empty((LONGEST, 3), np.int64)
        self._clock = Clock(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64), spans, trail)
        tested = len(segment.numbers) if entries.places else 0
        sizes = (0, 0, len(segment.trie.parent), tested, len(entries.operations))
        self._marks = Marks(*(np.zeros(size, np.int64) for size in sizes))

    def match(self, batch: DocumentBatch, reading: Reading, label_count: int) -> tuple[Integers, Numbers]:
        """Offsets and numbers: for each document, the paths that hold."""
        most = len(self.segment.numbers)
        ends = np.zeros(len(batch) + 1, np.int64)
        found = np.empty(int(1.2 * self._expected * len(batch)) + most, np.int32)
        states = self._states(batch, reading)
        document, full = 0, False
        while document < len(batch):
            if states is not None:
                document, full = self._collect(document, batch, reading, states, found, ends)
            if document < len(batch):
                if ends[document] + most > len(found):
                    more = np.empty(len(found) + most, np.int32)
                    found = np.concatenate((found[: ends[document]], more))
                if not full:
                    self._simulate(document, batch, reading, label_count, found, ends)
                    document += 1
        self._expected = ends[-1] / max(1, len(batch))
        return ends, found[: ends[-1]]

    def _states(self, batch: DocumentBatch, reading: Reading) -> Numbers | None:
        """By node; None without an automaton."""
        automaton = self._automaton
        if automaton is None:
            return None
        if automaton.full():
            automaton.restart()
            self._restarted()
        states = automaton.states(batch.offsets, batch.nodes, batch.names.kind, self._own_labels(reading))
        if len(self._marks.state) < len(automaton):
            self._marks = self._marks._replace(state=np.zeros(2 * len(automaton), np.int64))
        ends, nodes = automaton.active()
        if self._clock.looked[0] > _REGROUPED_AFTER * (len(nodes) + len(self._marks.node)):
            self._clock.looked[0] = 0
            self._groups = grouped(ends, nodes, self.segment.trie, self.segment.live)
            self._withdrawn = self.segment.withdrawn
            self._marks = self._marks._replace(group=np.zeros(len(self._groups.member_offsets), np.int64))
        return states

    def _own_labels(self, reading: Reading) -> Integers:
        """Labels that the segment does not speak of are all the same to it."""
        known = self.segment.speaks_of
        mine = known[np.clip(reading.labels, 0, len(known) - 1)] & (reading.labels < len(known))
        others = np.where(reading.kinds == ELEMENT, OTHER_ELEMENT, OTHER_ATTRIBUTE)
        return np.where(mine | (reading.kinds == TEXT), reading.labels, others)

    def _collect(
        self, document: int, batch: DocumentBatch, reading: Reading, states: Numbers, found: Numbers, ends: Integers
    ) -> tuple[int, bool]:
        automaton, segment = self._automaton, self.segment
        assert automaton is not None
        active, tested = Active(*automaton.active()), automaton.tested()
        document, full = collect(
            document,
            batch.offsets,
            states,
            active,
            segment.trie,
            self._groups,
            self._marks,
            self._clock,
            segment.entries,
            tested,
            reading,
            segment.live,
            segment.withdrawn == self._withdrawn,
            found,
            ends,
        )
        return int(document), bool(full)

    def _simulate(
        self, document: int, batch: DocumentBatch, reading: Reading, label_count: int, found: Numbers, ends: Integers
    ) -> None:
        slots = np.empty(2 * len(self.segment.numbers), np.int32)
        count = simulate(
            batch.offsets[document],
            batch.offsets[document + 1],
            reading,
            self.segment.trie,
            self.segment.entries,
            self._marks,
            self._clock,
            label_count,
            slots,
        )
        numbers = self.segment.live[slots[:count]]
        numbers = numbers[numbers >= 0]
        found[ends[document] : ends[document] + len(numbers)] = numbers
        ends[document + 1] = ends[document] + len(numbers)


@kernel
def interleaved(one_ends: Any, one: Any, other_ends: Any, other: Any) -> Any:
    """Of each document, what both have; offsets and numbers."""
    ends, numbers = np.empty_like(one_ends), np.empty(len(one) + len(other), np.int32)
    ends[0] = 0
    for document in range(len(ends) - 1):
        first, last = one_ends[document], one_ends[document + 1]
        other_first, other_last = other_ends[document], other_ends[document + 1]
        middle = ends[document] + last - first
        place = middle + other_last - other_first
        numbers[ends[document] : middle] = one[first:last]  # a slice: documents may have very many
        numbers[middle:place] = other[other_first:other_last]
        ends[document + 1] = place
    return ends, numbers
