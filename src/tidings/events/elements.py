"""Raw values of one attribute to the elements of an `EventBatch` column, all at once.

What comes in is a list of Python objects (JSON) or an Arrow array (CSV, Parquet). What goes out is the
stored array, null where a value was null or is *doubted*: not evidently in the domain. Nothing doubted is
refused here; `validate` decides on its row.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidings.errors import SchemaError
from tidings.events import arrays, instants
from tidings.schema import Domain, Kind
from tidings.schema.domain import OutsideDomain
from tidings.schema.values import LARGEST_INTEGER

RawColumn = list[Any] | Any  # a list of Python objects, or an Arrow array

_NONE = type(None)
_NO_PLACE = object()
_PYTHON_TYPES: dict[Kind, frozenset[type]] = {Kind.NUMERIC: frozenset({int, float})}
_TEXT = frozenset({str})
# What pyarrow raises for an integer that no float holds, a larger one, and half a surrogate pair.
_UNFIT = (pa.ArrowInvalid, OverflowError, UnicodeEncodeError)


def cells(raw: RawColumn, domain: Domain) -> RawColumn:
    """The column with one value, or a list of values, in each row: a place itself is a list, and becomes its text."""
    if domain.kind is not Kind.PLACE:
        return raw
    return [_place_cell(cell, domain) for cell in (raw if isinstance(raw, list) else raw.to_pylist())]


def _place_cell(cell: Any, domain: Domain) -> Any:
    """Anything that is not evidently a place stays as it is, and is doubted."""
    if isinstance(cell, list) and cell and isinstance(cell[0], list | str):
        return [_place_cell(one, domain) for one in cell]
    try:
        return None if cell is None else str(domain.canonical(cell))
    except OutsideDomain:
        return cell if not isinstance(cell, list | str) else _NO_PLACE


def elements(raw: RawColumn, domain: Domain, vocabulary: Any) -> Any:
    """The stored array of the raw values, null where there is none or where it is doubted."""
    array = _from_python(raw, domain.kind) if isinstance(raw, list) else raw
    kind, type_ = domain.kind, array.type
    if kind is Kind.NUMERIC:
        return _numbers(array)
    if kind is Kind.TIME and (pa.types.is_timestamp(type_) or pa.types.is_date(type_)):
        return instants.from_timestamps(array)
    if not pa.types.is_string(type_):
        return pa.nulls(len(array), arrays.stored_type(domain))
    if kind is Kind.TIME:
        return instants.parse_texts(array)
    if vocabulary is None:
        return array
    found = pc.index_in(array, value_set=vocabulary, skip_nulls=True)
    return found if kind is not Kind.HIERARCHICAL or not found.null_count else _by_name(array, domain, found)


def _by_name(array: Any, domain: Domain, found: Any) -> Any:
    """Nodes named by the end of their path: each distinct text is looked up once."""
    encoded = array.filter(found.is_null()).dictionary_encode()
    numbers = [_number(text, domain) for text in encoded.dictionary.to_pylist()]
    return pc.replace_with_mask(found, found.is_null(), pa.array(numbers, found.type).take(encoded.indices))


def _number(text: str | None, domain: Domain) -> int | None:
    try:
        return None if text is None else domain.hierarchy.number(text)
    except SchemaError:
        return None


def flattened(raw: RawColumn) -> tuple[RawColumn, Any, Any]:
    """All values in one row after another, how many each row has, and which rows have an empty list."""
    if not isinstance(raw, list):
        lengths = pc.list_value_length(raw).cast(pa.int64())
        return raw.flatten(), pc.fill_null(lengths, 0), pc.fill_null(pc.equal(lengths, 0), False)
    rows = [value if type(value) is list else () if value is None else (value,) for value in raw]
    lengths = pa.array(map(len, rows), pa.int64())
    empty = [value == [] for value in rows]
    return list(chain.from_iterable(rows)), lengths, pa.array(empty, pa.bool_())


def is_bound(raw: RawColumn) -> Any:
    return pa.array([value is not None for value in raw], pa.bool_()) if isinstance(raw, list) else raw.is_valid()


def _from_python(raw: list[Any], kind: Kind) -> Any:
    """An Arrow array of the values that are of the kind's Python types, null for all others."""
    expected = _PYTHON_TYPES.get(kind, _TEXT)
    element = pa.float64() if kind is Kind.NUMERIC else pa.string()
    if not set(map(type, raw)) <= expected | {_NONE}:
        raw = [value if type(value) in expected else None for value in raw]
    try:
        return pa.array(raw, element)
    except _UNFIT:
        return pa.array([value if _fits(value, element) else None for value in raw], element)


def _fits(value: object, element: Any) -> bool:
    try:
        pa.array([value], element)
    except _UNFIT:
        return False
    return True


def _numbers(array: Any) -> Any:
    """Finite floats, and integers that a float holds; -0.0 becomes 0.0, so that equal values are the same."""
    if pa.types.is_integer(array.type):
        if pa.types.is_int64(array.type) or pa.types.is_uint64(array.type):
            held = pc.less_equal(array, pa.scalar(LARGEST_INTEGER, array.type))
            if pa.types.is_int64(array.type):
                held = pc.and_(held, pc.greater_equal(array, -LARGEST_INTEGER))
            array = pc.if_else(held, array, None)
        return array.cast(pa.float64())
    if pa.types.is_decimal(array.type):
        # By way of text, which is rounded correctly: Arrow's own cast makes 0.30000000000000004 of 0.3.
        floats = array.cast(pa.string()).cast(pa.float64())
        return pc.if_else(pc.less(pc.abs(floats), LARGEST_INTEGER), floats, None)
    if not pa.types.is_floating(array.type):
        return pa.nulls(len(array), pa.float64())
    floats = pc.add(array.cast(pa.float64()), 0.0)
    finite = pc.is_finite(floats)
    return floats if pc.all(finite).as_py() in (True, None) else pc.if_else(finite, floats, None)
