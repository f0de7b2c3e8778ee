"""Removing what is old, a bounded piece at a time: oldest first, never what somebody may still need.

Of the journal only events and ticks go: those that every query has committed and that are owed to nobody. A tick told
the time once; the watermarks that it raised are in the rows of later events. Notifications follow
their events, and so do the spans that closed before the oldest event that is kept. The keys by which duplicates are
known go by an age of their own, dead letters too. `Retention` calls all this again and again; the file of an SQLite
database does not shrink, its room is used again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, func, literal_column, select, update

from tidings.schema import Instant
from tidings.store.databases.database import Database, Dialect
from tidings.store.journal.event_columns import remove_before
from tidings.store.journal.projections import event_key
from tidings.store.journal.stored_events import EVENTS, complete_from, position_at
from tidings.store.notifications.packs import forget_packs
from tidings.store.notifications.progress import last_cursor, least_committed
from tidings.store.tables import (
    CLOSED,
    IN_STATE,
    about,
    channels,
    dead_letters,
    deliveries,
    detections,
    event_keys,
    expression_errors,
    journal,
    late_events,
    notifications,
    outbox,
    removed_keys,
    spans,
)

_EVENTS_AT_ONCE = 2_000  # so that appenders need not wait long
_BYTES_AT_ONCE = 8 << 20  # of their bodies, which are read for their keys
_REMOVABLE = journal.c.kind.in_((*EVENTS, "tick"))
_UNSPREAD_AT_ONCE = 2_000  # notifications of which it is looked up whether somebody is sent them
_UNSPREAD = (
    "SELECT n.position FROM notifications n CROSS JOIN channels c WHERE n.cursor > ? AND n.cursor <= ? "
    "AND c.subscription = n.subscription AND c.owner = n.owner AND n.cursor > c.since "
    "AND (c.until IS NULL OR n.cursor <= c.until) ORDER BY n.cursor LIMIT 1"
)


class _Named(msgspec.Struct):
    """What a key is made of."""

    id: str
    source: str = ""


_named = msgspec.json.Decoder(_Named).decode


@dataclass(frozen=True, slots=True)
class _Doomed:
    """Events and ticks to remove, and the position up to which none is left to look at."""

    entries: list[Any]  # rows of position, kind and size
    upto: int

    @property
    def events(self) -> list[Any]:
        return [one for one in self.entries if one.kind != "tick"]


def trim(
    database: Database,
    before: Instant | None,
    most_bytes: int | None,
    needed_from: int | None,
    limit: int | None,
) -> int:
    """Removes the oldest events, with the ticks among them, and returns how many events; at most `limit` of both, where
    one is given."""
    removed = looked_at = 0
    while most := _EVENTS_AT_ONCE if limit is None else min(_EVENTS_AT_ONCE, limit - looked_at):
        with database.writing() as connection:
            doomed = _oldest(connection, database.dialect, before, most_bytes, needed_from, most)
            _remove(connection, database.dialect, doomed)
        if not doomed.entries:
            break
        looked_at += len(doomed.entries)
        removed += len(doomed.events)
    return removed


def forget(database: Database, limit: int) -> int:
    """Removes up to `limit` notifications whose events were removed. Positions grow with cursors, so these come first:
    only the rows that go are read, and one more. A detection is as old as the batch that found it."""
    with database.writing() as connection:
        first = complete_from(connection)
        age = func.coalesce(detections.c.known, notifications.c.position).label("position")
        both = notifications.outerjoin(detections, detections.c.cursor == notifications.c.cursor)
        oldest = select(notifications.c.cursor, age).select_from(both).order_by(notifications.c.cursor)
        rows: list[Any] = [*connection.execute(oldest.limit(1))]
        forget_packs(connection, rows[0].cursor if rows else last_cursor(connection) + 1, 4 * limit)
        if rows and rows[0].position < first:
            rows = [*takewhile(lambda row: row.position < first, connection.execute(oldest.limit(limit)))]
            connection.execute(delete(notifications).where(notifications.c.cursor <= rows[-1].cursor))
            connection.execute(delete(detections).where(detections.c.cursor <= rows[-1].cursor))
            connection.execute(delete(late_events).where(late_events.c.position < first))
            return len(rows)
        return 0


def forget_keys(database: Database, before: Instant, limit: int) -> int:
    """Removes up to `limit` keys of events that were accepted before a time and removed: published again, such an
    event is a new one."""
    with database.writing() as connection:
        oldest = select(removed_keys).order_by(removed_keys.c.position).limit(limit)
        rows = [*takewhile(lambda row: row.accepted < before, connection.execute(oldest))]
        if rows:
            keys = event_keys.c.key.in_([row.key for row in rows])
            connection.execute(delete(event_keys).where(keys, event_keys.c.position <= rows[-1].position))
            connection.execute(delete(removed_keys).where(removed_keys.c.position <= rows[-1].position))
        return len(rows)


def forget_spans(database: Database, limit: int) -> int:
    """Removes up to `limit` spans that closed before the oldest event and the oldest notification that are kept. The
    notifications count because a span says whose they are."""
    with database.writing() as connection:
        oldest = select(notifications.c.position).order_by(notifications.c.cursor).limit(1)
        kept = [complete_from(connection), least_committed(connection) + 1, connection.execute(oldest).scalar()]
        bound = min(one for one in kept if one is not None)
        closed = select(spans.c.start).where(CLOSED, spans.c.stop <= bound).order_by(spans.c.stop).limit(limit)
        through_index = closed.with_hint(spans, "INDEXED BY spans_by_stop", "sqlite")
        starts = [*connection.execute(through_index).scalars()]
        if starts:
            connection.execute(delete(spans).where(spans.c.start.in_(starts)))
            connection.execute(delete(expression_errors).where(expression_errors.c.span.in_(starts)))
        return len(starts)


def forget_letters(database: Database, before: Instant, limit: int) -> int:
    """Removes up to `limit` dead letters stored before a time. By number, which is by age."""
    with database.writing("letters") as connection:
        oldest = select(dead_letters.c.number, dead_letters.c.stored).order_by(dead_letters.c.number).limit(limit)
        rows = [*takewhile(lambda row: row.stored < before, connection.execute(oldest))]
        if rows:
            connection.execute(delete(dead_letters).where(dead_letters.c.number <= rows[-1].number))
        return len(rows)


def owed_from(connection: Connection, dialect: Dialect) -> int | None:
    """The first event that a delivery which is not done needs, or a notification that may become one."""
    due = connection.execute(select(func.min(deliveries.c.first_position)).where(IN_STATE["due"])).scalar()
    unspread = _unspread_from(connection, dialect)
    return min((int(one) for one in (due, unspread) if one is not None), default=None)


def _unspread_from(connection: Connection, dialect: Dialect) -> int | None:
    """The first of the next notifications that somebody is to be sent; beyond those, the first one whoever's it is.
    The outbox may be millions behind, and looking all of them up each minute would take seconds."""
    first = connection.execute(select(func.min(channels.c.since))).scalar()
    if first is None:
        return None
    begin = max(first, connection.execute(select(outbox.c.cursor)).scalar_one())
    found = dialect.page(connection, _UNSPREAD, (begin, begin + _UNSPREAD_AT_ONCE))
    if found:
        return int(found[0].position)
    beyond = select(notifications.c.position).where(notifications.c.cursor > begin + _UNSPREAD_AT_ONCE)
    return connection.execute(beyond.order_by(notifications.c.cursor).limit(1)).scalar()


def _oldest(
    connection: Connection,
    dialect: Dialect,
    before: Instant | None,
    most_bytes: int | None,
    needed_from: int | None,
    most: int,
) -> _Doomed:
    # Spreading and replaying wait for this row: nothing becomes owed between the look and the removal.
    connection.execute(select(outbox.c.cursor).with_for_update())
    # The committed position first, then what is owed. On PostgreSQL every statement sees a moment of its own: a batch
    # that is committed between the two must not count as done while its notifications were not seen as owed.
    done = least_committed(connection)
    needed = (needed_from, owed_from(connection, dialect))
    last = min([done, *(one - 1 for one in needed if one is not None)])
    aged = 0 if before is None else position_at(connection, before) - 1
    if most_bytes is None:
        last = min(last, aged)
    row: Any = connection.execute(select(about.c.complete_from, about.c.trimmed, about.c.event_bytes)).one()
    begin = max(row.complete_from - 1, row.trimmed)
    if last <= begin:
        return _Doomed([], begin)
    excess = 0 if most_bytes is None else row.event_bytes - most_bytes
    query = select(journal.c.position, journal.c.kind, literal_column(dialect.body_bytes).label("size")).where(
        journal.c.position > begin, journal.c.position <= last, _REMOVABLE
    )
    found = connection.execute(query.order_by(journal.c.position).limit(most)).all()
    doomed: list[Any] = []
    together = 0
    for one in found:
        together += one.size
        if (one.position > aged and excess <= 0) or (doomed and together > _BYTES_AT_ONCE):
            return _Doomed(doomed, one.position - 1)
        doomed.append(one)
        excess -= one.size if one.kind != "tick" else 0
    return _Doomed(doomed, doomed[-1].position if len(found) == most else last)


def _remove(connection: Connection, dialect: Dialect, doomed: _Doomed) -> None:
    """With `trimmed`, up to where no event is left, a million subscription changes are walked over once."""
    if not doomed.entries:
        connection.execute(update(about).where(about.c.trimmed < doomed.upto).values(trimmed=doomed.upto))
        return
    events, first, last = doomed.events, doomed.entries[0].position, doomed.entries[-1].position
    between, is_event = journal.c.position.between(first, last), journal.c.kind.in_(EVENTS)
    bodies = connection.execute(select(journal.c.position, journal.c.accepted, journal.c.body).where(between, is_event))
    keys = [(row.position, row.accepted, key) for row in bodies if (key := _key(row.body)) is not None]
    dialect.insert(connection, removed_keys, keys)
    connection.execute(delete(journal).where(between, _REMOVABLE))
    values = {
        "complete_from": last + 1,
        "trimmed": doomed.upto,
        "events": about.c.events - len(events),
        "event_bytes": about.c.event_bytes - sum(event.size for event in events),
    }
    connection.execute(update(about).values(values))
    remove_before(connection, last + 1)


def _key(body: str) -> bytes | None:
    """None where the journal was damaged: nobody knows which event this was."""
    try:
        named = _named(body)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return event_key(named.source, named.id)
