"""What whoever runs the service looks at and nobody else asks for: room on the disk, what waits, dead letters."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from sqlalchemy import func, select

from tidings.store.journal import dead_letters
from tidings.store.journal.entries import StoredLetter
from tidings.store.store import Store
from tidings.store.tables import IN_STATE, deliveries


def waiting(store: Store, subscriptions: Collection[str]) -> dict[tuple[str, str], int]:
    """Deliveries that are not done yet, by subscription and owner; a channel without any is left out."""
    key = (deliveries.c.subscription, deliveries.c.owner)
    mine = deliveries.c.subscription.in_(sorted(set(subscriptions))) & IN_STATE["due"]
    with store.database.reading() as connection:
        rows = connection.execute(select(*key, func.count().label("many")).where(mine).group_by(*key))
        return {(row.subscription, row.owner): row.many for row in rows}


def disk_bytes(store: Store) -> int:
    """What the whole store takes, with what SQLite has yet to bring into its file."""
    with store.database.reading() as connection:
        if connection.dialect.name == "postgresql":
            return int(connection.execute(select(func.pg_database_size(func.current_database()))).scalar_one())
    files = (Path(store.database.shown_url + ending) for ending in ("", "-wal"))
    return sum(file.stat().st_size for file in files if file.is_file())


def newest_letters(store: Store, limit: int, before: int | None = None) -> list[StoredLetter]:
    """Dead letters below this number, the last one first."""
    with store.database.reading() as connection:
        return dead_letters.newest(connection, before, limit)
