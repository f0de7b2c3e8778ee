"""Predicates as rows of a `PredicateTable`: attributes, operators and values by number."""

from __future__ import annotations

from typing import Any, NamedTuple, assert_never

import numpy as np
import numpy.typing as npt

from tidings.language.tree import Comparison, Contains, ContainsWords, Node
from tidings.matching.boxes.predicate_table import CONTAINS, OPERATORS, PredicateTable
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Domain, Kind
from tidings.schema.values import LARGEST_INTEGER

_OPERATORS = {operator: code for code, operator in enumerate(OPERATORS)}


class Row(NamedTuple):
    attribute: int
    operator: int
    value: float


class Vocabulary:
    """The attributes and literals so far; it grows with each predicate."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.domains: list[Domain] = []  # by attribute
        self._places: dict[str, int] = {}
        self._words: list[dict[str, int]] = []  # by attribute: the literals of strings

    def row(self, predicate: Node) -> Row | None:
        """None if the predicate is not a comparison with a constant, or a table cannot hold it."""
        match predicate:
            case Comparison(attribute, sign, value):
                operator = _OPERATORS[sign]
            case Contains(attribute, value) | ContainsWords(attribute, "all", (value,)):
                operator = CONTAINS
            case _:
                return None
        place = self.place(attribute)
        coded = self.coded(place, value)
        # Negation may have produced a predicate that the domain does not allow in source text.
        refused = operator != CONTAINS and not self.domains[place].allows(OPERATORS[operator])
        return None if coded is None or refused else Row(place, operator, coded)

    def place(self, attribute: str) -> int:
        place = self._places.get(attribute)
        if place is None:
            domain = self.catalog.domain_of(attribute)
            assert domain is not None
            place = self._places[attribute] = len(self._places)
            self.domains.append(domain)
            self._words.append({})
        return place

    def coded(self, place: int, value: Any) -> float | None:
        """A number for a value of the attribute's domain; None for a time that a float cannot represent exactly."""
        kind = self.domains[place].stored_as
        match kind:
            case Kind.NUMERIC:
                return float(value)
            case Kind.TIME:
                return float(value) if abs(value) <= LARGEST_INTEGER else None
            case Kind.ENUMERATED | Kind.HIERARCHICAL:
                return float(self.domains[place].ordinal(value))
            case Kind.STRING | Kind.TEXT | Kind.PLACE | Kind.DOCUMENT:
                words = self._words[place]
                return float(words.setdefault(value, len(words)))
            case _:
                assert_never(kind)

    def table(
        self,
        offsets: npt.NDArray[np.int64],
        attribute: npt.NDArray[Any],
        operator: npt.NDArray[Any],
        value: npt.NDArray[np.float64],
    ) -> PredicateTable:
        vocabularies = (
            domain.vocabulary if domain.listed else tuple(words)
            for domain, words in zip(self.domains, self._words, strict=True)
        )
        return PredicateTable(
            self.catalog, tuple(self._places), tuple(vocabularies), offsets,
            attribute.astype(np.int16), operator.astype(np.int8), value,
        )  # fmt: skip
