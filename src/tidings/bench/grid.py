"""A workload as today's tools can take it: a table of integer ranges, one row a filter, and a table of integers, one
row an event.

Every value becomes its rank among those that occur, so all kinds are integers: the best case for every tool. An
attribute that a filter leaves out has the range from UNBOUND on, which also holds events that do not bind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidings.errors import TidingsError
from tidings.events import EventBatch
from tidings.events.arrays import as_stored
from tidings.matching.boxes.dimension import column_of
from tidings.matching.boxes.predicate_table import OPERATORS, PredicateTable
from tidings.schema.domain import Kind

UNBOUND = np.int32(-1)
LARGEST = np.int32(2**31 - 1)
NOTHING = np.int32(-2)  # no value is excluded
EQUAL, UNEQUAL, LESS, AT_MOST, MORE, AT_LEAST, CONTAINS = range(len(OPERATORS))

Ranks = npt.NDArray[np.int32]


class NoGrid(TidingsError):
    """A filter or an event that no table of ranges can hold."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, eq=False)
class Grid:
    """Filter s asks `low[a, s] <= event[a] <= high[a, s]` and `event[a] != unequal[a, s]` of every attribute a."""

    attributes: tuple[str, ...]
    low: Ranks
    high: Ranks
    unequal: Ranks
    events: Ranks  # (attributes, events)

    @property
    def subscriptions(self) -> int:
        return int(self.low.shape[1])

    @property
    def excluding(self) -> list[int]:
        """The attributes of which some filter excludes a value."""
        return [place for place, row in enumerate(self.unequal) if (row != NOTHING).any()]

    def first(self, subscriptions: int) -> Grid:
        """The first so many filters, all events."""
        few = np.s_[:, :subscriptions]
        return Grid(self.attributes, self.low[few], self.high[few], self.unequal[few], self.events)

    @classmethod
    def of(cls, table: PredicateTable, batch: EventBatch) -> Grid:
        """Raises NoGrid where filters or events are more than ranges and single values."""
        size = (len(table.attributes), len(table))
        low, high = np.full(size, UNBOUND), np.full(size, LARGEST)
        unequal = np.full(size, NOTHING)
        events = np.empty((len(table.attributes), len(batch)), np.int32)
        filters = np.repeat(np.arange(len(table)), np.diff(table.offsets))
        for place, name in enumerate(table.attributes):
            rows = np.flatnonzero(table.attribute == place)
            ranks, events[place] = _ranked(table, place, table.value[rows], _single(batch, name))
            _narrow(low[place], high[place], unequal[place], filters[rows], table.operator[rows], ranks, name)
        return cls(table.attributes, low, high, unequal, events)


def _narrow(
    low: Ranks, high: Ranks, unequal: Ranks, filters: Any, operators: npt.NDArray[np.int8], ranks: Ranks, name: str
) -> None:
    """Each predicate narrows its filter's range."""
    low[filters] = np.maximum(low[filters], 0)  # an event that does not bind the attribute fails
    at_least = np.isin(operators, (EQUAL, CONTAINS, AT_LEAST))
    at_most = np.isin(operators, (EQUAL, CONTAINS, AT_MOST))
    np.maximum.at(low, filters[at_least], ranks[at_least])
    np.maximum.at(low, filters[operators == MORE], ranks[operators == MORE] + 1)
    np.minimum.at(high, filters[at_most], ranks[at_most])
    np.minimum.at(high, filters[operators == LESS], ranks[operators == LESS] - 1)
    excluded = operators == UNEQUAL
    if len(np.unique(filters[excluded])) != excluded.sum():
        raise NoGrid(f"a filter excludes several values of {name!r}")
    unequal[filters[excluded]] = ranks[excluded]


def _ranked(table: PredicateTable, place: int, values: Any, column: Any) -> tuple[Ranks, Ranks]:
    """The ranks of the filters' values and of the events', among all of both; -1 where an event has none."""
    domain = table.catalog.domain_of(table.attributes[place])
    assert domain is not None
    if column is None:
        return np.unique(values, return_inverse=True)[1].astype(np.int32), np.full(1, UNBOUND)
    bound = column.is_valid().to_numpy(zero_copy_only=False)
    if domain.kind is Kind.TIME:
        column = column.cast(pa.int64())
    if domain.kind.wordy:
        if any(len(word.split()) != 1 for word in column.dictionary_encode().dictionary.to_pylist()):
            raise NoGrid(f"{table.attributes[place]!r} has values of several words")
        literals = np.array(table.vocabularies[place])
        theirs: Any = column.fill_null(literals[0]).to_numpy(zero_copy_only=False).astype(str)
        mine: Any = literals[values.astype(np.int64)] if len(values) else np.array([], str)
    else:
        mine, theirs = values, column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
    ranks = np.unique(np.concatenate([mine, theirs]), return_inverse=True)[1].astype(np.int32)
    return ranks[: len(mine)], np.where(bound, ranks[len(mine) :], UNBOUND).astype(np.int32)


def _single(batch: EventBatch, name: str) -> Any:
    """The events' values of an attribute, one a row; ordinals where the domain has them."""
    column = column_of(batch, name)
    if column is None:
        return None
    column = as_stored(column)
    if not pa.types.is_list(column.type):
        return column
    if (column.value_lengths().to_numpy(zero_copy_only=False) != 1).any():
        raise NoGrid(f"events have several values of {name!r}")
    return column.flatten()
