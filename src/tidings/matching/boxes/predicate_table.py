"""Many conjunctive filters as flat arrays: the bulk form of subscriptions.

Workloads and segment files create it, indexes load it and writers print it, all without a Python object per filter.
Filter i has the predicates `offsets[i]:offsets[i + 1]`, joined by `and`. A filter without predicates is refused:
generators must skip it or draw it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidings.errors import MatchingError, shown
from tidings.language import Filter, print_filter
from tidings.language.tree import Comparison, Contains, ContainsWords, Node, both
from tidings.language.words import words_of
from tidings.matching.ragged import offsets_of
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Domain, Kind
from tidings.schema.values import LARGEST_INTEGER, Instant, Value, number

OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "contains")
CONTAINS = OPERATORS.index("contains")

_UNWORDED: dict[Kind, Callable[[float], Value]] = {Kind.NUMERIC: number, Kind.TIME: Instant}
_ROWS_AT_ONCE = 1 << 16  # filters printed together: their texts fit in the cache


class BrokenTable(MatchingError):
    """The arrays do not describe filters of the catalog."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)

    def __str__(self) -> str:
        return f"not a predicate table: {self.args[0]}"


@dataclass(frozen=True, eq=False)
class PredicateTable:
    """`attribute` indexes `attributes`, `operator` indexes OPERATORS, `value` is a number or encodes a literal.

    `vocabularies` has an entry per attribute: the literals of a string or text attribute (for `contains`, one word
    each), or the domain's own vocabulary of an enumerated or hierarchical one; there, a value is an index into it.
    Numbers and times have none; a time is in microseconds (exact for the years 1685 to 2255).
    """

    catalog: Catalog
    attributes: tuple[str, ...]
    vocabularies: tuple[tuple[str, ...], ...]
    offsets: npt.NDArray[np.int64]
    attribute: npt.NDArray[np.int16]
    operator: npt.NDArray[np.int8]
    value: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        if problem := _vocabulary_problem(self) or _array_problem(self):
            raise BrokenTable(problem)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def text(self, i: int) -> str:
        """The canonical text of one filter; for many, use `texts()` or `printed()`."""
        return print_filter(self._tree(i))

    def texts(self) -> Iterator[str]:
        """The canonical texts in order."""
        for start in range(0, len(self), _ROWS_AT_ONCE):
            yield from self.slice(start, min(start + _ROWS_AT_ONCE, len(self))).printed().to_pylist()

    def printed(self) -> Any:
        """The canonical texts as one Arrow array of strings, which holds 2 GiB: some ten million filters."""
        predicates = pc.binary_join_element_wise(self._left_sides(), self._right_sides(), "")
        filters = pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), predicates)
        return pc.binary_join(filters, " and ")

    def filter(self, i: int) -> Filter:
        """The filter, parsed and bound."""
        return Filter.parse(self.text(i), self.catalog)

    def slice(self, start: int, stop: int) -> PredicateTable:
        """The filters [start, stop); the predicates are not copied."""
        start, stop, _ = slice(start, stop).indices(len(self))
        offsets = self.offsets[start : max(start, stop) + 1]
        return self._part(offsets - offsets[0], np.s_[offsets[0] : offsets[-1]])

    def take(self, indices: npt.ArrayLike) -> PredicateTable:
        """These filters in this order."""
        chosen = np.asarray(indices, np.int64)
        lengths = np.diff(self.offsets)[chosen]
        offsets = offsets_of(lengths)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][chosen] - offsets[:-1], lengths)
        return self._part(offsets, places)

    def predicates(self, rows: npt.NDArray[np.int64]) -> PredicateTable:
        """Turns each of these predicates into its own filter."""
        return self._part(np.arange(len(rows) + 1), rows)

    def _part(self, offsets: npt.NDArray[np.int64], predicates: Any) -> PredicateTable:
        """A selection of the same filters, so nothing is checked again."""
        made = copy(self)
        for name in ("attribute", "operator", "value"):
            object.__setattr__(made, name, getattr(self, name)[predicates])
        object.__setattr__(made, "offsets", offsets)
        return made

    def _tree(self, i: int) -> Node:
        if not 0 <= i < len(self):
            raise IndexError(f"filter {i} of a table of {len(self)}")
        return both([self._predicate(place) for place in range(self.offsets[i], self.offsets[i + 1])])

    def _predicate(self, place: int) -> Node:
        column, stored = int(self.attribute[place]), float(self.value[place])
        name, operator = self.attributes[column], OPERATORS[self.operator[place]]
        kind, words = self._domain(column).kind, self.vocabularies[column]
        value = _UNWORDED[kind](stored) if kind in _UNWORDED else words[int(stored)]
        if operator != "contains":
            return Comparison(name, operator, value)
        if kind.wordy:
            return ContainsWords(name, "all", tuple(words_of(str(value))))
        return Contains(name, value)

    def _domain(self, column: int) -> Domain:
        domain = self.catalog.domain_of(self.attributes[column])
        assert domain is not None  # checked when the table was made
        return domain

    def _left_sides(self) -> Any:
        """`price < ` for each predicate."""
        texts = [
            print_filter(Contains(name, 0) if operator == "contains" else Comparison(name, operator, 0))[:-1]
            for name in self.attributes
            for operator in OPERATORS
        ]
        codes = self.attribute.astype(np.int32) * len(OPERATORS) + self.operator
        return pa.array(texts, pa.string()).take(pa.array(codes))

    def _right_sides(self) -> Any:
        """The printed value of each predicate, from one dictionary with a part per attribute."""
        codes = np.zeros(len(self.value), np.int32)
        parts: list[Any] = []
        size = 0
        for column in range(len(self.attributes)):
            rows = np.flatnonzero(self.attribute == column)
            kind, words = self._domain(column).kind, self.vocabularies[column]
            if kind in _UNWORDED:
                places, part = _printed_numbers(self.value[rows], _UNWORDED[kind])
            else:
                places = self.value[rows].astype(np.int32)
                part = pa.array([_printed(word) for word in words], pa.string())
                if kind.wordy:  # the literals, then their form in `contains`
                    places += np.int32(len(words)) * (self.operator[rows] == CONTAINS)
                    sought = pa.array([_printed(" ".join(words_of(word))) for word in words], pa.string())
                    part = pa.concat_arrays([part, sought])
            codes[rows] = places + size
            parts.append(part)
            size += len(part)
        return pa.concat_arrays(parts).take(pa.array(codes))


