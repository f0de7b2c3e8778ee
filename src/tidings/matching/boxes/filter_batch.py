"""Many filters to be added to a matcher. Most are plain: one conjunction of comparisons with constants. These become
arrays without an object each, even from text: 100,000 of le-subscribe as text take a tenth of the time of parsing them
one by one (`python -m tidings.bench.adding`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidings.errors import LanguageError
from tidings.language import Filter
from tidings.language.normal_form import MOST_CONJUNCTIONS, Conjunction
from tidings.matching.boxes.advice import suspects
from tidings.matching.boxes.box import Box, boxes_of
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.bulk import box_table
from tidings.matching.boxes.filter_texts import TextReader
from tidings.matching.boxes.merge import merge_tables
from tidings.matching.boxes.predicate_table import PredicateTable
from tidings.matching.boxes.vocabulary import Row, Vocabulary
from tidings.schema.catalog import Catalog

_AT_ONCE = 1 << 16  # boxes that exist as objects at a time, texts that are split together

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FilterBatch:
    """Filters bound to one catalog, by position 0, 1, …: plain ones in a table, the others as objects, and the problems
    of invalid ones. If there are any, only `problems` is usable."""

    catalog: Catalog
    places: Places  # of the plain filters, ascending
    plain: PredicateTable | None
    others: Mapping[int, Filter]
    problems: Mapping[int, LanguageError] = field(default_factory=dict)

    @classmethod
    def of(cls, filters: Iterable[Filter], catalog: Catalog) -> FilterBatch:
        """A batch of parsed filters."""
        rows = _Rows(Vocabulary(catalog))
        others = {place: filter for place, filter in enumerate(filters) if not rows.take(place, filter)}
        return cls(catalog, np.array(rows.places, np.int64), rows.table(), others)

    @classmethod
    def of_texts(cls, texts: Sequence[str], catalog: Catalog, limit: int = MOST_CONJUNCTIONS) -> FilterBatch:
        """A batch of texts, equal to `Filter.parse(text, catalog, limit)` of each. Raises nothing: see `problems`."""
        reader = TextReader(catalog)
        for start in range(0, len(texts), _AT_ONCE):
            reader.read(texts[start : start + _AT_ONCE])
        others, problems = {}, {}
        for place in reader.left_over:
            try:
                others[place] = Filter.parse(texts[place], catalog, limit)
            except LanguageError as problem:
                problems[place] = problem
        places = np.setdiff1d(np.arange(len(texts)), reader.left_over, assume_unique=True)
        return cls(catalog, places, reader.table(), others, problems)

    def __len__(self) -> int:
        return len(self.places) + len(self.others) + len(self.problems)

    def boxes(self, first_number: int) -> BoxTable:
        """The boxes of all filters, numbered consecutively from the first number."""
        boxes = ((place, box) for place, filter in self.others.items() for box in boxes_of(filter, self.catalog))
        tables = [BoxTable.of(some, self.catalog) for some in _batches(boxes)]
        if self.plain is not None:
            table = box_table(self.plain)
            tables.append(replace(table, number=self.places[table.number].astype(np.int32)))
        merged = merge_tables(tables) if tables else BoxTable.of([], self.catalog)
        return replace(merged, number=merged.number + np.int32(first_number))

    def texts(self) -> Any:
        """The canonical texts, as an Arrow array."""
        texts = pa.array([filter.text for filter in self.others.values()], pa.large_string())
        if self.plain is None:
            return texts
        printed = self.plain.printed().cast(pa.large_string())
        if not self.others:
            return printed
        order = np.argsort(np.concatenate([np.array([*self.others], np.int64), self.places]))
        return pa.concat_arrays([texts, printed]).take(pa.array(order))

    def filters(self) -> Iterator[Filter]:
        """All of them as objects, in order."""
        assert self.plain is not None or not len(self.places)
        rows = iter(range(len(self.places)))
        for place in range(len(self)):
            yield self.others[place] if place in self.others else self.plain.filter(next(rows))  # type: ignore[union-attr]

    def warnings(self, most: int | None = None) -> dict[int, tuple[str, ...]]:
        """The warnings for the filters' authors, by position; only for filters that have any, and of the plain ones at
        most for so many: to make their texts, each must be parsed."""
        found = {place: filter.warnings for place, filter in self.others.items()}
        if self.plain is not None:
            plain = ((int(self.places[row]), self.plain.filter(row).warnings) for row in suspects(self.plain))
            found |= dict(islice(((place, told) for place, told in plain if told), most))
        return {place: found[place] for place in sorted(found) if found[place]}

    def refuse_wrong(self) -> None:
        """Raises the error that parsing them one by one would have raised."""
        if self.problems:
            raise self.problems[min(self.problems)]


def _batches(boxes: Iterable[tuple[int, Box]]) -> Iterator[list[tuple[int, Box]]]:
    boxes = iter(boxes)
    while some := list(islice(boxes, _AT_ONCE)):
        yield some


class _Rows:
    """Plain filters as the rows of a `PredicateTable`."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.places: list[int] = []  # of the filters
        self.ends = [0]
        self.rows: list[Row] = []

    def take(self, place: int, filter: Filter) -> bool:
        """Adds the filter if it is plain; returns whether it was."""
        rows = self._rows(filter.conjunctions[0]) if len(filter.conjunctions) == 1 else None
        if rows is None:
            return False
        self.rows += rows
        self.places.append(place)
        self.ends.append(len(self.rows))
        return True

    def table(self) -> PredicateTable | None:
        if not self.places:
            return None
        attribute, operator, value = zip(*self.rows, strict=True)
        return self.vocabulary.table(
            np.array(self.ends, np.int64), np.array(attribute), np.array(operator), np.array(value, np.float64)
        )

    def _rows(self, conjunction: Conjunction) -> list[Row] | None:
        rows = []
        for literal in conjunction:
            row = self.vocabulary.row(literal)
            if row is None:
                return None
            rows.append(row)
        return rows
