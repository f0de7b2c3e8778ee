"""Notices as their owner reads them: how many are new, how many of those still hold, a page with the newest
first, one marked as read.

The outbox writes them (`deliveries.results`); all up to a number are marked by `Store.see_notices`.
"""

from __future__ import annotations

from sqlalchemy import func, select, update

from tidings.store.deliveries.notices import Notice, read_notice
from tidings.store.pages.owned import Called
from tidings.store.store import Store
from tidings.store.tables import UNREAD, channels, notices, subscriptions


def unread(store: Store, owner: str) -> int:
    query = select(func.count()).select_from(notices).where(notices.c.owner == owner, UNREAD)
    with store.database.reading() as connection:
        return int(connection.execute(query).scalar_one())


def stopped(store: Store, owner: str, most: int) -> int:
    """Of how many subscriptions the channel is disabled now and the owner has not read why; `most` are counted."""
    same = (channels.c.subscription == notices.c.subscription) & (channels.c.owner == notices.c.owner)
    query = select(notices.c.subscription).distinct().join(channels, same)
    query = query.where(notices.c.owner == owner, UNREAD, channels.c.state == "disabled").limit(most)
    with store.database.reading() as connection:
        return len(connection.execute(query).all())


def newest(store: Store, owner: str, before: int | None, limit: int) -> list[tuple[Notice, Called | None]]:
    """Below this number, where one is given; each with its subscription, None where that was withdrawn."""
    stands = (subscriptions.c.id == notices.c.subscription) & (subscriptions.c.owner == notices.c.owner)
    query = select(notices, subscriptions.c.filter, subscriptions.c.name).join(subscriptions, stands, isouter=True)
    query = query.where(notices.c.owner == owner)
    if before is not None:
        query = query.where(notices.c.number < before)
    with store.database.reading() as connection:
        rows = connection.execute(query.order_by(notices.c.number.desc()).limit(limit)).all()
    return [
        (
            read_notice(row),
            None if row.filter is None else Called(row.subscription, row.filter, row.name),
        )
        for row in rows
    ]


def mark_read(store: Store, owner: str, number: int) -> bool:
    """Whether there was one to mark; another owner's is not."""
    mine = (notices.c.owner == owner) & (notices.c.number == number) & (notices.c.seen == 0)
    with store.database.writing("outbox") as connection:
        return connection.execute(update(notices).where(mine).values(seen=1)).rowcount == 1
