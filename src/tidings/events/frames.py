"""Frames as raw columns: pandas, polars, Arrow tables, anything that speaks Arrow's C stream protocol.

A row of a frame is an event. The column `id` is its id (without one: the number of the row, from 0, as text),
`event_type` its type (may be left out where the schema has one), any other column an attribute. Lists are several
values; null, NaN and an empty list mean that the attribute is not bound. `source`, `time` and `contact` belong to the
envelope unless the schema has an attribute of that name. pandas and polars are not imported: their frames come in
through Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidings.errors import EventError, suggestion, typed
from tidings.events import arrays
from tidings.events.arrow_columns import is_list_type, plain, raw_columns
from tidings.events.columns import RawColumns
from tidings.events.elements import RawColumn
from tidings.events.files.chunk import ENVELOPE_COLUMNS
from tidings.events.records import tidied, words_for_booleans
from tidings.schema import Catalog, Domain, Kind
from tidings.schema.catalog import ENVELOPE, EVENT_TYPE

_TAKES = {Kind.NUMERIC: "numbers", Kind.TIME: "timestamps, dates or ISO 8601 text"}


class WrongFrame(EventError):
    """The columns of a frame do not fit the schema: each thing that is wrong with them."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(problems)

    def __str__(self) -> str:
        return "; ".join(self.args[0])


def columns_of(events: Any) -> dict[str, Any] | None:
    """The columns of a frame by name, as Arrow arrays or, where Arrow has no type for them, as lists; None for what is
    not a frame. Raises WrongFrame."""
    if isinstance(events, pa.RecordBatch | pa.Table):
        table = events
    elif _is_pandas(events):
        return _pandas_columns(events)
    elif type(events).__name__ == "Series":
        return None  # a pandas Series: a row or a column, not a frame
    elif hasattr(events, "__arrow_c_stream__") or hasattr(events, "__arrow_c_array__"):
        stream = hasattr(events, "__arrow_c_stream__")
        try:
            table = pa.table(events) if stream else pa.record_batch(events)
        except (pa.ArrowException, TypeError) as problem:
            raise WrongFrame((f"{typed(events)} cannot be read by Arrow: {problem}",)) from None
    else:
        return None
    _refuse_repeated(table.schema.names)
    return dict(zip(table.schema.names, table.columns, strict=True))


def _is_pandas(events: Any) -> bool:
    return any(kind.__name__ == "DataFrame" and kind.__module__.startswith("pandas.") for kind in type(events).__mro__)


def _pandas_columns(frame: Any) -> dict[str, Any]:
    """Index levels that have a name are columns too."""
    named = [level for level in frame.index.names if level is not None]
    if named:
        frame = frame.reset_index(level=named)
    names = [str(name) for name in frame.columns]
    _refuse_repeated(names)
    return {name: _pandas_column(frame.iloc[:, place]) for place, name in enumerate(names)}


def _pandas_column(series: Any) -> Any:
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError, ValueError, TypeError):
        return [tidied(value) for value in series.tolist()]  # of several types, or of one that Arrow does not have


