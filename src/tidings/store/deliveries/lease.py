"""Who may send: one outbox at a time, for as long as it renews its lease. Every write of an outbox asks first."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select, update

from tidings.store.clock.clock_guard import ClockGuard
from tidings.store.databases.database import Database
from tidings.store.errors import LeaseLost
from tidings.store.tables import outbox

LONGEST = 300.0  # seconds


def take_lease(database: Database, clock: ClockGuard, holder: str, seconds: float) -> bool:
    """Takes a lease that has run out, or renews one's own, by the store's time; for 0 seconds, gives it back.

    One that runs longer than any lease may was taken while the clock was wrong, and does not count.
    """
    with database.writing("outbox") as connection:
        reading = clock.read(connection)
        row: Any = connection.execute(select(outbox.c.holder, outbox.c.until)).one()
        left = row.until - reading.now
        is_possible = left <= _microseconds(LONGEST) or not reading.is_right
        if row.holder != holder and left > 0 and is_possible:
            return False
        until = reading.now + _microseconds(min(seconds, LONGEST))
        connection.execute(update(outbox).values(holder=holder, until=until))
        clock.keep(connection, reading)
        return True


def check_lease(connection: Connection, holder: str) -> None:
    """The fence: whoever was taken for dead and comes back writes nothing. One that ran out, but that nobody else has
    taken, still holds. Raises LeaseLost."""
    found = connection.execute(select(outbox.c.holder)).scalar_one()
    if found != holder:
        raise LeaseLost(holder, found)


def _microseconds(seconds: float) -> int:
    return int(seconds * 1_000_000)
