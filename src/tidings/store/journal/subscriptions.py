"""Subscriptions as they stand, and the spans in which they count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import merge
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Select, func, select

from tidings.store.databases.database import Database, Dialect, NamedRow
from tidings.store.journal import stored_events
from tidings.store.journal.entries import Span, Standing
from tidings.store.journal.projections import read_standing
from tidings.store.tables import CLOSED, OPEN, spans, subscription_counts, subscriptions

_SPANS_AT_ONCE = 10_000
_SPAN = select(spans)


def one(connection: Connection, id: str) -> Standing | None:
    row = connection.execute(select(subscriptions).where(subscriptions.c.id == id)).first()
    return None if row is None else read_standing(row)


def listed(connection: Connection, owner: str | None, after: str, limit: int | None) -> list[Standing]:
    query = select(subscriptions).where(subscriptions.c.id > after).order_by(subscriptions.c.id)
    if owner is not None:
        query = query.where(subscriptions.c.owner == owner)
    return [read_standing(row) for row in connection.execute(query.limit(limit))]


def mentioning(connection: Connection, part: str) -> list[Standing]:
    """Those with this part in their text; `%` and `_` mean what they mean to LIKE."""
    query = select(subscriptions).where(subscriptions.c.filter.like(f"%{part}%"))
    return [read_standing(row) for row in connection.execute(query)]


def some(connection: Connection, dialect: Dialect, ids: Iterable[str]) -> list[Standing]:
    return [read_standing(row) for row in dialect.find(connection, subscriptions.c.id, sorted(set(ids)))]


def names(connection: Connection, dialect: Dialect, ids: Iterable[str]) -> dict[tuple[str, str], str]:
    """The names of those that stand and have one, by id and owner: an id may have had several owners."""
    columns = ("id", "owner", "name")
    rows = dialect.find(connection, subscriptions.c.id, sorted(set(ids)), names=columns)
    return {(row.id, row.owner): row.name for row in rows if row.name}


def count(connection: Connection, owner: str) -> int:
    """Of nobody's there may be millions, which are really counted."""
    if owner:
        known = select(subscription_counts.c.subscriptions).where(subscription_counts.c.owner == owner)
        return connection.execute(known).scalar() or 0
    query = select(func.count()).select_from(subscriptions).where(subscriptions.c.owner == owner)
    return int(connection.execute(query).scalar_one())


def living_spans(database: Database, after: int, composite: bool | None) -> Iterator[Span]:
    """Those that are open or stop after this position, by start, as they are at the moment of the first look.
    `composite`: only these, or only the others.

    Read in pages, so that no transaction stays open while somebody works with them. What changes meanwhile is set
    right: a span that closes is given as open, since its stop lies beyond the tail of that moment, and one that opens
    is left out. Whoever follows the journal hears of both at their positions.
    """
    with database.reading() as connection:
        tail = stored_events.tail(connection)
        closed = _starts(connection, after, tail)
    return merge(
        _closed_spans(database, closed, composite), _open_spans(database, tail, composite), key=attrgetter("start")
    )


def _read_span(row: NamedRow) -> Span:
    return Span(row.subscription, row.start, row.stop, row.filter, row.owner, bool(row.composite))


def _of_kind(composite: bool | None) -> Select[Any]:
    return _SPAN if composite is None else _SPAN.where(spans.c.composite == composite)


def _starts(connection: Connection, after: int, upto: int) -> list[int]:
    """Of the spans that stop in (after, upto]: numbers alone, so that a million of them take 40 MB."""
    query = select(spans.c.start).where(CLOSED, spans.c.stop > after, spans.c.stop <= upto)
    return sorted(connection.execute(query.with_hint(spans, "INDEXED BY spans_by_stop", "sqlite")).scalars())


def _closed_spans(database: Database, starts: list[int], composite: bool | None) -> Iterator[Span]:
    for begin in range(0, len(starts), _SPANS_AT_ONCE):
        some = starts[begin : begin + _SPANS_AT_ONCE]
        with database.reading() as connection:
            rows = sorted(database.dialect.find(connection, spans.c.start, some), key=attrgetter("start"))
        yield from (span for span in map(_read_span, rows) if composite in (None, span.composite))


def _open_spans(database: Database, tail: int, composite: bool | None) -> Iterator[Span]:
    """Those that were open when the journal ended at this position. A page has the spans that are open now, and those
    that have closed since."""
    after, chosen = 0, _of_kind(composite)
    while True:
        still = chosen.where(OPEN, spans.c.start > after, spans.c.start <= tail).order_by(spans.c.start)
        still = still.limit(_SPANS_AT_ONCE).with_hint(spans, "INDEXED BY spans_open", "sqlite")
        with database.reading() as connection:
            rows = list(connection.execute(still).all())
            last = rows[-1].start if len(rows) == _SPANS_AT_ONCE else tail
            since = chosen.where(CLOSED, spans.c.stop > tail).with_hint(spans, "INDEXED BY spans_by_stop", "sqlite")
            rows += [row for row in connection.execute(since) if after < row.start <= last]
        for row in sorted(rows, key=attrgetter("start")):
            yield replace(_read_span(row), stop=None)
        if last == tail:
            return
        after = last


def opened_spans(database: Database, after: int, upto: int) -> Iterator[Span]:
    while True:
        query = _SPAN.where(spans.c.start > after, spans.c.start <= upto).order_by(spans.c.start)
        with database.reading() as connection:
            rows = connection.execute(query.limit(_SPANS_AT_ONCE)).all()
        for row in rows:
            yield _read_span(row)
        if len(rows) < _SPANS_AT_ONCE:
            return
        after = rows[-1].start
