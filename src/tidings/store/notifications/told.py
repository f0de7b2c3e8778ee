"""Notices that queries write for owners, in the transaction of what they are about."""

from __future__ import annotations

from sqlalchemy import Connection, select, update

from tidings.schema import Instant
from tidings.store.tables import notices, outbox


def tell(connection: Connection, owner: str, subscription: str, text: str, now: Instant) -> None:
    """`subscription` is '' where it is about all of an owner's."""
    number = connection.execute(select(outbox.c.notice).with_for_update()).scalar_one() + 1
    connection.execute(update(outbox).values(notice=number))
    row = {"number": number, "owner": owner, "subscription": subscription, "text": text}
    connection.execute(notices.insert().values(row | {"stored": int(now), "seen": 0}))
