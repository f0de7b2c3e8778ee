"""A trial whether the store can be written: for `/readyz`, after a write has failed."""

from __future__ import annotations

from sqlalchemy import delete

from tidings.store.databases.database import Database
from tidings.store.tables import journal, kept_responses

_SIZE = 1 << 18  # bytes: as much as the largest event unless set
_KEY = b"trial write"
_BEYOND = 2**62  # a position after every other; nobody sees it, since it is gone when the transaction ends


def try_write(database: Database) -> None:
    """Finds a full disk by its size, and a damaged journal by writing at its end. Raises StoreError."""
    body = "x" * _SIZE
    trial = kept_responses.c.key == _KEY
    with database.writing("responses") as connection:
        connection.execute(delete(kept_responses).where(trial))
        values = {"key": _KEY, "request": b"", "status": 0, "body": body, "stored": 0}  # so old that any sweep takes it
        connection.execute(kept_responses.insert().values(values))
    with database.writing("journal") as connection:
        entry = {"position": _BEYOND, "accepted": 0, "kind": "event", "schema_version": 0, "body": body}
        connection.execute(journal.insert().values(entry))
        connection.execute(delete(journal).where(journal.c.position == _BEYOND))
    with database.writing("responses") as connection:
        connection.execute(delete(kept_responses).where(trial))
