"""What composites wait for, as their query's tasks read it, and whether time alone would change something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, delete, or_, select

from tidings.store.databases.database import Dialect, NamedRow
from tidings.store.journal.entries import Span
from tidings.store.notifications.progress import COMPOSITES, committed, is_busy
from tidings.store.tables import about, composite_states, early_matches, late_events

_DUE = "SELECT key, shard, due, body, forget FROM composite_states WHERE shard = ? AND due <= ? AND due IS NOT NULL"
_EARLY = "FROM early_matches WHERE shard = ? AND second <= ? AND position <= ?"
_BODIES = f"SELECT body {_EARLY} ORDER BY second, position"
_SIZE = f"SELECT COALESCE(SUM(LENGTH(body)), 0) AS size {_EARLY}"
# Looked up one by one: joins without statistics read all spans, and all that ever moved in.
_MOVED_IN = "(SELECT m.opened FROM network_moved_in m WHERE m.start = s.start LIMIT 1)"
_ACCEPTED = "(SELECT j.accepted FROM journal j WHERE j.position = s.start)"
_COLUMNS = f"s.subscription, s.start, s.stop, s.filter, s.owner, COALESCE({_MOVED_IN}, {_ACCEPTED}) AS opened"
_LIVING = (
    f"SELECT {_COLUMNS} FROM spans s "
    "WHERE s.composite AND s.start <= ? AND (s.stop IS NULL OR s.stop > ?) ORDER BY s.start"
)
_OPENED = f"SELECT {_COLUMNS} FROM spans s WHERE s.composite AND s.start > ? AND s.start <= ? ORDER BY s.start"
_CLOSED = "SELECT start, stop FROM spans WHERE composite AND stop IS NOT NULL AND stop > ? AND stop <= ? ORDER BY stop"
_DUE_AT_ALL = "SELECT due FROM composite_states WHERE shard = ? AND due < ? AND due IS NOT NULL LIMIT 1"
_SECOND = 1_000_000  # microseconds
EARLY = 100_000  # microseconds: matches that wait for their time are kept together by such spans
SHARDS = 16  # into which the keys of composites fall; stored states and matches know theirs


class State(NamedTuple):
    """Of one composite for one key. `due`: when time alone changes it, in microseconds; `forget`: when it is dropped
    without a look, since until then only an event can change it."""

    key: str
    shard: int
    due: int | None
    body: str
    forget: int | None = None


class LateEvent(NamedTuple):
    position: int
    late_by: int  # microseconds


class CompositeProgress(NamedTuple):
    """The position up to which composites have found everything, and how many events ever came too late for them."""

    committed: int
    late: int


@dataclass(frozen=True, slots=True)
class CompositeSpan:
    """The span of a composite, and when it was opened, here or where it moved from, in microseconds."""

    span: Span
    opened: int


def due_states(connection: Connection, dialect: Dialect, shard: int, until: int) -> list[State]:
    return [State(*row) for row in dialect.page(connection, _DUE, (shard, until))]


def states_of(connection: Connection, dialect: Dialect, keys: Iterable[str]) -> list[State]:
    return [State(*row) for row in dialect.find(connection, composite_states.c.key, sorted(keys))]


def early_bodies(connection: Connection, dialect: Dialect, shard: int, span: int, upto: int) -> Iterator[str]:
    """One by one, of the batches up to a position."""
    for rows in dialect.stream(connection, _BODIES, (shard, span, upto), 1):
        yield from (body for (body,) in rows)


def early_size(connection: Connection, dialect: Dialect, shard: int, span: int, upto: int) -> int:
    """How many characters they have together."""
    return int(dialect.page(connection, _SIZE, (shard, span, upto))[0].size)


def living_composites(connection: Connection, dialect: Dialect, after: int, upto: int) -> list[CompositeSpan]:
    """Those that start up to a position and are open, or stop after another."""
    return [_span(row) for row in dialect.page(connection, _LIVING, (upto, after))]


def opened_composites(connection: Connection, dialect: Dialect, after: int, upto: int) -> list[CompositeSpan]:
    return [_span(row) for row in dialect.page(connection, _OPENED, (after, upto))]


def closed_composites(connection: Connection, dialect: Dialect, after: int, upto: int) -> dict[int, int]:
    """The stops of the spans, by their starts, that stop in (after, upto]."""
    return {row.start: row.stop for row in dialect.page(connection, _CLOSED, (after, upto))}


def bodies_of(connection: Connection, start: int, limit: int, now: int) -> list[str]:
    """The states of the composite that starts at this position, of as many of its keys, that are not over now."""
    key, forget = composite_states.c.key, composite_states.c.forget
    query = select(composite_states.c.body).where(key >= f'["{start}"', key < f'["{start}#')
    query = query.where(or_(forget.is_(None), forget > now))
    return list(connection.execute(query.limit(limit)).scalars())


def clear(connection: Connection) -> None:
    """When there are no composites any more: what still waits is of none."""
    connection.execute(delete(early_matches))
    connection.execute(delete(composite_states))


def composite_progress(connection: Connection) -> CompositeProgress | None:
    """None while there are no composites."""
    if not is_busy(connection, COMPOSITES):
        return None
    return CompositeProgress(committed(connection, COMPOSITES), connection.execute(select(about.c.late)).scalar_one())


def late_after(connection: Connection, after: int, limit: int) -> list[LateEvent]:
    query = select(late_events).where(late_events.c.position > after).order_by(late_events.c.position).limit(limit)
    return [LateEvent(row.position, row.late_by) for row in connection.execute(query)]


def waits_for_time(connection: Connection, dialect: Dialect, now: int, lateness: int) -> bool:
    """Whether nothing was accepted for a second, and the time until now would tell composites something."""
    if now - connection.execute(select(about.c.accepted)).scalar_one() < _SECOND:
        return False
    if connection.execute(select(early_matches.c.shard).limit(1)).first() is not None:
        return True
    return any(dialect.page(connection, _DUE_AT_ALL, (shard, now - lateness)) for shard in range(SHARDS))


def _span(row: NamedRow) -> CompositeSpan:
    span = Span(row.subscription, row.start, row.stop, row.filter, row.owner, composite=True)
    return CompositeSpan(span, row.opened)
