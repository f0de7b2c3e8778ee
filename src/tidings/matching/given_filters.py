"""The filters that library users pass in: bound to a schema, or refused with a hint about the expected form."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tidings.errors import MatchingError, WrongArgument, expect, typed
from tidings.language import Filter, Subscription
from tidings.language.normal_form import MOST_CONJUNCTIONS
from tidings.matching.boxes.filter_batch import FilterBatch
from tidings.schema.catalog import Catalog

GivenFilters = str | Filter | Mapping[str, str | Filter] | Iterable[Any]
MOST_TOLD = 10
_A_FILTER = "text such as 'price < 1000', or a Filter"


class FilterWarning(UserWarning):
    """The filter is valid but may not mean what its author intended."""


class WrongFilters(MatchingError):
    """Some of many filters are invalid, so none was added: the id and the problem of each."""

    def __init__(self, problems: tuple[tuple[str, str], ...]) -> None:
        super().__init__(problems)

    @property
    def problems(self) -> tuple[tuple[str, str], ...]:
        return tuple(self.args[0])

    def __str__(self) -> str:
        told = [f"{id!r}: {problem}" for id, problem in self.problems[:MOST_TOLD]]
        if len(self.problems) > MOST_TOLD:
            told.append(f"and {len(self.problems) - MOST_TOLD:,} more")
        return "\n".join(["some filters are wrong, so none was added:", *told])


def bound(filter: str | Filter, schema: Catalog, call: str) -> Filter:
    """Binds the filter to this schema, even if it was bound to another; raises LanguageError."""
    if isinstance(filter, Filter):
        return Filter.parse(filter.text, schema, max(MOST_CONJUNCTIONS, len(filter.conjunctions)))
    expect(filter, str, call, "filter", _A_FILTER)
    return Filter.parse(filter, schema)


def all_bound(filters: GivenFilters, schema: Catalog, call: str) -> tuple[list[str], FilterBatch]:
    """Binds many filters, with their ids; raises WrongFilters with all problems."""
    ids, texts, limit = [], [], MOST_CONJUNCTIONS
    for id, filter in _pairs(filters, call):
        check_id(id, call)
        expect(filter, (str, Filter), f"{call}, {id!r}", "filter", _A_FILTER)
        ids.append(id)
        texts.append(filter if isinstance(filter, str) else filter.text)
        limit = limit if isinstance(filter, str) else max(limit, len(filter.conjunctions))
    batch = FilterBatch.of_texts(texts, schema, limit)
    if batch.problems:
        raise WrongFilters(tuple((ids[place], str(problem)) for place, problem in batch.problems.items()))
    return ids, batch


def _pairs(filters: GivenFilters, call: str) -> Iterator[tuple[str, str | Filter]]:
    expected = "a dict such as {'cheap': 'price < 1000'}, or pairs of an id and a filter"
    if isinstance(filters, Mapping):
        yield from filters.items()
        return
    if isinstance(filters, str | Filter):
        filters = (filters,)
    if isinstance(filters, bytes) or not isinstance(filters, Iterable):
        raise WrongArgument(call, "filters", expected, typed(filters))
    for one in filters:
        match one:
            case Subscription():
                yield one.id, one.filter
            case str() | Filter():
                yield str(one), one
            case (id, filter):
                yield id, filter
            case _:
                raise WrongArgument(call, "filters", expected, f"an iterable with {typed(one)}")


def check_id(id: object, call: str) -> None:
    expect(id, str, call, "id", "text, the name of a subscription")
    if not id:
        raise WrongArgument(call, "id", "text of at least one character", "empty")


def warn(told: Sequence[str], calls: int = 2) -> None:
    """Warns the caller `calls` levels up about its filters."""
    for one in told[:MOST_TOLD]:
        warnings.warn(one, FilterWarning, stacklevel=calls + 1)
    if len(told) > MOST_TOLD:
        warnings.warn("and more filters with warnings", FilterWarning, stacklevel=calls + 1)
