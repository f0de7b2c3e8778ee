"""A workload as files: schema (JSON), subscriptions (JSON Lines), events (JSON Lines, CSV or Parquet).

Rows are made and written some ten thousand at a time, so any number of them fits into memory. A file appears
under its name only when it is whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from tidings.events import EventBatch, write_event
from tidings.events.arrays import INSTANTS, as_lists
from tidings.events.files.reading import UnknownForm
from tidings.matching.boxes.predicate_table import PredicateTable
from tidings.schema import Catalog, Kind
from tidings.schema.catalog import EVENT_TYPE
from tidings.schema.files import write_catalog
from tidings.whole_file import whole_file
from tidings.workloads import Workload, lines

__all__ = ["FORMS", "WorkloadFiles", "raw_events", "write_events", "write_subscriptions", "write_workload"]

FORMS = ("jsonl", "csv", "parquet")
_ROWS_AT_ONCE = 1 << 16
_TYPES = {Kind.NUMERIC: pa.float64(), Kind.TIME: INSTANTS}


class WorkloadFiles(NamedTuple):
    """Where the three files of a workload are."""

    schema: Path
    subscriptions: Path
    events: Path


def write_workload(
    workload: Workload, folder: str | os.PathLike[str], subscriptions: int, events: int, form: str = "jsonl"
) -> WorkloadFiles:
    """Writes `schema.json`, `subscriptions.jsonl` and `events.<form>`; makes the folder if need be."""
    folder = Path(folder)
    made = WorkloadFiles(folder / "schema.json", folder / "subscriptions.jsonl", folder / f"events.{form}")
    if form not in FORMS:
        raise UnknownForm(str(made.events), form)
    folder.mkdir(parents=True, exist_ok=True)
    write_catalog(workload.catalog, made.schema)
    write_subscriptions((workload.subscriptions(n, at) for at, n in _parts(subscriptions)), made.subscriptions)
    write_events((workload.events(n, at) for at, n in _parts(events)), workload.catalog, made.events)
    return made


def write_subscriptions(tables: Iterable[PredicateTable], path: str | os.PathLike[str]) -> int:
    """Writes the filters of all tables under the ids s1, s2, …; returns how many."""
    written = 0
    with whole_file(Path(path)) as file:
        for table in tables:
            file.write(lines.content(lines.subscription_lines(table, written)))
            written += len(table)
    return written


def write_events(batches: Iterable[EventBatch], catalog: Catalog, path: str | os.PathLike[str]) -> int:
    """Writes events in the form that the suffix names; returns how many. Raises UnknownForm."""
    path = Path(path)
    form = path.suffix.removeprefix(".").lower()
    if form not in FORMS:
        raise UnknownForm(str(path), form or None)
    written = 0
    with whole_file(path) as file, _writer(file, catalog, form) as write:
        for batch in batches:
            write(batch)
            written += len(batch)
    return written


def raw_events(workload: Workload, n: int, start: int = 0) -> Iterator[dict[str, Any]]:
    """The events one by one, as a publisher would send them."""
    for at, rows in _parts(n):
        yield from map(write_event, workload.events(rows, start + at))


def _parts(n: int) -> Iterator[tuple[int, int]]:
    """Where each part begins, and how long it is."""
    for start in range(0, n, _ROWS_AT_ONCE):
        yield start, min(_ROWS_AT_ONCE, n - start)


@contextmanager
def _writer(file: IO[bytes], catalog: Catalog, form: str) -> Iterator[Any]:
    """A function that writes one batch."""
    match form:
        case "jsonl":
            yield lambda batch: file.write(lines.content(lines.event_lines(batch)))
        case "csv":
            file.write(lines.csv_header_line(catalog))
            yield lambda batch: file.write(lines.content(lines.csv_lines(batch)))
        case _:
            schema = _parquet_schema(catalog)
            with pq.ParquetWriter(file, schema) as writer:
                yield lambda batch: writer.write_batch(_parquet_batch(batch, schema))


def _parquet_schema(catalog: Catalog) -> Any:
    """The columns of a CSV file, typed; lists where an event may have several values."""
    fields = []
    for name in lines.csv_header(catalog):
        domain = catalog.domain_of(name if name != "time" else "event.time")
        element = pa.string() if domain is None else _TYPES.get(domain.kind, pa.string())
        fields.append((name, pa.list_(element) if catalog.may_be_multiple(name) else element))
    return pa.schema(fields)


def _parquet_batch(batch: EventBatch, schema: Any) -> Any:
    envelope = {"id": batch.ids, "source": batch.sources, "time": batch.times, "contact": batch.contacts}
    columns = {**batch.columns, **envelope, EVENT_TYPE: batch.event_types}
    arrays = []
    for field in schema:
        if field.name not in columns:
            arrays.append(pa.nulls(len(batch), field.type))
            continue
        domain = batch.catalog.domain_of(field.name) or batch.catalog.domain_of("event.id")
        assert domain is not None
        column = lines.words(columns[field.name], domain)
        if pa.types.is_list(field.type) and not pa.types.is_list(column.type):
            column = as_lists(column)
        arrays.append(column)
    return pa.record_batch(arrays, schema=schema)
