"""Subscriptions as they stand, and the spans in which they count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select

from tidings.schema import Instant
from tidings.store.database import Database
from tidings.store.entries import Span, Standing
from tidings.store.tables import spans, subscriptions

_SPANS_AT_ONCE = 10_000


def one(connection: Connection, id: str) -> Standing | None:
    row = connection.execute(select(subscriptions).where(subscriptions.c.id == id)).first()
    return None if row is None else _standing(row)


def listed(connection: Connection, owner: str | None, after: str, limit: int | None) -> list[Standing]:
    query = select(subscriptions).where(subscriptions.c.id > after).order_by(subscriptions.c.id)
    if owner is not None:
        query = query.where(subscriptions.c.owner == owner)
    return [_standing(row) for row in connection.execute(query.limit(limit))]


def count(connection: Connection, owner: str) -> int:
    query = select(func.count()).select_from(subscriptions).where(subscriptions.c.owner == owner)
    return int(connection.execute(query).scalar_one())


def living_spans(database: Database, after: int) -> Iterator[Span]:
    return _spans(database, or_(spans.c.stop.is_(None), spans.c.stop > after))


def opened_spans(database: Database, after: int, upto: int) -> Iterator[Span]:
    return _spans(database, and_(spans.c.start > after, spans.c.start <= upto))


def _spans(database: Database, which: ColumnElement[bool]) -> Iterator[Span]:
    """All of one moment: a stop may be set at any time, so this reading is not cut into several."""
    query = select(spans.c.subscription, spans.c.start, spans.c.stop, spans.c.filter, spans.c.owner)
    query = query.where(which).order_by(spans.c.start)
    with database.reading() as connection, _in_pieces(connection, query) as found:
        for subscription, start, stop, filter, owner in found:
            yield Span(subscription, start, stop, filter, owner)


def _in_pieces(connection: Connection, query: Select[Any]) -> Any:
    return connection.execution_options(yield_per=_SPANS_AT_ONCE).execute(query)


def _standing(row: Any) -> Standing:
    id, owner, filter, state, expiry, delivery, since, span = row
    end = None if expiry is None else Instant(expiry)
    return Standing(id, owner, filter, state, end, delivery, since, span)
