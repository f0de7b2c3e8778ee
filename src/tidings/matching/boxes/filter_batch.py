"""Many filters into one table of boxes. Most are plain: one conjunction of comparisons with constants, each attribute
once. Those become arrays without a box in between (measured on le-subscribe: 9 times quicker)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tidings.language import Filter
from tidings.language.normal_form import Conjunction
from tidings.language.tree import Comparison, Contains, ContainsWords
from tidings.matching.boxes.box import Box, boxes_of
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.bulk import box_table
from tidings.matching.boxes.merge import merge_tables
from tidings.matching.boxes.predicate_table import CONTAINS, OPERATORS, PredicateTable
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Domain, Kind
from tidings.schema.values import LARGEST_INTEGER

_AT_ONCE = 1 << 16  # boxes that are objects at the same time
_OPERATORS = {operator: code for code, operator in enumerate(OPERATORS)}


class Gathered(NamedTuple):
    """The boxes of some filters, and a text of each that means the same: an Arrow array."""

    table: BoxTable
    texts: Any


def gathered(filters: Sequence[Filter], first_number: int, catalog: Catalog) -> Gathered:
    """Filters whose numbers follow each other."""
    plain = _Plain(catalog)
    others = [place for place, filter in enumerate(filters) if not plain.take(place, filter)]
    boxes = ((place, box) for place in others for box in boxes_of(filters[place], catalog))
    tables = [BoxTable.of(some, catalog) for some in _batches(boxes)]
    texts = pa.array([filters[place].text for place in others], pa.large_string())
    if plain.places:
        predicates = plain.predicates()
        table = box_table(predicates)
        tables.append(replace(table, number=np.array(plain.places, np.int32)[table.number]))
        texts = pa.concat_arrays([texts, predicates.printed().cast(pa.large_string())])
    table = merge_tables(tables) if tables else BoxTable.of([], catalog)
    order = np.argsort(np.array([*others, *plain.places], np.int64))
    return Gathered(replace(table, number=table.number + np.int32(first_number)), texts.take(pa.array(order)))


def _batches(boxes: Iterable[tuple[int, Box]]) -> Iterator[list[tuple[int, Box]]]:
    boxes = iter(boxes)
    while some := list(islice(boxes, _AT_ONCE)):
        yield some


class _Plain:
    """Plain filters as the rows of a `PredicateTable`."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.places: list[int] = []  # of the filters
        self.ends = [0]
        self.attribute: list[int] = []
        self.operator: list[int] = []
        self.value: list[float] = []
        self.attributes: dict[str, int] = {}
        self.domains: list[Domain] = []
        self.words: list[dict[str, int]] = []  # by attribute the literals of strings

    def take(self, place: int, filter: Filter) -> bool:
        """Whether the filter is plain; if so, it is in."""
        rows = self._rows(filter.conjunctions[0]) if len(filter.conjunctions) == 1 else []
        if not rows:
            return False
        for attribute, operator, value in rows:
            self.attribute.append(attribute)
            self.operator.append(operator)
            self.value.append(value)
        self.places.append(place)
        self.ends.append(len(self.value))
        return True

    def predicates(self) -> PredicateTable:
        vocabularies = (
            domain.vocabulary if domain.kind in (Kind.ENUMERATED, Kind.HIERARCHICAL) else tuple(words)
            for domain, words in zip(self.domains, self.words, strict=True)
        )
        return PredicateTable(
            self.catalog, tuple(self.attributes), tuple(vocabularies), np.array(self.ends, np.int64),
            np.array(self.attribute, np.int16), np.array(self.operator, np.int8), np.array(self.value, np.float64),
        )  # fmt: skip

    def _rows(self, conjunction: Conjunction) -> list[tuple[int, int, float]]:
        """(attribute, operator, value) of each predicate; nothing where one is not plain."""
        rows, seen = [], set()
        for literal in conjunction:
            match literal:
                case Comparison(attribute, sign, value):
                    operator = _OPERATORS[sign]
                case Contains(attribute, value) | ContainsWords(attribute, "all", (value,)):
                    operator = CONTAINS
                case _:
                    return []
            place = self._place(attribute)
            coded = self._coded(place, value)
            # A negated predicate may have become one that the domain does not allow to write.
            refused = operator != CONTAINS and not self.domains[place].allows(OPERATORS[operator])
            if attribute in seen or coded is None or refused:
                return []
            seen.add(attribute)
            rows.append((place, operator, coded))
        return rows

    def _place(self, attribute: str) -> int:
        place = self.attributes.get(attribute)
        if place is None:
            domain = self.catalog.domain_of(attribute)
            assert domain is not None
            place = self.attributes[attribute] = len(self.attributes)
            self.domains.append(domain)
            self.words.append({})
        return place

    def _coded(self, place: int, value: Any) -> float | None:
        """A number for the value; None for a time that a float cannot say exactly."""
        match self.domains[place].kind:
            case Kind.NUMERIC:
                return float(value)
            case Kind.TIME:
                return float(value) if abs(value) <= LARGEST_INTEGER else None
            case Kind.ENUMERATED | Kind.HIERARCHICAL:
                return float(self.domains[place].ordinal(value))
            case Kind.STRING | Kind.TEXT:
                words = self.words[place]
                return float(words.setdefault(value, len(words)))
