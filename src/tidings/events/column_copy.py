"""A batch of events as bytes, column by column, and back: what the store keeps beside the journal for queries.

Words stand for ordinals, so a copy stays right when the schema grows. Only names that a filter may test are kept:
`event.id`, `event.source`, `event.time`, `event_type` and the attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidings.events import arrays
from tidings.events.batch import EventBatch, vocabulary
from tidings.schema import Catalog, Domain
from tidings.schema.catalog import EVENT_TYPE

FIXED = ""  # the name of positions and times of acceptance, which no attribute can have
_OPTIONS = pa.ipc.IpcWriteOptions(compression="zstd")


def packed(batch: EventBatch) -> dict[str, bytes]:
    """The batch, which knows when its events were accepted, by name; without columns that no event binds."""
    envelope = {"event.id": batch.ids, "event.source": batch.sources, "event.time": batch.times}
    types = _domain(batch.catalog, EVENT_TYPE)
    with_types = arrays.with_words(batch.event_types, types, vocabulary(types))
    columns = {**envelope, EVENT_TYPE: with_types, **batch.columns}
    bodies = {name: _written(_plain(column)) for name, column in columns.items() if column.null_count < len(column)}
    return {FIXED: _written(batch.positions, batch.accepted), **bodies}


def unpacked(parts: Sequence[Mapping[str, bytes]], names: Iterable[str], catalog: Catalog) -> EventBatch:
    """The events of these copies, one after another, with nothing but the named columns."""
    fixed = [_read(part[FIXED]) for part in parts]
    lengths = [len(positions) for positions, _ in fixed]
    total = sum(lengths)
    found = {}
    for name in names:
        bodies = [_read(part[name])[0] if name in part else None for part in parts]
        if any(body is not None for body in bodies):
            found[name] = _column(bodies, lengths, _domain(catalog, name))
    missing = pa.nulls(total, pa.string())
    no_types = arrays.lists(pa.nulls(0, arrays.ORDINALS), pa.repeat(pa.scalar(0, pa.int64()), total))
    types = found.pop(EVENT_TYPE, None)
    return EventBatch(
        catalog,
        found.pop("event.id", missing),
        found.pop("event.source", missing),
        found.pop("event.time", pa.nulls(total, arrays.INSTANTS)),
        missing,
        pa.concat_arrays([positions for positions, _ in fixed]),
        no_types if types is None else arrays.as_lists(arrays.as_stored(types)),
        found,
        pa.concat_arrays([accepted for _, accepted in fixed]),
    )


def _column(bodies: list[Any], lengths: list[int], domain: Domain) -> Any:
    if not arrays.has_ordinals(domain):
        return arrays.joined(bodies, lengths, arrays.stored_type(domain))
    words, known = arrays.joined(bodies, lengths, pa.string()), vocabulary(domain)
    stored = arrays.map_values(words, lambda flat: pc.index_in(flat, value_set=known))
    return arrays.with_words(stored, domain, known)


def _plain(column: Any) -> Any:
    """Without dictionaries."""
    if arrays.is_list(column):
        return column.cast(pa.list_(pa.string())) if pa.types.is_dictionary(column.type.value_type) else column
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def _written(*columns: Any) -> bytes:
    batch = pa.RecordBatch.from_arrays(list(columns), [str(number) for number in range(len(columns))])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=_OPTIONS) as writer:
        writer.write_batch(batch)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _read(body: bytes) -> list[Any]:
    with pa.ipc.open_stream(body) as stream:
        columns: list[Any] = stream.read_next_batch().columns
    return columns


def _domain(catalog: Catalog, name: str) -> Domain:
    domain = catalog.domain_of(name)
    assert domain is not None, name
    return domain
