"""Parquet to raw columns: typed as they are, read by batches of rows.

Columns are named as in CSV. Integers, floats and decimals are numbers (a decimal without a fraction is an integer, any
other the nearest float); strings and dictionaries of them are text; timestamps of any unit and dates are times
(without a zone: UTC); lists hold several values. Everything else, Booleans too, is refused row by row.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from tidings.events.chunk import ENVELOPE_COLUMNS, Chunk, check_header
from tidings.events.columns import RawColumns
from tidings.events.instants import from_timestamps
from tidings.events.lines import DamagedFile, EmptyFile, ForeignFile
from tidings.schema import Catalog, Instant


def parquet_chunks(stream: IO[bytes], name: str, catalog: Catalog, rows: int) -> Iterator[Chunk]:
    """The file's rows in chunks of at most so many."""
    try:
        file = pq.ParquetFile(stream)
    except (pa.ArrowException, OSError) as problem:
        if "size is 0 bytes" in str(problem):
            raise EmptyFile(name) from None
        raise ForeignFile(name, f"no Parquet file ({problem})") from None
    check_header(file.schema_arrow.names, catalog, name)
    done = 0
    batches = file.iter_batches(batch_size=rows)
    while True:
        try:
            batch = next(batches, None)
        except (pa.ArrowException, OSError) as problem:
            raise DamagedFile(name, f"row {done}", str(problem)) from None
        if batch is None:
            return
        yield Chunk(_raw_columns(batch), range(done + 1, done + len(batch) + 1))
        done += len(batch)


def _raw_columns(batch: Any) -> RawColumns:
    columns = {name: _sound(plain(batch.column(name))) for name in batch.schema.names}
    envelope = {name: column for name, column in columns.items() if name in ENVELOPE_COLUMNS}
    attributes = {name: column for name, column in columns.items() if name not in ENVELOPE_COLUMNS}

    def row(number: int) -> dict[str, Any]:
        raw = {name: _raw_value(column[number]) for name, column in envelope.items()}
        return {
            **raw,
            "attributes": {name: _raw_value(column[number]) for name, column in attributes.items()},
        }

    return RawColumns(len(batch), envelope, attributes, row)


def plain(column: Any) -> Any:
    """The same values in one of the few types that `elements` knows, where there is one."""
    types, type_ = pa.types, column.type
    if types.is_dictionary(type_):
        return plain(column.dictionary_decode())
    if types.is_large_string(type_) or types.is_string_view(type_) or types.is_null(type_):
        return column.cast(pa.string())
    if types.is_large_list(type_) or types.is_fixed_size_list(type_) or types.is_list_view(type_):
        return plain(column.cast(pa.list_(type_.value_type)))
    if types.is_list(type_):
        if types.is_nested(type_.value_type):
            return column
        element = plain(pa.nulls(0, type_.value_type)).type
        return column if element == type_.value_type else column.cast(pa.list_(element))
    return column


def _sound(column: Any) -> Any:
    """The column; as Python objects where it has text that is no UTF-8, which stays bytes and is refused."""
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


def _raw_value(scalar: Any) -> Any:
    """One cell for `validate`."""
    if not isinstance(scalar, pa.Scalar):
        return scalar
    if not scalar.is_valid:
        return None
    if pa.types.is_list(scalar.type):
        return [_raw_value(item) for item in scalar.values]
    if pa.types.is_timestamp(scalar.type) or pa.types.is_date(scalar.type):
        instant = from_timestamps(pa.array([scalar], scalar.type)).cast(pa.int64())[0].as_py()
        return Instant(instant) if instant is not None else "a time outside the years 1 to 9999"
    value = scalar.as_py()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value