def number_texts(values: npt.NDArray[np.float64]) -> Any:
    """Each number in its canonical text, as an Arrow array of strings."""
    places, printed = _printed_numbers(values, number)
    return printed.take(pa.array(places))


def _printed(value: Value) -> str:
    return print_filter(Comparison("a", "=", value)).removeprefix("a = ")


def _printed_numbers(
    values: npt.NDArray[np.float64], canonical: Callable[[float], Value]
) -> tuple[npt.NDArray[np.int32], Any]:
    """The index of each value in a list of texts, and the texts. A dense range of integers needs no sorting."""
    if len(values) and canonical is number:
        low, high = values.min(), values.max()
        exact = max(-low, high) <= LARGEST_INTEGER  # first: between ±1.7e308 the difference would overflow
        dense = exact and high - low <= max(len(values), 10_000)
        if dense and np.array_equal(values, np.trunc(values)):
            texts = pa.array(np.arange(int(low), int(high) + 1)).cast(pa.string())
            return (values - low).astype(np.int32), texts
    different, places = np.unique(values, return_inverse=True)
    texts = pa.array([_printed(canonical(value)) for value in different.tolist()], pa.string())
    return places.astype(np.int32), texts


def _vocabulary_problem(table: PredicateTable) -> str | None:
    if len(table.attributes) != len(table.vocabularies):
        return f"{len(table.attributes)} attributes but {len(table.vocabularies)} vocabularies"
    for name, words in zip(table.attributes, table.vocabularies, strict=True):
        domain = table.catalog.domain_of(name)
        if domain is None:
            return f"the catalog has no attribute {name!r}"
        if domain.listed and words != domain.vocabulary:
            return f"the vocabulary of {name!r} is not that of its domain {domain.name!r}"
        if domain.kind in _UNWORDED and words:
            return f"{name!r} is {domain.kind} and has no vocabulary"
    return None


def _array_problem(table: PredicateTable) -> str | None:
    """Vectorised: 30 ns per predicate; drawing one takes 150 (`workloads.LeSubscribe`)."""
    offsets, attribute, operator, value = table.offsets, table.attribute, table.operator, table.value
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(value):
        return "the offsets do not run from 0 to the number of predicates"
    if not len(attribute) == len(operator) == len(value):
        return "attribute, operator and value differ in length"
    if (np.diff(offsets) < 1).any():
        return f"filter {int(np.argmax(np.diff(offsets) < 1))} has no predicate"
    if not len(value):
        return None
    limits = (("attribute", attribute, len(table.attributes)), ("operator", operator, len(OPERATORS)))
    for name, codes, limit in limits:
        if codes.min() < 0 or codes.max() >= limit:
            return f"an {name}'s number is out of range"
    domains = [table._domain(column) for column in range(len(table.attributes))]
    allowed = np.array([[_allows(domain, op) for op in OPERATORS] for domain in domains])
    whole = np.array([domain.kind is not Kind.NUMERIC for domain in domains])
    worded = np.array([domain.kind not in _UNWORDED for domain in domains])
    sizes = np.where(worded, [len(words) for words in table.vocabularies], np.inf)
    wrong = ~allowed[attribute, operator] | ~np.isfinite(value)
    wrong |= whole[attribute] & (value != np.trunc(value))
    wrong |= worded[attribute] & ((value < 0) | (value >= sizes[attribute]))
    if wrong.any():
        at = int(np.argmax(wrong))
        name, sign = table.attributes[attribute[at]], OPERATORS[operator[at]]
        return f"{name!r} {sign} {value[at]}: the operator is not allowed or the value outside the domain"
    return _words_problem(table, [column for column, domain in enumerate(domains) if domain.kind.wordy])


def _words_problem(table: PredicateTable, columns: list[int]) -> str | None:
    """A literal in `contains` on strings must be one word, as the binder requires."""
    for column in columns:
        asked = table.value[(table.attribute == column) & (table.operator == CONTAINS)].astype(np.int64)
        used = np.zeros(len(table.vocabularies[column]), bool)
        used[asked] = True
        for place in np.flatnonzero(used):
            word = table.vocabularies[column][place]
            if len(words_of(word)) != 1:
                return f"{table.attributes[column]!r} contains {shown(word)}: it must be exactly one word"
    return None


def _allows(domain: Domain, operator: str) -> bool:
    """As in the binder: `contains` as membership needs no permission."""
    return domain.allows(operator) or (operator == "contains" and not domain.kind.wordy)
