"""Reading the journal: entries and changes; `stored_events` reads its events.

Entries never change, so long readings are cut into short ones: no reader holds a transaction open while somebody
works with what it gave.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, Select, select

from tidings.schema import Instant
from tidings.store.databases.database import Database, NamedRow
from tidings.store.journal.entries import Entry
from tidings.store.journal.projections import event_key
from tidings.store.tables import A_CHANGE, A_GROWTH, event_keys, journal

_ENTRIES_AT_ONCE = 10_000
_BEYOND = 2**62
_ENTRY = (journal.c.position, journal.c.accepted, journal.c.kind, journal.c.schema_version, journal.c.body)


def position_of(connection: Connection, source: str, id: str) -> int | None:
    query = select(event_keys.c.position).where(event_keys.c.key == event_key(source, id))
    return connection.execute(query).scalar()


def fingerprint(connection: Connection, position: int) -> str:
    query = select(journal.c.accepted, journal.c.body).where(journal.c.position == position)
    row: Any = connection.execute(query).first()
    return "" if row is None else blake2b(f"{row.accepted} {row.body}".encode(), digest_size=16).hexdigest()


def next_change(connection: Connection, after: int) -> int | None:
    query = _changes(select(journal.c.position), after).limit(1)
    return connection.execute(query).scalar()


def changes(database: Database, after: int, upto: int | None) -> Iterator[Entry]:
    return _pages(database, after, upto, only_changes=True)


def entries(database: Database, after: int, upto: int | None) -> Iterator[Entry]:
    return _pages(database, after, upto, only_changes=False)


def _pages(database: Database, after: int, upto: int | None, only_changes: bool) -> Iterator[Entry]:
    while True:
        query = _changes(select(*_ENTRY), after) if only_changes else _all(select(*_ENTRY), after)
        query = query.where(journal.c.position <= (_BEYOND if upto is None else upto))
        with database.reading() as connection:
            page = connection.execute(query.limit(_ENTRIES_AT_ONCE)).all()
        yield from map(_entry, page)
        if len(page) < _ENTRIES_AT_ONCE:
            return
        after = page[-1].position


def _all(query: Select[Any], after: int) -> Select[Any]:
    return query.where(journal.c.position > after).order_by(journal.c.position)


def _changes(query: Select[Any], after: int) -> Select[Any]:
    """Through the partial index; SQLite without statistics would rather walk over all events."""
    through_index = query.with_hint(journal, "INDEXED BY journal_changes", "sqlite")
    return _all(through_index, after).where(A_CHANGE, journal.c.kind != "past")


def growth_before(connection: Connection, before: int | None, count: int) -> list[Entry]:
    """The newest changes of the schema below this position, the newest first."""
    query = select(*_ENTRY).with_hint(journal, "INDEXED BY journal_growth", "sqlite")
    query = query.where(A_GROWTH, journal.c.position < (before or _BEYOND))
    rows = connection.execute(query.order_by(journal.c.position.desc()).limit(count)).all()
    return [_entry(row) for row in rows]


def _entry(row: NamedRow) -> Entry:
    return Entry(row.position, Instant(row.accepted), row.kind, row.schema_version, row.body)
