"""A segment's paths against a batch: by the automaton, or by simulation where it does not pay or may not grow."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.documents.batch import DocumentBatch
from tidings.documents.index.automaton import SIMULATED, Automaton, AutomatonLimits
from tidings.documents.index.collect import collect, collect_tested
from tidings.documents.index.groups import grouped, no_groups
from tidings.documents.index.program import Arrays
from tidings.documents.index.segment import Segment
from tidings.documents.index.simulate import simulate
from tidings.documents.index.vocabulary import OTHER_ATTRIBUTE, OTHER_ELEMENT
from tidings.documents.names import ELEMENT, SEED, TEXT

SMALL = 64  # paths; fewer are simulated: a segment of recent additions is soon merged, and would begin without states
_REGROUPED_AFTER = 2  # times the work of grouping


class Accepted(NamedTuple):
    offsets: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int32]


class Marks(NamedTuple):
    """When each was last met: the tick of a document."""

    state: npt.NDArray[np.int64]
    group: npt.NDArray[np.int64]
    slot: npt.NDArray[np.int64]


class Reading(NamedTuple):
    """A batch as all segments read it."""

    batch: DocumentBatch
    labels: npt.NDArray[np.int64]  # by name
    program: Arrays
    memory: npt.NDArray[np.int64]
    given: npt.NDArray[np.int32]
    label_count: int


class SegmentMatcher:
    def __init__(self, segment: Segment, limits: AutomatonLimits, small: int = SMALL) -> None:
        self.segment = segment
        self._found = np.empty(len(segment.numbers), np.int32)
        self._automaton = Automaton(segment.trie, segment.keys, limits) if len(segment.numbers) >= small else None
        self._restarted()

    @property
    def states(self) -> int:
        return 0 if self._automaton is None else len(self._automaton)

    def _restarted(self) -> None:
        slots = len(self.segment.numbers)
        self._groups = no_groups(slots)
        self._marks = Marks(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(slots, np.int64))
        self._tick = 0
        self._looked = 0  # paths that were looked at one by one since the last grouping

    def match(self, reading: Reading) -> list[npt.NDArray[np.int64]]:
        """For each document, the numbers of the paths that hold."""
        offsets = reading.batch.offsets
        if self._automaton is None:
            return [self._simulated(reading, document) for document in range(len(reading.batch))]
        if self._automaton.full():
            self._automaton.restart()
            self._restarted()
        own = self._own_labels(reading)
        states = self._automaton.states(offsets, reading.batch.nodes, reading.batch.names.kind, own)
        self._group()
        return [
            self._simulated(reading, document)
            if states[offsets[document]] == SIMULATED
            else self._collected(reading, own, states, document)
            for document in range(len(reading.batch))
        ]

    def _own_labels(self, reading: Reading) -> npt.NDArray[np.int64]:
        """Labels that the segment does not speak of are all the same to it."""
        known = self.segment.speaks_of
        labels = reading.labels
        mine = known[np.clip(labels, 0, len(known) - 1)] & (labels < len(known))
        kinds = reading.batch.names.kind
        others = np.where(kinds == ELEMENT, OTHER_ELEMENT, OTHER_ATTRIBUTE)
        return np.where(mine | (kinds == TEXT), labels, others)

    def _group(self) -> None:
        automaton = self._automaton
        assert automaton is not None
        if len(self._marks.state) < len(automaton):
            state_marks = np.zeros(2 * len(automaton), np.int64)
            self._marks = self._marks._replace(state=state_marks)
        if self._looked > _REGROUPED_AFTER * (len(automaton.accepted) + len(self._found)):
            self._looked = 0
            self._groups = grouped(automaton.accepted.array, automaton.accepted_offsets.array, len(self._found))
            group_marks = np.zeros(len(self._groups.member_offsets), np.int64)
            self._marks = self._marks._replace(group=group_marks)

    def _collected(self, reading: Reading, own: Any, states: Any, document: int) -> npt.NDArray[np.int64]:
        automaton, batch = self._automaton, reading.batch
        assert automaton is not None
        first, stop = batch.offsets[document], batch.offsets[document + 1]
        self._tick += 1
        accepted = Accepted(automaton.accepted_offsets.array, automaton.accepted.array)
        count, looked = collect(first, stop, states, accepted, self._groups, self._marks, self._tick, self._found)
        self._looked += looked
        if len(automaton.run_key):
            count = collect_tested(
                first,
                stop,
                states,
                automaton.tested.array,
                automaton.runs(),
                self.segment.key_table,
                SEED,
                batch.nodes,
                batch.names.kind,
                reading.labels,
                own,
                reading.program,
                reading.memory,
                reading.given,
                self._marks,
                self._tick,
                self._found,
                count,
            )
        return self._alive(count)

    def _simulated(self, reading: Reading, document: int) -> npt.NDArray[np.int64]:
        batch = reading.batch
        count = simulate(
            batch.offsets[document],
            batch.offsets[document + 1],
            batch.nodes,
            batch.names.kind,
            reading.labels,
            self.segment.trie,
            reading.program,
            reading.memory,
            reading.given,
            reading.label_count,
            self._found,
        )
        return self._alive(count)

    def _alive(self, count: int) -> npt.NDArray[np.int64]:
        found = self._found[:count]
        if self.segment.withdrawn:
            found = found[self.segment.alive[found]]
        return self.segment.numbers[found]
