"""Reading the journal: entries, changes, events as Arrow rows, and where a time lies in it.

Entries never change, so long readings are cut into short ones: no reader holds a transaction open while somebody
works with what it gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, select

from tidings.schema import Instant
from tidings.store.databases.database import Database, Dialect, NamedRow
from tidings.store.journal.entries import EVENTS, Entry
from tidings.store.journal.projections import event_key
from tidings.store.tables import A_CHANGE, A_GROWTH, about, event_keys, journal

_ENTRIES_AT_ONCE = 10_000
_BEYOND = 2**62
_ENTRY = (journal.c.position, journal.c.accepted, journal.c.kind, journal.c.schema_version, journal.c.body)
_EVENT_ROWS = (
    "SELECT position, accepted, watermark, schema_version, body FROM journal "
    "WHERE position > ? AND position <= ? AND kind = 'event' ORDER BY position LIMIT ?"
)


class EventPage(NamedTuple):
    """The events of the positions up to `upto`, from where the reader asked for them."""

    positions: list[int]
    accepted: list[int]
    watermarks: list[int]
    payloads: list[str]
    upto: int


def tail(connection: Connection) -> int:
    return int(connection.execute(select(about.c.tail)).scalar_one())


def complete_from(connection: Connection) -> int:
    """The first position from which on no event was removed."""
    return int(connection.execute(select(about.c.complete_from)).scalar_one())


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


def event_rows(database: Database, after: int, upto: int, rows: int, most_bytes: int) -> Iterator[Any]:
    import pyarrow as pa  # the gateway starts without it

    names = ("position", "accepted", "schema_version", "payload")
    form = pa.schema(list(zip(names, (pa.int64(), pa.int64(), pa.int64(), pa.string()), strict=True)))
    while True:
        with database.reading() as connection:
            page = database.dialect.bounded_page(connection, _EVENT_ROWS, (after, upto, rows), most_bytes)
        if not page:
            return
        positions, accepted, _, versions, payloads = zip(*page, strict=True)
        given = positions, accepted, versions, payloads
        columns = [pa.array(column, field.type) for column, field in zip(given, form, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=form)
        after = columns[0][-1].as_py()


def event_page(database: Database, after: int, upto: int, rows: int, most_bytes: int) -> EventPage:
    """Some events from after a position on: at most so many, and bodies of about so many bytes, but at least one."""
    with database.reading() as connection:
        page = database.dialect.bounded_page(connection, _EVENT_ROWS, (after, upto, rows), most_bytes)
    positions, accepted, watermarks, _, payloads = map(list, zip(*page, strict=True)) if page else ([],) * 5
    size = sum(len(one) if one.isascii() else len(one.encode()) for one in payloads)
    whole = len(page) < rows and size < most_bytes
    return EventPage(positions, accepted, watermarks, payloads, upto if whole else positions[-1])


def before_newest(connection: Connection, count: int) -> int:
    """The position after which the newest so many events stand: other entries may stand among them."""
    query = select(journal.c.position).where(journal.c.kind == "event").order_by(journal.c.position.desc())
    first = connection.execute(query.offset(count - 1).limit(1)).scalar()
    return 0 if first is None else int(first) - 1


def events_at(connection: Connection, dialect: Dialect, positions: Iterable[int]) -> dict[int, str]:
    names = ("position", "kind", "body")
    rows = dialect.find(connection, journal.c.position, sorted(set(positions)), names=names)
    return {row.position: row.body for row in rows if row.kind in EVENTS}


def position_at(connection: Connection, time: Instant) -> int:
    """The first entry accepted at or after the time, by halving: times never decrease along the journal."""
    low, high = 1, tail(connection) + 1
    while low < high:
        middle = (low + high) // 2
        query = select(journal.c.position, journal.c.accepted).where(journal.c.position >= middle)
        found = connection.execute(query.order_by(journal.c.position).limit(1)).first()
        if found is None or found.accepted >= time:
            high = middle
        else:
            low = found.position + 1
    # Where events were removed, the place may have none: the next one that is there.
    there = select(journal.c.position).where(journal.c.position >= low).order_by(journal.c.position).limit(1)
    found_position = connection.execute(there).scalar()
    return tail(connection) + 1 if found_position is None else int(found_position)


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
