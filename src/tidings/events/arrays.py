"""Arrow arrays as an `EventBatch` holds them: one element type per kind of domain, plain or in lists.

Enumerated and hierarchical values are dictionary arrays over exactly the domain's vocabulary, so that an
index is an ordinal. Arrow would merge such dictionaries entry by entry when it joins arrays; here they are
known to be equal, so only the indices move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidings.schema import Domain, Instant, Kind
from tidings.schema.values import Place, Value, number

INSTANTS = pa.timestamp("us", tz="UTC")
ORDINALS = pa.int32()
_ELEMENTS = {
    Kind.NUMERIC: pa.float64(),
    Kind.TIME: INSTANTS,
    Kind.STRING: pa.string(),
    Kind.TEXT: pa.string(),
    Kind.PLACE: pa.string(),
    Kind.DOCUMENT: pa.string(),
}
_CANONICAL: dict[Kind, Callable[[Any], Value]] = {Kind.TIME: Instant, Kind.NUMERIC: number, Kind.PLACE: Place}


def has_ordinals(domain: Domain) -> bool:
    return domain.listed


def stored_type(domain: Domain) -> Any:
    """The type of an element without its dictionary: ordinals for enumerated and hierarchical values."""
    return ORDINALS if has_ordinals(domain) else _ELEMENTS[domain.stored_as]


def is_list(array: Any) -> bool:
    return bool(pa.types.is_list(array.type))


def as_stored(array: Any) -> Any:
    """The array with ordinals in place of words."""
    if is_list(array) and pa.types.is_dictionary(array.type.value_type):
        return array.cast(pa.list_(ORDINALS)) if not len(array) else map_values(array, lambda flat: flat.indices)
    return array.indices if pa.types.is_dictionary(array.type) else array


def with_words(stored: Any, domain: Domain, vocabulary: Any) -> Any:
    """The array of an EventBatch, from its stored form."""
    if not has_ordinals(domain):
        return stored
    if is_list(stored):
        return map_values(stored, lambda flat: pa.DictionaryArray.from_arrays(flat, vocabulary))
    return pa.DictionaryArray.from_arrays(stored, vocabulary)


def as_lists(stored: Any) -> Any:
    """One list per row; null stays null."""
    if is_list(stored):
        return stored
    lengths = pc.if_else(stored.is_valid(), 1, 0)
    return lists(stored.drop_null(), lengths, stored.is_null() if stored.null_count else None)


def lists(flat: Any, lengths: Any, missing: Any = None) -> Any:
    """A list array of rows with so many values each; `missing` says which rows are null."""
    ends = pc.cumulative_sum(lengths).cast(pa.int32())
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), ends])
    return pa.ListArray.from_arrays(offsets, flat, mask=missing)


def joined(parts: Sequence[Any], lengths: Sequence[int], element: Any) -> Any:
    """Stored arrays one after another, None for a part without values; lists if one part has them."""
    anything_listed = any(part is not None and is_list(part) for part in parts)
    whole = pa.list_(element) if anything_listed else element
    filled = [pa.nulls(n, whole) if part is None else part for part, n in zip(parts, lengths, strict=True)]
    return pa.concat_arrays([as_lists(part) for part in filled] if anything_listed else filled)


def array_of(rows: Sequence[tuple[Value, ...] | None], domain: Domain) -> Any:
    """The stored array of canonical values."""
    element = stored_type(domain)
    flat: list[Any] = [value for row in rows if row is not None for value in row]
    if has_ordinals(domain):
        flat = [domain.ordinal(value) for value in flat]
    elif domain.kind is Kind.TIME:
        flat = [int(value) for value in flat]
    made = pa.array(flat, pa.int64() if domain.kind is Kind.TIME else element).cast(element)
    lengths = pa.array([0 if row is None else len(row) for row in rows], pa.int64())
    if len(flat) == len(rows) and all(row is not None and len(row) == 1 for row in rows):
        return made
    if any(row is not None and len(row) > 1 for row in rows):
        return lists(made, lengths, pa.array([row is None for row in rows], pa.bool_()))
    return spread(made, lengths)


def spread(flat: Any, lengths: Any) -> Any:
    """A plain array of rows with one value or none each."""
    places = pc.subtract(pc.cumulative_sum(lengths), 1)
    return flat.take(pc.if_else(pc.equal(lengths, 1), places, None))


def values_of(array: Any, domain: Domain) -> list[tuple[Value, ...] | None]:
    """The canonical values of each row, None where the attribute is not bound."""
    if domain.kind is Kind.TIME:
        array = array.cast(pa.list_(pa.int64()) if is_list(array) else pa.int64())
    canonical = _CANONICAL.get(domain.kind)
    rows = array.to_pylist()
    if not is_list(array):
        rows = [None if value is None else (value,) for value in rows]
    if canonical is None:
        return [None if row is None else tuple(row) for row in rows]
    return [None if row is None else tuple(map(canonical, row)) for row in rows]


def map_values(array: Any, change: Any) -> Any:
    """The same array or lists with other elements."""
    if not is_list(array):
        return change(array)
    flat = change(array.flatten())
    lengths = pc.fill_null(pc.list_value_length(array), 0)
    return lists(flat, lengths, array.is_null() if array.null_count else None)
