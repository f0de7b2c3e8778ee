"""The sink: a batch's matches become notifications, and the pipeline's place moves on, in one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, select, update

from tidings.schema import Instant
from tidings.store import journal
from tidings.store.database import Database
from tidings.store.entries import Notification
from tidings.store.errors import Gap, OutsideBatch
from tidings.store.tables import notifications, pipeline

_ROWS_AT_ONCE = 100_000
_TABLE = pa.schema([("position", pa.int64()), ("subscription", pa.string())])
# This order is that of the cursors, and the unique index has it.
_PAIRS = "SELECT position, subscription FROM notifications WHERE position > ? ORDER BY position, subscription"


def committed(connection: Connection) -> int:
    return int(connection.execute(select(pipeline.c.committed)).scalar_one())


def commit_batch(database: Database, first: int, last: int, matches: Any, now: Instant) -> int:
    """How many notifications were added; what is committed already is skipped."""
    with database.writing("pipeline") as connection:
        done, cursor = connection.execute(select(pipeline.c.committed, pipeline.c.cursor)).one()
        if last <= done:
            return 0
        if first > done + 1:
            raise Gap(done, first)
        end = journal.tail(connection)
        if last > end:
            raise OutsideBatch(last, end)
        pairs = _pairs(matches, done)
        if len(pairs) and pairs.column("position")[-1].as_py() > last:
            raise OutsideBatch(pairs.column("position")[-1].as_py(), last)
        stored = int(now)
        start = cursor
        for part in pairs.to_batches(_ROWS_AT_ONCE):
            rows = zip(
                range(cursor + 1, cursor + 1 + len(part)),
                part.column("position").to_pylist(),
                part.column("subscription").to_pylist(),
                (stored for _ in range(len(part))),
                strict=True,
            )
            database.dialect.insert(connection, notifications, rows)
            cursor += len(part)
        connection.execute(update(pipeline).values(committed=last, cursor=cursor))
        return int(cursor - start)


def _pairs(matches: Any, done: int) -> Any:
    """The pairs beyond what is done, by position, then by the subscription's code points; each once."""
    lists = matches.column("subscriptions").combine_chunks()
    positions = matches.column("position").combine_chunks().cast(pa.int64()).take(pc.list_parent_indices(lists))
    pairs = pa.table({"position": positions, "subscription": pc.list_flatten(lists).cast(pa.string())})
    pairs = pairs.filter(pc.greater(pairs.column("position"), done))
    pairs = pairs.take(pc.sort_indices(pairs, [("position", "ascending"), ("subscription", "ascending")]))
    if len(pairs) < 2:
        return pairs
    upper, lower = pairs.slice(0, len(pairs) - 1), pairs.slice(1)
    same = [pc.equal(upper.column(name), lower.column(name)).combine_chunks() for name in _TABLE.names]
    repeated = pc.and_(*same)
    return pairs.filter(pa.concat_arrays([pa.array([True]), pc.invert(repeated)])) if repeated.true_count else pairs


def after_cursor(connection: Connection, after: int, limit: int, subscription: str | None) -> list[Notification]:
    table = notifications
    query = select(table.c.cursor, table.c.position, table.c.subscription, table.c.stored)
    query = query.where(table.c.cursor > after).order_by(table.c.cursor).limit(limit)
    if subscription is not None:
        query = query.where(table.c.subscription == subscription)
    rows = connection.execute(query)
    return [Notification(cursor, at, id, Instant(stored)) for cursor, at, id, stored in rows]


def as_table(database: Database, after_position: int) -> Any:
    return pa.Table.from_batches(_batches(database, after_position), _TABLE)


def _batches(database: Database, after_position: int) -> Iterator[Any]:
    with database.reading() as connection:
        for rows in database.dialect.stream(connection, _PAIRS, (after_position,), _ROWS_AT_ONCE):
            positions, ids = zip(*rows, strict=True)
            yield pa.RecordBatch.from_arrays([pa.array(positions, pa.int64()), pa.array(ids)], schema=_TABLE)
