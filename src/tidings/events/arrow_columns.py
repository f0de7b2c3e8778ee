"""Arrow columns of any type as raw columns, for Parquet files and for frames.

Integers, floats and decimals are numbers (a decimal without a fraction is an integer, any other the nearest float);
strings and dictionaries of them are text; timestamps of any unit and dates are times (without a zone: UTC); lists hold
several values. Everything else, Booleans too, is refused row by row."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa

from tidings.events.columns import RawColumns
from tidings.events.elements import RawColumn
from tidings.events.files.chunk import ENVELOPE_COLUMNS
from tidings.events.instants import from_timestamps
from tidings.schema import Instant


def rows_of(batch: Any) -> RawColumns:
    """The rows of a RecordBatch whose columns are named as in our files."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    envelope = {name: column for name, column in columns.items() if name in ENVELOPE_COLUMNS}
    attributes = {name: column for name, column in columns.items() if name not in ENVELOPE_COLUMNS}
    return raw_columns(len(batch), envelope, attributes)


def raw_columns(length: int, envelope: dict[str, RawColumn], attributes: dict[str, RawColumn]) -> RawColumns:
    """Arrow arrays, or lists of Python objects, by name."""
    beside, inside = ({name: _sound(plain(one)) for name, one in part.items()} for part in (envelope, attributes))

    def row(number: int) -> dict[str, Any]:
        raw = {name: raw_value(column[number]) for name, column in beside.items()}
        return {**raw, "attributes": {name: raw_value(column[number]) for name, column in inside.items()}}

    return RawColumns(length, beside, inside, row)


def plain(column: Any) -> Any:
    """The same values in one of the few types that `elements` knows, where there is one."""
    if isinstance(column, list):
        return column
    types, type_ = pa.types, column.type
    if types.is_dictionary(type_):
        return plain(column.dictionary).take(column.indices)
    if types.is_large_string(type_) or types.is_string_view(type_) or types.is_null(type_):
        return column.cast(pa.string())
    if is_list_type(type_):
        if not types.is_list(type_):
            return plain(column.cast(pa.list_(type_.value_type)))
        if types.is_nested(type_.value_type):
            return column
        element = plain(pa.nulls(0, type_.value_type)).type
        return column if element == type_.value_type else column.cast(pa.list_(element))
    return column


def raw_value(scalar: Any) -> Any:
    """One cell for `validate`."""
    if not isinstance(scalar, pa.Scalar):
        return scalar
    if not scalar.is_valid:
        return None
    types, type_ = pa.types, scalar.type
    if is_list_type(type_):
        return [raw_value(item) for item in scalar.values]
    if types.is_timestamp(type_) or types.is_date(type_):
        instant = from_timestamps(pa.array([scalar], type_)).cast(pa.int64())[0].as_py()
        return Instant(instant) if instant is not None else "a time outside the years 1 to 9999"
    if types.is_decimal(type_):
        return number_of(scalar.as_py())
    return scalar.as_py()


def is_list_type(type_: Any) -> bool:
    types = pa.types
    tests = (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view, types.is_large_list_view)
    return any(test(type_) for test in tests)


def number_of(decimal: Decimal) -> int | float:
    """An integer where it has no fraction, so that all digits count, else the nearest float."""
    integral = decimal.is_finite() and decimal == decimal.to_integral_value()
    return int(decimal) if integral else float(decimal)


def _sound(column: RawColumn) -> RawColumn:
    """The column; as Python objects where it has text that is not UTF-8, which stays bytes and is refused."""
    if isinstance(column, list):
        return column
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        listed = pa.types.is_list(column.type)
        return [_decoded(cell) for cell in column.cast(pa.list_(pa.binary()) if listed else pa.binary()).to_pylist()]
    return column


def _decoded(cell: Any) -> Any:
    if isinstance(cell, list):
        return [_decoded(item) for item in cell]
    try:
        return cell if cell is None else cell.decode()
    except UnicodeDecodeError:
        return cell
