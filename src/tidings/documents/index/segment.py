"""Some of an index's paths, never changed once built; paths that are withdrawn are only marked.

A path is in it as a record: the steps up to its first tests, and the operation that is left to do there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.documents.index.entries import Columns, Entries, entries_of
from tidings.documents.index.keys import ALWAYS, EQUALS, keyed
from tidings.documents.index.program import Program
from tidings.documents.index.trie import Integers, Numbers, Trie, build_trie
from tidings.documents.index.values import Texts
from tidings.documents.index.vocabulary import Vocabulary
from tidings.paths.tree import Path


class Record(NamedTuple):
    tokens: tuple[int, ...]  # twice the label, plus one for a descendant
    rest: int  # as in `entries.Columns`
    left: int
    kind: int
    column: int
    bound: float


def recorded(path: Path, vocabulary: Vocabulary, program: Program, texts: Texts) -> Record:
    tested = next((place for place, step in enumerate(path.steps) if step.tests), len(path.steps) - 1)
    tokens = [2 * vocabulary.label(step.node) + (step.axis == "descendant") for step in path.steps[: tested + 1]]
    last, more = path.steps[tested], path.steps[tested + 1 :]
    if not last.tests:
        return Record(tuple(tokens), -1, -1, ALWAYS, 0, 0.0)
    key, left = keyed(last.tests, vocabulary)
    return Record(
        tuple(tokens),
        program.rest(last.tests, more),
        program.rest(left, more),
        key.kind,
        texts.column(key),
        key.number,
    )


class Segment:
    def __init__(self, numbers: Numbers, offsets: Integers, tokens: Numbers, columns: Columns, texts: int) -> None:
        """By path, with rising numbers; `texts`: how many the index has."""
        self.numbers, self.offsets, self.tokens, self.columns = numbers, offsets, tokens, columns
        of_labels = columns.column[(columns.rest >= 0) & (columns.kind != EQUALS)]
        spoken = np.unique(np.concatenate((tokens >> 1, of_labels[of_labels >= 0])))
        labels = int(spoken.max(initial=0)) + 1
        self.speaks_of: npt.NDArray[np.bool_] = np.zeros(labels, np.bool_)  # by label
        self.speaks_of[spoken] = True
        self.live: Numbers = numbers.copy()  # -1 once withdrawn
        self.withdrawn = 0
        self.trie: Trie = build_trie(offsets, tokens, columns.rest)
        self.entries: Entries = entries_of(columns, self.trie, texts, labels)

    @classmethod
    def of_records(cls, records: Mapping[int, Record], texts: int) -> Segment:
        numbers = sorted(records)
        tokens, *columns = zip(*(records[number] for number in numbers), strict=True)
        offsets = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum([len(row) for row in tokens], out=offsets[1:])
        kinds = (np.int32, np.int32, np.int8, np.int32, np.float64)
        made = Columns(*(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)))
        flat = np.array([token for row in tokens for token in row], np.int32)
        return cls(np.array(numbers, np.int32), offsets, flat, made, texts)

    @classmethod
    def merged(cls, segments: Sequence[Segment], texts: int) -> Segment:
        """Without the paths that were withdrawn."""
        return cls(*joined(segments), texts)

    def __len__(self) -> int:
        return len(self.numbers) - self.withdrawn

    def has(self, number: int) -> bool:
        slot = self._slot(number)
        return slot is not None and bool(self.live[slot] >= 0)

    def withdraw(self, number: int) -> None:
        slot = self._slot(number)
        assert slot is not None
        self.live[slot] = -1
        self.withdrawn += 1

    def _slot(self, number: int) -> int | None:
        slot = int(np.searchsorted(self.numbers, number))
        return slot if slot < len(self.numbers) and self.numbers[slot] == number else None


class Rows(NamedTuple):
    """What a segment is built of."""

    numbers: Numbers
    offsets: Integers
    tokens: Numbers
    columns: Columns


def joined(segments: Sequence[Segment]) -> Rows:
    """The paths of all of them, without those that were withdrawn."""
    numbers = np.concatenate([segment.live for segment in segments])
    kept = np.flatnonzero(numbers >= 0)
    kept = kept[np.argsort(numbers[kept], kind="stable")]
    starts = np.concatenate([segment.offsets[:-1] + base for segment, base in _bases(segments)])[kept]
    lengths = np.concatenate([np.diff(segment.offsets) for segment in segments])[kept]
    offsets = np.zeros(len(kept) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    places = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
    tokens = np.concatenate([segment.tokens for segment in segments])[places]
    columns = [np.concatenate(rows)[kept] for rows in zip(*(one.columns for one in segments), strict=True)]
    return Rows(numbers[kept], offsets, tokens, Columns(*columns))


def _bases(segments: Sequence[Segment]) -> list[tuple[Segment, int]]:
    """Each segment with where its tokens begin among those of all."""
    ends = np.cumsum([0, *(len(segment.tokens) for segment in segments)])
    return [(segment, int(base)) for segment, base in zip(segments, ends[:-1], strict=True)]
