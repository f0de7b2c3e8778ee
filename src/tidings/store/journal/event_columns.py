"""Copies of the journal's events by column, for queries: of stretches of positions that have their last entry.

Entries never change, so a copy is right for ever. It is in the database itself: a backup has it or does not, and what
retention removes goes in the same transaction. A stretch that nobody has copied costs a query time, nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, delete, select, text

from tidings.store.tables import event_columns

STRETCH = 4096  # positions; what comes after the last whole stretch is read from the journal itself

_KEEP = text("INSERT INTO event_columns (stretch, name, body) VALUES (:stretch, :name, :body) ON CONFLICT DO NOTHING")

Columns = dict[str, bytes]


def stretch_of(position: int) -> int:
    return (position - 1) // STRETCH


def copied(connection: Connection, first: int, last: int, names: Iterable[str]) -> dict[int, Columns]:
    """Of the stretches from the first to the last those that were copied: their columns of these names, and ''."""
    found: dict[int, Columns] = {}
    query = select(event_columns).where(
        event_columns.c.stretch.between(first, last), event_columns.c.name.in_(["", *names])
    )
    for row in connection.execute(query):
        found.setdefault(row.stretch, {})[row.name] = bytes(row.body)
    return found


def stretches(connection: Connection, first: int, last: int) -> set[int]:
    """Those from the first to the last that were copied."""
    query = select(event_columns.c.stretch).where(event_columns.c.stretch.between(first, last))
    return {*connection.execute(query.where(event_columns.c.name == "")).scalars()}


def keep(connection: Connection, stretch: int, columns: Mapping[str, bytes]) -> None:
    """All columns of a stretch; nothing where another process was quicker."""
    rows = [{"stretch": stretch, "name": name, "body": body} for name, body in columns.items()]
    connection.execute(_KEEP, rows)


def remove_before(connection: Connection, position: int) -> None:
    """The copies of stretches that end before this position."""
    connection.execute(delete(event_columns).where(event_columns.c.stretch < stretch_of(position)))
