"""Removing what is old: by age or size, oldest first, never what somebody may still need.

Of the journal only events go, and only below what the pipeline has committed and below what is still owed to somebody;
the keys by which duplicates are known stay. Notifications follow their events. Deliveries, those that failed for good
too, go some time after they were done, and notices after they were stored. The file of an SQLite database does not
shrink, the room is used again.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, exists, func, literal_column, select, update

from tidings.schema import Instant
from tidings.store.channels import DUE
from tidings.store.database import Database, Dialect
from tidings.store.held_deliveries import give_up_held
from tidings.store.journal import position_at
from tidings.store.notifications import committed
from tidings.store.tables import (
    about,
    attempts,
    channels,
    deliveries,
    journal,
    notice_mails,
    notices,
    notifications,
    outbox,
    pipeline,
    spans,
    subscriptions,
)

_EVENTS_AT_ONCE = 10_000  # so that appenders need not wait long
_A_DAY = 24 * 60 * 60 * 1_000_000  # microseconds
# In the order of cursors, which is that of positions: the first that is found is the oldest.
_UNSPREAD = (
    "SELECT n.position FROM notifications n CROSS JOIN channels c WHERE n.cursor > ? "
    "AND c.subscription = n.subscription AND c.owner = n.owner AND n.cursor > c.since "
    "AND (c.until IS NULL OR n.cursor <= c.until) ORDER BY n.cursor LIMIT 1"
)


def trim(
    database: Database,
    before: Instant | None,
    most_bytes: int | None,
    needed_from: int | None,
    limit: int | None,
) -> int:
    """How many events were removed; at most `limit`, where one is given."""
    removed = 0
    while True:
        most = _EVENTS_AT_ONCE if limit is None else min(_EVENTS_AT_ONCE, limit - removed)
        with database.writing() as connection:
            # Whoever spreads or replays waits for this row: nothing becomes owed between the look and the removal.
            connection.execute(select(outbox.c.cursor).with_for_update())
            owed = owed_from(connection, database.dialect)
            needed = min((one for one in (needed_from, owed) if one is not None), default=None)
            doomed = _oldest(connection, database.dialect.body_bytes, before, most_bytes, needed, most)
            if doomed:
                _remove(connection, doomed)
        removed += len(doomed)
        if len(doomed) < _EVENTS_AT_ONCE:
            return removed


def forget(database: Database, limit: int) -> int:
    """Removes the oldest notifications whose events were removed. Answers how many; at most `limit`."""
    with database.writing() as connection:
        oldest = select(notifications.c.cursor).where(notifications.c.position < complete_from(connection))
        cursors = list(connection.execute(oldest.order_by(notifications.c.cursor).limit(limit)).scalars())
        if cursors:
            connection.execute(delete(notifications).where(notifications.c.cursor <= cursors[-1]))
        return len(cursors)


def complete_from(connection: Connection) -> int:
    return int(connection.execute(select(about.c.complete_from)).scalar_one())


def owed_from(connection: Connection, dialect: Dialect) -> int | None:
    """The first event that a delivery which is not done needs, or a notification that is to become one."""
    owed = connection.execute(select(func.min(deliveries.c.first_position)).where(deliveries.c.state == DUE)).scalar()
    first = connection.execute(select(func.min(channels.c.since))).scalar()
    if first is None:
        return None if owed is None else int(owed)
    cursor = connection.execute(select(outbox.c.cursor)).scalar_one()
    unspread = dialect.page(connection, _UNSPREAD, (max(cursor, first),))
    return min((one for one in (owed, unspread[0][0] if unspread else None) if one is not None), default=None)


def sweep(database: Database, before: Instant, now: Instant, limit: int) -> int:
    """Gives up deliveries held since before a time; removes deliveries done before it with their attempts, notices
    stored before it, and channels that nothing uses any more; up to `limit` of each. Returns how many deliveries and
    notices."""
    with database.writing("outbox") as connection:
        given_up = give_up_held(connection, database.dialect, before, now, limit)
        old = select(deliveries.c.number).where(deliveries.c.done < int(before))
        numbers = list(connection.execute(old.order_by(deliveries.c.done).limit(limit)).scalars())
        connection.execute(delete(attempts).where(attempts.c.delivery.in_(numbers)))
        connection.execute(delete(deliveries).where(deliveries.c.number.in_(numbers)))
        removed = given_up + len(numbers) + _sweep_notices(connection, before, limit)
        cursor = connection.execute(select(outbox.c.cursor)).scalar_one()
        done, last = connection.execute(select(pipeline.c.committed, pipeline.c.cursor)).one()
        ended = channels.c.until <= cursor
        if cursor >= last:
            of_span = (spans.c.subscription == channels.c.subscription) & (spans.c.owner == channels.c.owner)
            counts = exists().where(of_span, spans.c.stop.is_(None) | (spans.c.stop > done))
            ended |= ~exists().where(subscriptions.c.id == channels.c.subscription) & ~counts
        used = exists().where(
            deliveries.c.subscription == channels.c.subscription, deliveries.c.owner == channels.c.owner
        )
        # A day: it is made before its subscription is posted.
        connection.execute(delete(channels).where(channels.c.changed < int(now) - _A_DAY, ended, ~used))
        return removed


def _sweep_notices(connection: Connection, before: Instant, limit: int) -> int:
    """By number, which is by age: where the first is young, all are."""
    oldest = connection.execute(select(notices.c.number, notices.c.stored).order_by(notices.c.number).limit(limit))
    numbers = [number for number, stored in oldest.all() if stored < before]
    connection.execute(delete(notice_mails).where(notice_mails.c.notice.in_(numbers)))
    connection.execute(delete(notices).where(notices.c.number.in_(numbers)))
    return len(numbers)


def _oldest(
    connection: Connection,
    body_bytes: str,
    before: Instant | None,
    most_bytes: int | None,
    needed_from: int | None,
    most: int,
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
    for position, size in connection.execute(query.order_by(journal.c.position).limit(most)):
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
