"""How far each query over the journal is, and the cursor of the last notification, which all queries share."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select, update

from tidings.store.tables import notified, progress

MATCHES = "matches"  # the query that finds plain matches
FIRST_BATCH = 5_000  # positions of a batch, while it is not known how much they match


@dataclass(frozen=True, slots=True)
class Place:
    """Everything up to `committed` is stored; of the position after it, what comes up to the subscription `part`."""

    committed: int = 0
    part: str = ""
    batch_limit: int | None = None


def place_of(connection: Connection, query: str) -> Place:
    row = connection.execute(select(progress).where(progress.c.query == query)).first()
    return Place() if row is None else Place(row.committed, row.part, row.batch_limit)


def move(connection: Connection, query: str, place: Place) -> None:
    values = {"committed": place.committed, "part": place.part, "batch_limit": place.batch_limit}
    if not connection.execute(update(progress).where(progress.c.query == query).values(values)).rowcount:
        connection.execute(progress.insert().values(query=query, **values))


def committed(connection: Connection, query: str = MATCHES) -> int:
    return place_of(connection, query).committed


def least_committed(connection: Connection) -> int:
    """Up to here every query has stored what it found: what retention may remove."""
    return int(connection.execute(select(func.min(progress.c.committed))).scalar() or 0)


def last_cursor(connection: Connection) -> int:
    return int(connection.execute(select(notified.c.cursor)).scalar_one())
