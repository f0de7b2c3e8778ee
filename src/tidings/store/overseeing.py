"""What whoever runs the service looks at and nobody else asks for: room on the disk, what waits, dead letters."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import func, select

from tidings.store import dead_letters
from tidings.store.channels import DUE
from tidings.store.entries import StoredLetter
from tidings.store.store import Store
from tidings.store.tables import deliveries


def waiting(store: Store, subscription: str, owner: str) -> int:
    """Deliveries of one channel that are not done yet."""
    mine = (deliveries.c.subscription == subscription) & (deliveries.c.owner == owner) & (deliveries.c.state == DUE)
    with store.database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(deliveries).where(mine)).scalar_one())


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
