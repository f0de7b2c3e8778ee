"""Reading notifications: by cursor, by owner, by subscription, or all as a table. `commits` stores them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, func, select

from tidings.schema import Instant
from tidings.store.databases.database import Database, Dialect, NamedRow
from tidings.store.journal.entries import Constituent, Detection, Notification
from tidings.store.notifications.progress import last_cursor
from tidings.store.tables import DETECTED, OWNED, detections, notifications

COLUMNS = tuple(notifications.c[name] for name in ("cursor", "position", "subscription", "stored", "detection"))
_ROWS_AT_ONCE = 100_000
_PAIR = ("position", "subscription")
# Of plain matches this order is that of the cursors, and the unique index has it.
_PAIRS = (
    "SELECT position, subscription FROM notifications WHERE position > ? AND detection = '' "
    "ORDER BY position, subscription"
)


def after_cursor(
    connection: Connection, after: int, limit: int, subscription: str | None, owner: str | None
) -> list[Notification]:
    """Somebody's are found through an index. What nobody owns has none, so that the sink need not keep it."""
    table = notifications
    query = select(*COLUMNS)
    query = query.where(table.c.cursor > after).order_by(table.c.cursor).limit(limit)
    if subscription is not None:
        query = query.where(table.c.subscription == subscription)
    if owner is not None:
        query = query.where(table.c.owner == owner)
    if owner:
        index = "notifications_of_owner" if subscription is None else "notifications_of_subscription"
        query = query.where(OWNED).with_hint(table, f"INDEXED BY {index}", "sqlite")
    return [read_notification(row) for row in connection.execute(query)]


def owned_after(connection: Connection, after: int, limit: int) -> tuple[int, list[tuple[str, Notification]]]:
    """With whose it is. What nobody owns is passed over, maybe by the million: so the cursor up to which it looked."""
    upto = last_cursor(connection)
    if upto <= after:
        return after, []
    table = notifications
    query = select(table.c.owner, *COLUMNS)
    query = query.where(table.c.cursor > after, table.c.cursor <= upto, OWNED).order_by(table.c.cursor).limit(limit)
    found = [(row.owner, read_notification(row)) for row in connection.execute(query)]
    return (found[-1][1].cursor if len(found) == limit else upto), found


def first_cursor(connection: Connection) -> int:
    """Of the oldest notification that is kept; the next one to be given where there is none."""
    found = connection.execute(select(func.min(notifications.c.cursor))).scalar()
    return last_cursor(connection) + 1 if found is None else int(found)


def newest(connection: Connection, subscription: str, owner: str) -> Notification | None:
    table = notifications
    query = select(*COLUMNS)
    query = query.where(table.c.subscription == subscription, table.c.owner == owner, OWNED)
    row = connection.execute(query.order_by(table.c.cursor.desc()).limit(1)).first()
    return None if row is None else read_notification(row)


def detections_of(connection: Connection, dialect: Dialect, ids: Iterable[str]) -> dict[str, Detection]:
    """By id, as notifications name them; those that were removed are left out."""
    named = dialect.find(
        connection, notifications.c.detection, sorted({*ids} - {""}), DETECTED, ("detection", "cursor")
    )
    id_of = {row.cursor: row.detection for row in named}
    return {id_of[row.cursor]: _detection(row.body) for row in dialect.find(connection, detections.c.cursor, [*id_of])}


def _detection(body: str) -> Detection:
    read = json.loads(body)
    return Detection(tuple(read["key"]), Instant(read["time"]), tuple(Constituent(*event) for event in read["events"]))


def read_notification(row: NamedRow) -> Notification:
    return Notification(row.cursor, row.position, row.subscription, Instant(row.stored), row.detection)


def as_table(database: Database, after_position: int) -> Any:
    import pyarrow as pa

    form = pa.schema(list(zip(_PAIR, (pa.int64(), pa.string()), strict=True)))
    return pa.Table.from_batches(_batches(database, after_position, form), form)


def _batches(database: Database, after_position: int, form: Any) -> Iterator[Any]:
    import pyarrow as pa

    with database.reading() as connection:
        for rows in database.dialect.stream(connection, _PAIRS, (after_position,), _ROWS_AT_ONCE):
            positions, ids = zip(*rows, strict=True)
            yield pa.RecordBatch.from_arrays([pa.array(positions, pa.int64()), pa.array(ids)], schema=form)
