"""Which of the journal's events match a filter.

Whole stretches of the journal are copied by column (`store.journal.event_columns`): by the pipeline in quiet moments
(`copies`), else by the first query. Queries read only the columns that the filter tests, and from the journal the
payloads of what matched. With a session, Spark's workers read the journal instead (`history_frames`).

The filter is read by the newest catalog: growth changes neither what an event says nor what a filter asks of it. An
event that cannot be read (the journal was damaged) is given with the problem in place of an answer."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidings.errors import StoreError
from tidings.events import EventBatch
from tidings.events.column_copy import packed, unpacked
from tidings.language import Filter
from tidings.matching.one_filter import OneFilter
from tidings.pipeline.stream.payloads import read_payloads
from tidings.schema import Catalog
from tidings.schema.catalog import EVENT_TYPE
from tidings.store.journal.event_columns import STRETCH, stretch_of
from tidings.store.journal.event_store import EventStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STORED = pa.schema(
    [("position", pa.int64()), ("accepted", pa.int64()), ("payload", pa.string()), ("problem", pa.string())]
)
_LOOKED_AT = ["position", "accepted"]
_NO_EVENTS = pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in STORED], schema=STORED)
_MOST_STRETCHES = 16  # read together; the first few events come sooner
_MANY_BYTES = 8 << 20  # of columns read together
_MOST_BYTES = 32 << 20  # of payloads that are copied: a stretch of larger events is always read from the journal
_ROWS = 10_000  # of the journal, read together
_PAYLOADS = 2_000  # fetched together
_SPARK_FROM = 1_000_000  # positions that nobody has copied: only then two cores gain what a session takes to start
_log = logging.getLogger(__name__)


def matching(
    store: EventStore, filter: Filter, after: int, upto: int, spark: SparkSession | None = None, payloads: bool = True
) -> Iterator[Any]:
    """The events at the positions (after, upto] that match, as batches of `STORED`; without `payloads`
    some or all of them are null."""
    if spark is None:
        return (found for _, found in scan(store, filter, after, upto, payloads))
    from tidings.pipeline.batch.history_frames import selected

    return selected(spark, store, filter, after, upto)


def scan(
    store: EventStore, filter: Filter, after: int, upto: int, payloads: bool = True, size: int = _ROWS
) -> Iterator[tuple[Any, Any]]:
    """Goes through the events at the positions (after, upto], piece by piece: the position and time of acceptance of
    each, and as a batch of `STORED` those that match or cannot be read. Without copies, a piece has at most `size`."""
    for piece in look(store, filter, after, upto, size):
        yield from _with_payloads(store, piece) if payloads else [(piece.looked_at, piece.found())]


class Piece(NamedTuple):
    """Some events in order, with the columns that the filter tests, their types and times; the rows that match; the
    journal's rows, where they were read; and what cannot be read."""

    batch: EventBatch
    rows: npt.NDArray[np.int64]
    page: Any = None
    problems: Sequence[dict[str, Any]] = ()

    @property
    def looked_at(self) -> Any:
        """The position and time of acceptance of each event."""
        if self.page is not None:
            return self.page.select(_LOOKED_AT)
        return pa.RecordBatch.from_arrays([self.batch.positions, self.batch.accepted], _LOOKED_AT)

    def found(self) -> Any:
        """What matches or cannot be read, as a batch of `STORED`; without payloads, where it has no page."""
        positions, accepted = (part.take(pa.array(self.rows)) for part in (self.batch.positions, self.batch.accepted))
        nothing = payloads = pa.nulls(len(self.rows), pa.string())
        if self.page is not None:
            places = np.searchsorted(self.page.column("position").to_numpy(), positions.to_numpy())
            payloads = self.page.column("payload").take(pa.array(places))
        made = pa.RecordBatch.from_arrays([positions, accepted, payloads, nothing], schema=STORED)
        return with_problems(made, list(self.problems), STORED)


def look(store: EventStore, filter: Filter | None, after: int, upto: int, size: int = _ROWS) -> Iterator[Piece]:
    """Goes through the events at the positions (after, upto]; without a filter all of them match."""
    pieces = _Scan(store, filter, size).pieces(after, upto)
    return (piece for piece in pieces if len(piece.batch) or piece.problems)


def is_for_spark(store: EventStore, after: int, upto: int, least: int | None = None) -> bool:
    """Whether Spark would be quicker, although it takes long to start: at least so many positions are not copied."""
    least = _SPARK_FROM if least is None else least
    if upto - after < least:
        return False
    copied = store.copied_stretches(stretch_of(after + 1), stretch_of(upto))
    return upto - after - STRETCH * len(copied) >= least


def copy_stretch(store: EventStore, stretch: int) -> bool:
    """Copies the events of a stretch that has its last entry; answers whether it could. Raises StoreError."""
    catalog = store.catalog()
    page, is_whole = _whole_stretch(store, stretch)
    batch, problems = _decoded(page, catalog) if is_whole else (None, [])
    if batch is None or problems:
        return False
    store.keep_columns(stretch, packed(batch))
    return True


