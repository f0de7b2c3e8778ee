"""Chunks of matches that workers leave for the sink in the store, where they share no folder with it."""

from __future__ import annotations

from sqlalchemy import delete, select

from tidings.store.databases.database import Database
from tidings.store.tables import staged


def put(database: Database, run: str, chunk: int, body: bytes) -> None:
    """Without a lock: runs have names of their own."""
    with database.adding() as connection:
        connection.execute(staged.insert().values(run=run, chunk=chunk, body=body))


def get(database: Database, run: str, chunk: int) -> bytes | None:
    with database.reading() as connection:
        query = select(staged.c.body).where(staged.c.run == run, staged.c.chunk == chunk)
        body = connection.execute(query).scalar()
    return None if body is None else bytes(body)


def sweep(database: Database, batch: str) -> None:
    """Removes the runs whose names begin so."""
    with database.adding() as connection:
        connection.execute(delete(staged).where(staged.c.run >= batch, staged.c.run < batch + "\U0010ffff"))
