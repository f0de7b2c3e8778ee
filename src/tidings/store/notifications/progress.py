"""How far each query over the journal is, and the cursor of the last notification, which all queries share."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, select, update

from tidings.store.tables import A_COMPOSITE, notified, progress, spans

MATCHES = "matches"  # the query that finds plain matches
COMPOSITES = "composites"  # the query that finds detections
IDLE = "idle"  # the `part` of a query that has nothing to do: it holds up nobody
FIRST_BATCH = 5_000  # positions of a batch, while it is not known how much they match


@dataclass(frozen=True, slots=True)
class Place:
    """Everything up to `committed` is stored; of the position after it, what comes up to the subscription `part`.
    `frontier`: of composites, the time up to which everything is known."""

    committed: int = 0
    part: str = ""
    batch_limit: int | None = None
    frontier: int | None = None


def place_of(connection: Connection, query: str) -> Place:
    row = connection.execute(select(progress).where(progress.c.query == query)).first()
    return Place() if row is None else Place(row.committed, row.part, row.batch_limit, row.frontier)


def move(connection: Connection, query: str, place: Place) -> None:
    values = {"committed": place.committed, "part": place.part}
    values |= {"batch_limit": place.batch_limit, "frontier": place.frontier}
    if not connection.execute(update(progress).where(progress.c.query == query).values(values)).rowcount:
        connection.execute(progress.insert().values(query=query, **values))


def committed(connection: Connection, query: str = MATCHES) -> int:
    return place_of(connection, query).committed


def least_committed(connection: Connection) -> int:
    """Up to here every query has stored what it found: what retention may remove. A composite counts from its start on,
    also before its query has begun."""
    busy = select(func.min(progress.c.committed)).where(progress.c.part != IDLE)
    least = int(connection.execute(busy).scalar() or 0)
    found = composites_committed(connection)
    return least if found is None else min(least, found)


def composites_committed(connection: Connection) -> int | None:
    """Up to where composites are done; where their query has yet to begin, up to the first of them. None: there are
    none."""
    done = committed(connection, COMPOSITES)
    if is_busy(connection, COMPOSITES):
        return done
    first = first_composite(connection, done)
    return None if first is None else first - 1


def is_busy(connection: Connection, query: str) -> bool:
    found = connection.execute(select(progress.c.part).where(progress.c.query == query)).scalar()
    return found is not None and found != IDLE


def first_composite(connection: Connection, after: int) -> int | None:
    """Where the first composite starts that is active, or was after this position."""
    table = spans
    living = select(func.min(table.c.start)).where(A_COMPOSITE, (table.c.stop.is_(None)) | (table.c.stop > after))
    return connection.execute(living.with_hint(table, "INDEXED BY spans_of_composites", "sqlite")).scalar()


def end(connection: Connection, query: str) -> None:
    connection.execute(delete(progress).where(progress.c.query == query))


def last_cursor(connection: Connection) -> int:
    return int(connection.execute(select(notified.c.cursor)).scalar_one())