class _Scan:
    def __init__(self, store: EventStore, filter: Filter | None, size: int) -> None:
        self._store, self._size = store, size
        self._whole = store.tail() // STRETCH  # the stretches below have their last entry
        self._catalog = store.catalog()  # after the tail: it reads everything up to there
        self._filter = None if filter is None else OneFilter(filter, self._catalog)
        self._names = {"event.time", EVENT_TYPE, *(() if self._filter is None else self._filter.names)}

    def pieces(self, after: int, upto: int) -> Iterator[Piece]:
        after = max(after, self._store.complete_from() - 1)
        if upto <= after:
            return
        stretch, end, together = stretch_of(after + 1), stretch_of(upto), 1
        while stretch <= end:
            last = min(stretch + together, end + 1, self._whole) - 1
            copies = self._store.copied_columns(stretch, last, self._names) if last >= stretch else {}
            run = list(takewhile(copies.__contains__, range(stretch, last + 1)))
            if run:
                batch = unpacked([copies[one] for one in run], self._names, self._catalog)
                yield self._piece(_between(batch, after, upto))
                small = sum(len(body) for one in run for body in copies[one].values()) < _MANY_BYTES
                together = min(2 * together, _MOST_STRETCHES) if small else max(1, together // 2)
            else:
                yield from self._from_journal(stretch, after, upto)
                together = 1
            stretch += len(run) or 1

    def _from_journal(self, stretch: int, after: int, upto: int) -> Iterator[Piece]:
        """A whole stretch is copied."""
        if stretch < self._whole:
            page, is_whole = _whole_stretch(self._store, stretch)
            if is_whole:
                batch, problems = _decoded(page, self._catalog)
                if not problems:
                    _keep(self._store, stretch, batch)
                told = [one for one in problems if after < one["position"] <= upto]
                yield self._piece(_between(batch, after, upto), _between(page, after, upto), told)
                return
        first, last = STRETCH * stretch, STRETCH * (stretch + 1)
        for page in self._store.event_rows(max(first, after), min(last, upto), self._size):
            batch, problems = _decoded(page, self._catalog)
            yield self._piece(batch, page, problems)

    def _piece(self, batch: EventBatch, page: Any = None, problems: Sequence[dict[str, Any]] = ()) -> Piece:
        rows = np.arange(len(batch)) if self._filter is None else self._filter.select(batch)
        return Piece(batch, rows, page, problems)


def _with_payloads(store: EventStore, piece: Piece) -> Iterator[tuple[Any, Any]]:
    """Of a copy, payloads are fetched some at a time."""
    looked_at, found, done = piece.looked_at, piece.found(), 0
    if piece.page is not None:
        yield looked_at, found
        return
    for first in range(0, max(1, len(found)), _PAYLOADS):
        some = found.slice(first, _PAYLOADS)
        upto = len(looked_at) if first + _PAYLOADS >= len(found) else int(piece.rows[first + _PAYLOADS - 1]) + 1
        yield looked_at.slice(done, upto - done), _filled(store, some)
        done = upto


def _filled(store: EventStore, found: Any) -> Any:
    """With payloads; without what was removed meanwhile."""
    if not len(found):
        return found
    positions = found.column("position").to_pylist()
    bodies = _bodies(store, positions)
    payloads = pa.array([bodies.get(position) for position in positions], pa.string())
    made = found.set_column(2, STORED.field("payload"), payloads)
    return made.filter(payloads.is_valid())


def _bodies(store: EventStore, positions: list[int]) -> dict[int, str]:
    first, last = positions[0], positions[-1]
    if last - first > 4 * len(positions):
        return store.events_at(positions)
    columns = (
        (page.column("position").to_pylist(), page.column("payload").to_pylist())
        for page in store.event_rows(first - 1, last)
    )
    return {position: body for column in columns for position, body in zip(*column, strict=True)}


def _whole_stretch(store: EventStore, stretch: int) -> tuple[Any, bool]:
    """The first events of a stretch, and whether these are all of them."""
    first, last = STRETCH * stretch, STRETCH * (stretch + 1)
    page = next(store.event_rows(first, last, STRETCH, _MOST_BYTES), None)
    if page is None:
        return _NO_EVENTS, True
    return page, next(store.event_rows(page.column("position")[-1].as_py(), last, 1), None) is None


def _keep(store: EventStore, stretch: int, batch: EventBatch) -> None:
    try:
        store.keep_columns(stretch, packed(batch))
    except StoreError as problem:  # read-only, full or busy: the answer needs no copy
        _log.info("positions from %d on are not copied: %s", STRETCH * stretch + 1, problem)


def _decoded(page: Any, catalog: Catalog) -> tuple[EventBatch, list[dict[str, Any]]]:
    return read_payloads(page.column("payload").to_pylist(), page.column("position"), page.column("accepted"), catalog)


def _between(rows: Any, after: int, upto: int) -> Any:
    """Of rows or events in order those at the positions (after, upto]."""
    positions = (rows.positions if isinstance(rows, EventBatch) else rows.column("position")).to_numpy()
    first, last = np.searchsorted(positions, [after, upto], side="right").tolist()
    return rows.slice(first, last) if isinstance(rows, EventBatch) else rows.slice(first, last - first)


def with_problems(found: Any, problems: list[dict[str, Any]], schema: Any) -> Any:
    if not problems:
        return found
    told = pa.RecordBatch.from_pylist(problems, schema=schema)
    both = pa.Table.from_batches([found.cast(schema), told]).combine_chunks()
    return both.take(pc.sort_indices(both, [("position", "ascending")])).to_batches()[0]
