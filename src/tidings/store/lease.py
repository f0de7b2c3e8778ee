"""Who may send: one outbox at a time, for as long as it renews its lease. Every write of an outbox asks first."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select, update

from tidings.schema import Instant
from tidings.store.database import Database
from tidings.store.errors import LeaseLost
from tidings.store.tables import outbox


def take_lease(database: Database, holder: str, until: Instant, now: Instant) -> bool:
    """Takes it where it has run out, or renews one's own; a time that has passed gives it back."""
    with database.writing("outbox") as connection:
        row: Any = connection.execute(select(outbox.c.holder, outbox.c.until)).one()
        if row.holder != holder and row.until > now:
            return False
        connection.execute(update(outbox).values(holder=holder, until=int(until)))
        return True


def check_lease(connection: Connection, holder: str) -> None:
    """The fence: whoever was taken for dead and comes back writes nothing. One that ran out, but that nobody else has
    taken, still holds. Raises LeaseLost."""
    found = connection.execute(select(outbox.c.holder)).scalar_one()
    if found != holder:
        raise LeaseLost(holder, found)
