"""Notices: what an owner must know about a channel. The outbox and quotas write them, owners read them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select, update

from tidings.schema import Instant
from tidings.store.databases.database import Database
from tidings.store.tables import UNREAD, notices


@dataclass(frozen=True, slots=True)
class Notice:
    """What an owner must know about a channel."""

    number: int
    owner: str
    subscription: str
    text: str
    stored: Instant
    seen: bool


def notices_of(connection: Connection, owner: str, after: int, limit: int) -> list[Notice]:
    query = select(notices).where(notices.c.owner == owner, notices.c.number > after)
    rows = connection.execute(query.order_by(notices.c.number).limit(limit))
    return [
        Notice(row.number, row.owner, row.subscription, row.text, Instant(row.stored), bool(row.seen)) for row in rows
    ]


def see_notices(database: Database, owner: str, upto: int) -> int:
    unread = update(notices).where(notices.c.owner == owner, notices.c.number <= upto, UNREAD)
    with database.writing("outbox") as connection:
        return connection.execute(unread.values(seen=1)).rowcount