def _refuse_repeated(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        repeated = next(name for name in names if list(names).count(name) > 1)
        raise WrongFrame((f"the column {repeated!r} occurs twice",))


class Frame:
    """The columns of a frame under a catalog; raises WrongFrame where they do not fit it."""

    def __init__(
        self, columns: dict[str, Any], catalog: Catalog, event_type: list[str] | None, ignore_unknown: bool
    ) -> None:
        own = tuple(attribute.name for attribute in catalog.attributes)
        self._event_type = event_type
        self._words = words_for_booleans(catalog)
        self._attributes = {name: column for name, column in columns.items() if name in own}
        self._envelope = {
            name: column
            for name, column in columns.items()
            if name in ENVELOPE_COLUMNS and (name == "id" or name not in own)
        }
        self.length = len(next(iter(columns.values()))) if columns else 0
        known = self._attributes.keys() | self._envelope.keys()
        problems = []
        if EVENT_TYPE not in self._envelope and event_type is None:
            problems.append(_no_event_type(catalog))
        unknown = [] if ignore_unknown else [name for name in columns if name not in known]
        problems += [f"the schema has no attribute {name!r}{suggestion(name, own)}" for name in unknown]
        problems += ["ignore_unknown=True leaves such columns out"] if unknown else []
        for name, column in self._attributes.items():
            domain = catalog.domain_of(name)
            assert domain is not None
            problems += _misfit(name, column, domain, name in self._words)
        problems += _envelope_misfits(self._envelope, catalog)
        if problems:
            raise WrongFrame(tuple(problems))

    def raw(self, start: int, length: int, before: int) -> RawColumns:
        """The rows [start, start + length), of which `before` come before this frame."""
        envelope = {name: _cut(column, start, length) for name, column in self._envelope.items()}
        numbers = pa.array(range(before + start, before + start + length), pa.int64())
        envelope["id"] = _ids(envelope["id"]) if "id" in envelope else numbers.cast(pa.string())
        if EVENT_TYPE not in envelope:
            assert self._event_type is not None
            envelope[EVENT_TYPE] = _repeated(self._event_type, length)
        attributes = {
            name: _bound(_cut(column, start, length), name in self._words) for name, column in self._attributes.items()
        }
        return raw_columns(length, envelope, attributes)


def _no_event_type(catalog: Catalog) -> str:
    names = ", ".join(repr(name) for name in catalog.event_type_names)
    advice = f"add one, or pass event_type=…; the schema has {names}" if names else "and the schema has no event type"
    return f"the column 'event_type' is missing: {advice}"


def _misfit(name: str, column: Any, domain: Domain, words: bool) -> list[str]:
    """What is wrong with the type of a column; one of Python objects is decided row by row."""
    if isinstance(column, list) or _takes(_element(column.type), domain, words):
        return []
    takes = _TAKES.get(domain.kind, "text")
    return [f"the column {name!r} holds {column.type}, but the attribute is {domain.kind}: convert it to {takes}"]


def _envelope_misfits(envelope: dict[str, Any], catalog: Catalog) -> list[str]:
    problems = []
    domains = {"time": ENVELOPE["event.time"], EVENT_TYPE: catalog.domain_of(EVENT_TYPE)}
    for name, column in envelope.items():
        domain = domains.get(name) or ENVELOPE["event.source"]
        if _misfit(name, column, domain, False) and not (name == "id" and _is_id(column)):
            takes = "text or integers" if name == "id" else _TAKES.get(domain.kind, "text")
            problems.append(f"the column {name!r} holds {column.type}: convert it to {takes}")
    return problems


def _is_id(column: Any) -> bool:
    return not isinstance(column, list) and bool(pa.types.is_integer(_element(column.type)))


def _element(type_: Any) -> Any:
    """The type of a single value."""
    while is_list_type(type_) or pa.types.is_dictionary(type_):
        if is_list_type(type_) and is_list_type(type_.value_type):
            return type_  # lists of lists are not values
        type_ = type_.value_type
    return type_


def _takes(type_: Any, domain: Domain, words: bool) -> bool:
    types = pa.types
    if types.is_null(type_):
        return True
    if domain.kind is Kind.NUMERIC:
        return bool(types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_))
    if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
        return True
    if domain.kind is Kind.TIME:
        return bool(types.is_timestamp(type_) or types.is_date(type_))
    return bool(words and types.is_boolean(type_))


def _cut(column: Any, start: int, length: int) -> RawColumn:
    if isinstance(column, list):
        return column[start : start + length]
    part = column.slice(start, length)
    return part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part


def _ids(column: RawColumn) -> RawColumn:
    """Integers as text."""
    if isinstance(column, list):
        return [str(value) if type(value) is int else value for value in column]
    column = plain(column)
    return column.cast(pa.string()) if pa.types.is_integer(column.type) else column


def _repeated(event_type: list[str], length: int) -> Any:
    if len(event_type) == 1:
        return pa.repeat(event_type[0], length)
    return pa.array([event_type] * length, pa.list_(pa.string()))


def _bound(column: RawColumn, words: bool) -> RawColumn:
    """Null for NaN and for an empty list, also of nulls; Booleans as words where there are such."""
    if isinstance(column, list):
        return [("true" if value else "false") if words and type(value) is bool else value for value in column]
    if not is_list_type(column.type):
        return _scalars(column, words)
    if not pa.types.is_list(column.type):
        column = column.cast(pa.list_(column.type.value_type))
    flat = _scalars(column.flatten(), words)
    parents = pc.list_parent_indices(column)
    there = flat.is_valid()
    parents, flat = parents.filter(there).to_numpy(), flat.filter(there)
    rows = pa.array(range(len(column)), pa.int64()).to_numpy()
    lengths = pa.array(parents.searchsorted(rows, side="right") - parents.searchsorted(rows), pa.int64())
    return arrays.lists(flat, lengths, pc.equal(lengths, 0))


def _scalars(column: Any, words: bool) -> Any:
    column = plain(column)
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.is_nan(column), None, column)
    if words and pa.types.is_boolean(column.type):
        return pc.if_else(column, "true", "false")
    return column
