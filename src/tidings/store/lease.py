"""Leases: one outbox sends at a time, and one pipeline matches, for as long as it renews its lease. Others wait.

Every write of an outbox checks its lease first. A pipeline's writes need no such check: the sink tells by position what
is stored already, so two that run for a moment store nothing twice. Only a query of Spark Connect, which may outlive
its client, looks before each batch, and ends."""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import Connection, select, update

from tidings.store.clock.clock_guard import ClockGuard
from tidings.store.databases.database import Database
from tidings.store.errors import LeaseLost
from tidings.store.tables import leases

LONGEST = 300.0  # seconds
Leased = Literal["outbox", "pipeline"]


def take_lease(database: Database, clock: ClockGuard, name: Leased, holder: str, seconds: float) -> str:
    """Takes a lease that has run out, or renews one's own, by the store's time; for 0 seconds, gives it back. Returns
    who holds it now.

    One that runs longer than any lease may was taken while the clock was wrong, and does not count.
    """
    mine = leases.c.name == name
    with database.writing(name) as connection:
        reading = clock.read(connection)
        row: Any = connection.execute(select(leases.c.holder, leases.c.until).where(mine)).one()
        left = row.until - reading.now
        is_possible = left <= _microseconds(LONGEST) or not reading.is_right
        if row.holder != holder and left > 0 and is_possible:
            return str(row.holder)
        until = reading.now + _microseconds(min(seconds, LONGEST))
        connection.execute(update(leases).where(mine).values(holder=holder, until=until))
        clock.keep(connection, reading)
        return holder


def check_lease(connection: Connection, name: Leased, holder: str) -> None:
    """The fence: whoever was taken for dead and comes back writes nothing. One that ran out, but that nobody else has
    taken, still holds. Raises LeaseLost."""
    found = connection.execute(select(leases.c.holder).where(leases.c.name == name)).scalar_one()
    if found != holder:
        raise LeaseLost(name, holder, found)


def _microseconds(seconds: float) -> int:
    return int(seconds * 1_000_000)
