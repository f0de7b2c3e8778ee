"""Reading notifications: by cursor, by owner, by subscription, or all as a table. `commits` stores them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Select, func, select

from tidings.schema import Instant
from tidings.store.databases.database import Database, Dialect, NamedRow
from tidings.store.journal.entries import Constituent, Detection, Notification
from tidings.store.notifications.packs import END, WideCursors
from tidings.store.notifications.progress import last_cursor
from tidings.store.tables import DETECTED, NARROW, OWNED, detections, notifications

COLUMNS = tuple(notifications.c[name] for name in ("cursor", "position", "subscription", "stored", "detection"))
_ROWS_AT_ONCE = 100_000
_PAIR = ("position", "subscription")
# Of plain matches this order is that of the cursors, and the unique index has it.
_PAIRS = (
    "SELECT position, subscription FROM notifications WHERE position > ? AND detection = '' "
    "ORDER BY position, subscription"
)


def after_cursor(
    connection: Connection, dialect: Dialect, after: int, limit: int, subscription: str | None, owner: str | None
) -> list[Notification]:
    """Somebody's are found through an index or in packs. What nobody owns has none, so that the sink need not keep
    it."""
    table = notifications
    if owner:
        return owners_after(connection, dialect, owner, subscription, after, limit)
    query = select(*COLUMNS)
    query = query.where(table.c.cursor > after).order_by(table.c.cursor).limit(limit)
    if subscription is not None:
        query = query.where(table.c.subscription == subscription)
    if owner is not None:
        query = query.where(table.c.owner == owner)
    return [read_notification(row) for row in connection.execute(query)]


def owners_after(
    connection: Connection, dialect: Dialect, owner: str, subscription: str | None, after: int, limit: int
) -> list[Notification]:
    """By cursor, from after this one on."""
    narrow = _narrow(owner, subscription).where(notifications.c.cursor > after)
    found = list(connection.execute(narrow.order_by(notifications.c.cursor).limit(limit)))
    wide = WideCursors(connection, dialect, owner, subscription).upwards(after, limit)
    return _both(connection, dialect, found, wide)[:limit]


def owners_before(
    connection: Connection, dialect: Dialect, owner: str, subscription: str | None, before: int, limit: int,
    after: int = 0,
) -> list[Notification]:  # fmt: skip
    """The newest first: below the one cursor, above the other."""
    narrow = _narrow(owner, subscription).where(notifications.c.cursor < before, notifications.c.cursor > after)
    found = list(connection.execute(narrow.order_by(notifications.c.cursor.desc()).limit(limit)))
    wide = WideCursors(connection, dialect, owner, subscription).downwards(before, limit, after)
    return _both(connection, dialect, found, wide)[::-1][:limit]


def count_of(connection: Connection, dialect: Dialect, owner: str, subscription: str) -> int:
    """All that are kept of a subscription."""
    narrow = select(func.count()).select_from(_narrow(owner, subscription).subquery())
    wide = WideCursors(connection, dialect, owner, subscription).upwards(0, END)
    return int(connection.execute(narrow).scalar_one()) + len(wide)


def _narrow(owner: str, subscription: str | None) -> Select[Any]:
    """Of events that are not wide."""
    table = notifications
    query = select(*COLUMNS).where(table.c.owner == owner, NARROW)
    if subscription is None:
        return query.with_hint(table, "INDEXED BY notifications_of_owner", "sqlite")
    query = query.where(table.c.subscription == subscription)
    return query.with_hint(table, "INDEXED BY notifications_of_subscription", "sqlite")


def _both(connection: Connection, dialect: Dialect, narrow: list[Any], wide: list[int]) -> list[Notification]:
    """In the order of cursors."""
    names = tuple(column.name for column in COLUMNS)
    rows = [*narrow, *dialect.find(connection, notifications.c.cursor, wide, None, names)]
    return sorted((read_notification(row) for row in rows), key=attrgetter("cursor"))


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


def newest(connection: Connection, dialect: Dialect, subscription: str, owner: str) -> Notification | None:
    return next(iter(owners_before(connection, dialect, owner, subscription, END, 1)), None)


def detections_of(connection: Connection, dialect: Dialect, ids: Iterable[str]) -> dict[str, Detection]:
    """By id, as notifications name them; those that were removed are left out."""
    named = dialect.find(
        connection, notifications.c.detection, sorted({*ids} - {""}), DETECTED, ("detection", "cursor")
    )
    id_of = {row.cursor: row.detection for row in named}
    return {id_of[row.cursor]: _detection(row.body) for row in dialect.find(connection, detections.c.cursor, [*id_of])}


def _detection(body: str) -> Detection:
    read = json.loads(body)
    events = tuple(Constituent(*event) for event in read["events"])
    return Detection(tuple(read["key"]), Instant(read["time"]), events, read.get("expired", ""))


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
