"""Removing old events: by age or size, oldest first, never one that somebody may still need.

Only events go, and only below what the pipeline has committed; the keys by which duplicates are known stay. The
file of an SQLite database does not shrink, the room is used again.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, literal_column, select, update

from tidings.schema import Instant
from tidings.store.database import Database
from tidings.store.journal import position_at
from tidings.store.notifications import committed
from tidings.store.tables import about, journal

_EVENTS_AT_ONCE = 10_000  # so that appenders need not wait long


def trim(database: Database, before: Instant | None, most_bytes: int | None, needed_from: int | None) -> int:
    """How many events were removed."""
    removed = 0
    while True:
        with database.writing() as connection:
            doomed = _oldest(connection, database.dialect.body_bytes, before, most_bytes, needed_from)
            if doomed:
                _remove(connection, doomed)
        removed += len(doomed)
        if len(doomed) < _EVENTS_AT_ONCE:
            return removed


def complete_from(connection: Connection) -> int:
    return int(connection.execute(select(about.c.complete_from)).scalar_one())


def _oldest(
    connection: Connection, body_bytes: str, before: Instant | None, most_bytes: int | None, needed_from: int | None
) -> list[tuple[int, int]]:
    """Some of the events to remove, as (position, bytes), from the oldest on."""
    last = committed(connection)
    if needed_from is not None:
        last = min(last, needed_from - 1)
    aged = 0 if before is None else position_at(connection, before) - 1
    if most_bytes is None:
        last = min(last, aged)
    row: Any = connection.execute(select(about.c.complete_from, about.c.event_bytes)).one()
    excess = 0 if most_bytes is None else row.event_bytes - most_bytes
    query = select(journal.c.position, literal_column(body_bytes)).where(
        journal.c.position >= row.complete_from, journal.c.position <= last, journal.c.kind == "event"
    )
    doomed: list[tuple[int, int]] = []
    for position, size in connection.execute(query.order_by(journal.c.position).limit(_EVENTS_AT_ONCE)):
        if position > aged and excess <= 0:
            break
        doomed.append((position, size))
        excess -= size
    return doomed


def _remove(connection: Connection, doomed: list[tuple[int, int]]) -> None:
    first, last = doomed[0][0], doomed[-1][0]
    between = journal.c.position.between(first, last)
    connection.execute(delete(journal).where(between, journal.c.kind == "event"))
    events, size = about.c.events - len(doomed), about.c.event_bytes - sum(size for _, size in doomed)
    connection.execute(update(about).values(complete_from=last + 1, events=events, event_bytes=size))
