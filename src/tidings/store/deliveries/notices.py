"""Notices: what an owner must know about a channel. The outbox and quotas write them, owners read them.

Of deliveries that fail there is one notice for each channel and cause. It counts them until it is read; what fails
afterwards makes a new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select, update

from tidings.schema import Instant
from tidings.store.databases.database import Database, NamedRow
from tidings.store.tables import UNREAD, UNREAD_FAILURE, notices, outbox


@dataclass(frozen=True, slots=True)
class Notice:
    """What an owner must know about a channel. `cause` is why `count` deliveries failed, the last of them at
    `stored`; it is '' in a notice about something else."""

    number: int
    owner: str
    subscription: str
    text: str
    stored: Instant
    seen: bool
    cause: str = ""
    count: int = 1


def notices_of(connection: Connection, owner: str, after: int, limit: int) -> list[Notice]:
    query = select(notices).where(notices.c.owner == owner, notices.c.number > after)
    rows = connection.execute(query.order_by(notices.c.number).limit(limit))
    return [read_notice(row) for row in rows]


def read_notice(row: NamedRow) -> Notice:
    known = row.number, row.owner, row.subscription, row.text, Instant(row.stored), bool(row.seen)
    return Notice(*known, row.cause, row.failures)


def add_notice(connection: Connection, owner: str, subscription: str, text: str, now: Instant) -> int:
    """Its number."""
    return _insert(connection, {"owner": owner, "subscription": subscription, "text": text, "stored": int(now)})


def add_failures(
    connection: Connection, subscription: str, owner: str, kind: str, causes: Mapping[str, int], now: Instant
) -> None:
    """`causes`: how many deliveries by this kind of channel became dead letters, by why."""
    mine = (notices.c.subscription == subscription) & (notices.c.owner == owner)
    rows = connection.execute(select(notices.c.number, notices.c.cause, notices.c.failures).where(mine, UNREAD_FAILURE))
    unread = {row.cause: row for row in rows}
    for cause, more in causes.items():
        row = unread.get(cause)
        count = more if row is None else row.failures + more
        told = {"text": _failed(kind, cause, count), "stored": int(now), "failures": count}
        if row is None:
            _insert(connection, {"owner": owner, "subscription": subscription, "cause": cause, **told})
        else:
            connection.execute(update(notices).where(notices.c.number == row.number).values(told))


def _insert(connection: Connection, values: dict[str, Any]) -> int:
    number = int(connection.execute(select(outbox.c.notice).with_for_update()).scalar_one()) + 1
    connection.execute(update(outbox).values(notice=number))
    connection.execute(notices.insert().values({**values, "number": number, "seen": 0}))
    return number


def _failed(kind: str, cause: str, count: int) -> str:
    many = "1 delivery" if count == 1 else f"{count:,} deliveries"
    return (
        f"{many} by {kind} failed: {cause.rstrip('.')}. Send {'it' if count == 1 else 'them'} again once this is fixed."
    )


def see_notices(database: Database, owner: str, upto: int) -> int:
    unread = update(notices).where(notices.c.owner == owner, notices.c.number <= upto, UNREAD)
    with database.writing("outbox") as connection:
        return connection.execute(unread.values(seen=1)).rowcount
