"""Some of an index's paths, never changed once built; paths that are withdrawn are only marked.

A path is in it as a record: the steps up to its first tests, and the operation that is left to do there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.documents.index.keys import Key, key_of, key_table
from tidings.documents.index.program import Program
from tidings.documents.index.trie import Integers, Numbers, Trie, build_trie
from tidings.documents.index.vocabulary import Vocabulary
from tidings.paths.tree import Path


class Record(NamedTuple):
    tokens: tuple[int, ...]  # twice the label, plus one for a descendant
    rest: int  # an operation, or -1
    key: Key


def recorded(path: Path, vocabulary: Vocabulary, program: Program) -> Record:
    tested = next((place for place, step in enumerate(path.steps) if step.tests), len(path.steps) - 1)
    tokens = [2 * vocabulary.label(step.node) + (step.axis == "descendant") for step in path.steps[: tested + 1]]
    last = path.steps[tested]
    rest = program.rest(last.tests, path.steps[tested + 1 :])
    return Record(tuple(tokens), rest, key_of(last.tests, vocabulary))


class Segment:
    def __init__(
        self, numbers: Integers, offsets: Integers, tokens: Numbers, rest: Numbers, keys: Numbers, known: Sequence[Key]
    ) -> None:
        """By path, with rising numbers; a path's key is `known[keys[i]]`."""
        self.numbers, self.offsets, self.tokens = numbers, offsets, tokens
        used = [known[place] for place in np.unique(keys)]
        labels = max([int(tokens.max(initial=0)) // 2, *(key.label for key in used)]) + 1
        self.key_table, places = key_table(used, labels)
        self.known_keys = list(places)
        self.keys: Numbers = np.array([places.get(key, 0) for key in known], np.int32)[keys]
        self.speaks_of: npt.NDArray[np.bool_] = np.zeros(labels, np.bool_)  # by label
        self.speaks_of[tokens // 2] = True
        self.speaks_of[[key.label for key in used if key.label >= 0]] = True
        self.alive: npt.NDArray[np.bool_] = np.ones(len(numbers), np.bool_)
        self.withdrawn = 0
        self.trie: Trie = build_trie(offsets, tokens, rest)

    @classmethod
    def of_records(cls, records: Mapping[int, Record]) -> Segment:
        numbers = sorted(records)
        rows = [records[number].tokens for number in numbers]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        tokens = np.array([token for row in rows for token in row], np.int32)
        rest = np.array([records[number].rest for number in numbers], np.int32)
        keys = [records[number].key for number in numbers]
        return cls(np.array(numbers, np.int64), offsets, tokens, rest, np.arange(len(keys), dtype=np.int32), keys)

    @classmethod
    def merged(cls, segments: Sequence[Segment]) -> Segment:
        """Without the paths that were withdrawn."""
        alive = np.concatenate([segment.alive for segment in segments])
        numbers = np.concatenate([segment.numbers for segment in segments])
        kept = np.flatnonzero(alive)
        kept = kept[np.argsort(numbers[kept], kind="stable")]
        starts = np.concatenate([segment.offsets[:-1] + base for segment, base in _bases(segments)])[kept]
        lengths = np.concatenate([np.diff(segment.offsets) for segment in segments])[kept]
        offsets = np.zeros(len(kept) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        places = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
        tokens = np.concatenate([segment.tokens for segment in segments])[places]
        rest = np.concatenate([segment.trie.rest for segment in segments])[kept]
        known = [key for segment in segments for key in segment.known_keys]
        bases = np.cumsum([0, *(len(segment.known_keys) for segment in segments)])
        keys = np.concatenate([segment.keys + base for segment, base in zip(segments, bases[:-1], strict=True)])[kept]
        return cls(numbers[kept], offsets, tokens, rest, keys, known)

    def __len__(self) -> int:
        return len(self.numbers) - self.withdrawn

    def has(self, number: int) -> bool:
        slot = self._slot(number)
        return slot is not None and bool(self.alive[slot])

    def withdraw(self, number: int) -> None:
        slot = self._slot(number)
        assert slot is not None
        self.alive[slot] = False
        self.withdrawn += 1

    def _slot(self, number: int) -> int | None:
        slot = int(np.searchsorted(self.numbers, number))
        return slot if slot < len(self.numbers) and self.numbers[slot] == number else None


def _bases(segments: Sequence[Segment]) -> list[tuple[Segment, int]]:
    """Each segment with where its tokens begin among those of all."""
    ends = np.cumsum([0, *(len(segment.tokens) for segment in segments)])
    return [(segment, int(base)) for segment, base in zip(segments, ends[:-1], strict=True)]
