"""Turns filter texts into rows of a `PredicateTable` without a tree for each: parses each distinct piece once and reads
literals as columns (`language.shapes`)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tidings.language.shapes import Simple, cut, is_last, literal_value, predicates_of
from tidings.language.tree import ContainsWords
from tidings.language.words import words_of
from tidings.matching.boxes.predicate_table import CONTAINS, PredicateTable
from tidings.matching.boxes.vocabulary import Row, Vocabulary
from tidings.matching.ragged import offsets_of
from tidings.schema.catalog import Catalog
from tidings.schema.domain import OutsideDomain

_UNREADABLE = -1

Integers = npt.NDArray[np.int64]


class _Literals(dict[str, float]):
    """Maps literals of one attribute to their numbers in the table; NaN if the parser must decide the meaning."""

    def __init__(self, vocabulary: Vocabulary, place: int, words: bool) -> None:
        super().__init__()
        self._vocabulary, self._place, self._words = vocabulary, place, words

    def __missing__(self, written: str) -> float:
        coded = self._coded(written)
        self[written] = coded = math.nan if coded is None else coded
        return coded

    def _coded(self, written: str) -> float | None:
        value = literal_value(written)
        if value is None:
            return None
        domain = self._vocabulary.domains[self._place]
        try:
            value = domain.canonical(value, hints=False)
        except OutsideDomain:
            return None
        if self._words:
            words = list(dict.fromkeys(words_of(str(value))))
            if len(words) != 1 or "*" in str(value) or "~" in str(value):
                return None
            value = words[0]
        return self._vocabulary.coded(self._place, value)


class _NoLiterals(dict[str, float]):
    """For a piece without literals to read: the last of a text, or one that was not understood."""

    def __missing__(self, written: str) -> float:
        return 0.0


class TextReader:
    """Takes texts in chunks. `left_over` has the positions of those that must be parsed one by one."""

    def __init__(self, catalog: Catalog) -> None:
        self.left_over: list[int] = []
        self._vocabulary = Vocabulary(catalog)
        self._read = 0
        self._codes: dict[str, int] = {}  # by piece
        self._literals: dict[str, dict[str, float]] = {}  # by piece
        self._by_column: dict[tuple[int, bool], _Literals] = {}
        self._rows: list[Row] = []  # of all pieces, concatenated
        self._first: list[int] = []  # by piece
        self._count: list[int] = []
        self._last: list[bool] = []
        self._parts: list[tuple[Integers, Integers, Integers, npt.NDArray[np.float64]]] = []
        self._none = _NoLiterals()

    def read(self, texts: Sequence[str]) -> None:
        pieces, literals = cut(texts)
        for piece, literal in dict(zip(pieces, literals, strict=True)).items():
            if piece not in self._codes:
                self._learn(piece, literal)
        codes = np.fromiter(map(self._codes.__getitem__, pieces), np.int64, len(pieces))
        tables = map(self._literals.__getitem__, pieces)
        values = np.fromiter(map(dict.__getitem__, tables, literals), np.float64, len(pieces))
        self._keep(codes, values, len(texts))

    def table(self) -> PredicateTable | None:
        """The filters that were not left over."""
        if not self._parts:
            return None
        lengths, attribute, operator, value = (np.concatenate(some) for some in zip(*self._parts, strict=True))
        offsets = offsets_of(lengths)
        return self._vocabulary.table(offsets, attribute, operator, value) if len(lengths) else None

    def _learn(self, piece: str, literal: str) -> None:
        """Parses a new piece."""
        self._codes[piece] = len(self._codes)
        self._first.append(len(self._rows))
        self._last.append(is_last(piece))
        self._literals[piece] = self._none
        predicates = predicates_of(piece, literal, self._vocabulary.catalog)
        rows = None if predicates is None else self._piece_rows(predicates, is_last(piece))
        if rows is None:
            self._count.append(_UNREADABLE)
            return
        self._count.append(len(rows))
        self._rows += rows
        if not is_last(piece):
            column = rows[-1].attribute, rows[-1].operator == CONTAINS
            if column not in self._by_column:
                words = column[1] and self._vocabulary.domains[column[0]].kind.wordy
                self._by_column[column] = _Literals(self._vocabulary, column[0], words)
            self._literals[piece] = self._by_column[column]

    def _piece_rows(self, predicates: tuple[Simple, ...], last: bool) -> list[Row] | None:
        rows = []
        for number, predicate in enumerate(predicates, 1):
            if isinstance(predicate, ContainsWords) and number == len(predicates) and not last:
                row: Row | None = Row(self._vocabulary.place(predicate.attribute), CONTAINS, 0)  # whatever the words
            else:
                row = self._vocabulary.row(predicate)
            if row is None:
                return None
            rows.append(row)
        return rows

    def _keep(self, codes: Integers, values: npt.NDArray[np.float64], texts: int) -> None:
        """Joins the rows of each filter's pieces."""
        count, last = np.array(self._count)[codes], np.array(self._last)[codes]
        ends = np.flatnonzero(last)
        starts = np.concatenate([[0], ends[:-1] + 1])
        assert len(ends) == texts
        plain = np.logical_and.reduceat((count != _UNREADABLE) & ~np.isnan(values), starts)
        self.left_over += (self._read + np.flatnonzero(~plain)).tolist()
        self._read += texts
        if not plain.any():
            return
        kept = np.repeat(plain, ends - starts + 1)
        codes, values, count, last = codes[kept], values[kept], count[kept], last[kept]
        after = np.cumsum(count)
        row = np.arange(after[-1]) + np.repeat(np.array(self._first)[codes] - after + count, count)
        attribute, operator, value = (np.array(column)[row] for column in zip(*self._rows, strict=True))
        value[after[~last] - 1] = values[~last]
        lengths = np.diff(after[last], prepend=0)
        self._parts.append((lengths, attribute, operator, value))
