"""Removing old deliveries and notices, and channels that nothing uses any more. The outbox calls it every minute, since
only one outbox leads: two would stand in each other's way."""

from __future__ import annotations

from sqlalchemy import Connection, and_, delete, exists, select, tuple_

from tidings.schema import Instant
from tidings.store.databases.database import Database
from tidings.store.notifications.progress import last_cursor, least_committed
from tidings.store.removal.held_deliveries import give_up_held
from tidings.store.tables import (
    CLOSED,
    attempts,
    channels,
    deliveries,
    notice_mails,
    notices,
    outbox,
    spans,
    subscriptions,
)

_A_DAY = 24 * 60 * 60 * 1_000_000  # microseconds
_KEY = tuple_(channels.c.subscription, channels.c.owner)

ChannelKey = tuple[str, str]  # subscription and owner
FIRST: ChannelKey = ("", "")


def sweep(database: Database, before: Instant, now: Instant, limit: int, after: ChannelKey) -> tuple[int, ChannelKey]:
    """Gives up deliveries held since before a time; removes deliveries done before it with their attempts, and notices
    stored before it; looks at the channels after `after` and removes those that nothing uses any more: up to `limit` of
    each. Returns how many deliveries and notices, and the channel to go on after."""
    with database.writing("outbox") as connection:
        given_up = give_up_held(connection, database.dialect, before, now, limit)
        old = select(deliveries.c.number).where(deliveries.c.done < int(before))
        numbers = list(connection.execute(old.order_by(deliveries.c.done).limit(limit)).scalars())
        if numbers:
            connection.execute(delete(attempts).where(attempts.c.delivery.in_(numbers)))
            connection.execute(delete(deliveries).where(deliveries.c.number.in_(numbers)))
        removed = given_up + len(numbers) + _sweep_notices(connection, before, limit)
        return removed, _sweep_channels(connection, now, limit, after)


def _sweep_notices(connection: Connection, before: Instant, limit: int) -> int:
    """By number, which is by age: where the first is young, all are."""
    oldest = connection.execute(select(notices.c.number, notices.c.stored).order_by(notices.c.number).limit(limit))
    numbers = [row.number for row in oldest if row.stored < before]
    if numbers:
        connection.execute(delete(notice_mails).where(notice_mails.c.notice.in_(numbers)))
        connection.execute(delete(notices).where(notices.c.number.in_(numbers)))
    return len(numbers)


def _sweep_channels(connection: Connection, now: Instant, limit: int, after: ChannelKey) -> ChannelKey:
    """A page at a time, in the order of their key: to look at a million of them each minute would take seconds."""
    page = select(channels.c.subscription, channels.c.owner).where(after < _KEY)
    keys = connection.execute(page.order_by(channels.c.subscription, channels.c.owner).limit(limit)).all()
    if not keys:
        return FIRST
    cursor = connection.execute(select(outbox.c.cursor)).scalar_one()
    done, last = least_committed(connection), last_cursor(connection)
    ended = channels.c.until <= cursor
    if cursor >= last:
        owned = and_(subscriptions.c.id == channels.c.subscription, subscriptions.c.owner == channels.c.owner)
        closing = and_(spans.c.subscription == channels.c.subscription, spans.c.owner == channels.c.owner)
        counts = exists().where(CLOSED, spans.c.stop > done, closing)  # its last events are not matched yet
        ended |= ~exists().where(owned) & ~counts
    used = exists().where(deliveries.c.subscription == channels.c.subscription, deliveries.c.owner == channels.c.owner)
    # A day: it is made before its subscription is posted.
    old = channels.c.changed < int(now) - _A_DAY
    connection.execute(delete(channels).where(after < _KEY, tuple(keys[-1]) >= _KEY, old, ended, ~used))
    return tuple(keys[-1]) if len(keys) == limit else FIRST
