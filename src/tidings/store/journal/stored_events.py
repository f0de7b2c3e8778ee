"""Reading the events of the journal: as Arrow rows, by page, by position, and where a time lies in it. Queries load it,
so it needs little else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from tidings.schema import Instant
from tidings.store.databases.database import Database, Dialect
from tidings.store.tables import about, journal

EVENTS = ("event", "past")  # the kinds of entries that are events
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
