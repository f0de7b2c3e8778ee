"""What people look at and programs do not ask for: the newest first, a page at a time, of one owner; and the pulse."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from tidings.schema import Instant
from tidings.store.entries import Notification, Standing
from tidings.store.journal import events_at
from tidings.store.notifications import last_cursor
from tidings.store.store import Store
from tidings.store.tables import OWNED, about, journal, notifications, parcels, pipeline, spans, subscriptions

BINS = 24
PERIOD = 3_600_000_000  # microseconds that a sparkline shows
_PIECES = 16  # into which a search by time is cut
_MOST_DRAWN = 2_000  # notifications of one subscription that a sparkline counts
_TABLE = notifications
_NOTIFICATION = (_TABLE.c.cursor, _TABLE.c.position, _TABLE.c.subscription, _TABLE.c.stored)


@dataclass(frozen=True, slots=True)
class Seen:
    """An event as a page shows it; `event` is None where it was removed since."""

    position: int
    event: dict[str, Any] | None
    accepted: Instant | None = None


@dataclass(frozen=True, slots=True)
class Match:
    notification: Notification
    seen: Seen


def matches(
    store: Store, owner: str, subscription: str | None, before: int | None, limit: int, after: int = 0
) -> list[Match]:
    """Of one owner, or of one subscription of his, newest first; below the one cursor, above the other."""
    query = select(*_NOTIFICATION).where(_TABLE.c.owner == owner, OWNED, _TABLE.c.cursor > after)
    index = "notifications_of_owner"
    if subscription is not None:
        query = query.where(_TABLE.c.subscription == subscription)
        index = "notifications_of_subscription"
    if before is not None:
        query = query.where(_TABLE.c.cursor < before)
    query = query.order_by(_TABLE.c.cursor.desc()).limit(limit).with_hint(_TABLE, f"INDEXED BY {index}", "sqlite")
    with store.database.reading() as connection:
        rows = connection.execute(query).all()
        found = [Notification(cursor, at, id, Instant(stored)) for cursor, at, id, stored in rows]
        events = events_at(connection, store.database.dialect, {one.position for one in found})
    return [Match(one, Seen(one.position, _decoded(events.get(one.position)))) for one in found]


@dataclass(frozen=True, slots=True)
class FoundEvent:
    """One event with all of the owner's subscriptions that found it: id and filter."""

    seen: Seen
    stored: Instant
    found_by: tuple[tuple[str, str], ...]


def found_events(store: Store, owner: str, limit: int) -> list[FoundEvent]:
    """The newest; an event that several subscriptions found stands once."""
    by_position: dict[int, list[Match]] = {}
    for match in matches(store, owner, None, None, limit * 4):
        by_position.setdefault(match.seen.position, []).append(match)
    shown = list(by_position.values())[:limit]
    ids = {match.notification.subscription for group in shown for match in group}
    query = select(subscriptions.c.id, subscriptions.c.filter).where(
        subscriptions.c.id.in_(sorted(ids)), subscriptions.c.owner == owner
    )
    with store.database.reading() as connection:
        filters: dict[str, str] = dict(connection.execute(query).all())
    return [
        FoundEvent(
            group[0].seen,
            group[0].notification.stored,
            tuple(
                (one.notification.subscription, filters.get(one.notification.subscription, "withdrawn"))
                for one in group
            ),
        )
        for group in shown
    ]


def matched_at(store: Store, owner: str, position: int) -> list[str]:
    """The owner's subscriptions that the event at this position matched."""
    query = select(_TABLE.c.subscription).where(_TABLE.c.position == position, _TABLE.c.owner == owner)
    with store.database.reading() as connection:
        return list(connection.execute(query.order_by(_TABLE.c.subscription).limit(100)).scalars())


def newest_events(store: Store, limit: int) -> list[Seen]:
    query = select(journal.c.position, journal.c.accepted, journal.c.body).where(journal.c.kind == "event")
    with store.database.reading() as connection:
        rows = connection.execute(query.order_by(journal.c.position.desc()).limit(limit)).all()
    return [Seen(position, _decoded(body), Instant(accepted)) for position, accepted, body in rows]


def owned(store: Store, owner: str, before: int | None, limit: int, state: str = "", text: str = "") -> list[Standing]:
    """Subscriptions that stand, the youngest first; `before` is the `since` of the last one seen."""
    query = select(subscriptions).where(subscriptions.c.owner == owner)
    if before is not None:
        query = query.where(subscriptions.c.since < before)
    if state:
        query = query.where(subscriptions.c.state == state)
    if text:
        query = query.where(subscriptions.c.filter.contains(text, autoescape=True))
    with store.database.reading() as connection:
        rows = connection.execute(query.order_by(subscriptions.c.since.desc()).limit(limit)).all()
    return [
        Standing(id, by, filter, now, None if expiry is None else Instant(expiry), delivery, since, span)
        for id, by, filter, now, expiry, delivery, since, span in rows
    ]


def filter_at(store: Store, subscription: str, owner: str, position: int) -> str | None:
    """The filter that counted when the event at this position was matched."""
    query = select(spans.c.filter).where(
        spans.c.subscription == subscription, spans.c.owner == owner, OWNED, spans.c.start <= position
    )
    with store.database.reading() as connection:
        found: str | None = connection.execute(query.order_by(spans.c.start.desc()).limit(1)).scalar()
    return found


def sparks(store: Store, owner: str, ids: Sequence[str], now: Instant) -> dict[str, list[int]]:
    """For each subscription its matches of the last hour, in equal parts of it."""
    if not ids:
        return {}
    width = PERIOD // BINS
    with store.database.reading() as connection:
        last = last_cursor(connection)
        edges = _edges(connection, [int(now) - PERIOD + width * place for place in range(BINS)], last)
        return {id: _binned(connection, id, owner, edges) for id in ids}


def _edges(connection: Connection, times: Sequence[int], last: int) -> list[int]:
    """For each time the first cursor stored at or after it. Times grow with cursors: all are looked for together, in
    ever smaller stretches, each cut into so many pieces by one question."""
    lows, highs = [1] * len(times), [last + 1] * len(times)
    while any(low < high for low, high in zip(lows, highs, strict=True)):
        cuts = [_cuts(low, high) for low, high in zip(lows, highs, strict=True)]
        query = select(_TABLE.c.cursor, _TABLE.c.stored).where(_TABLE.c.cursor.in_(sorted(set().union(*cuts))))
        stored: dict[int, int] = dict(connection.execute(query).all())
        for place, time in enumerate(times):
            for cut in cuts[place]:
                if stored.get(cut, time) >= time:
                    highs[place] = cut
                    break
                lows[place] = cut + 1
    return lows


def _cuts(low: int, high: int) -> list[int]:
    """Up to `_PIECES` cursors of [low, high), evenly spread."""
    step = max(1, (high - low) // _PIECES)
    return list(range(low + step - 1, high, step))[:_PIECES] if low < high else []


def _binned(connection: Connection, id: str, owner: str, edges: list[int]) -> list[int]:
    query = select(_TABLE.c.cursor).where(_TABLE.c.subscription == id, _TABLE.c.owner == owner, OWNED)
    query = query.where(_TABLE.c.cursor >= edges[0]).order_by(_TABLE.c.cursor.desc()).limit(_MOST_DRAWN)
    query = query.with_hint(_TABLE, "INDEXED BY notifications_of_subscription", "sqlite")
    cursors = sorted(connection.execute(query).scalars())
    starts = [bisect_left(cursors, edge) for edge in edges] + [len(cursors)]
    return [after - before for before, after in pairwise(starts)]


def parcels_made(store: Store, subscription: str, owner: str, begin: Instant, end: Instant) -> list[int]:
    """The numbers of a subscription's deliveries that were made in this time, both ends included."""
    mine = (parcels.c.subscription == subscription) & (parcels.c.owner == owner)
    query = select(parcels.c.number).where(mine, parcels.c.created.between(int(begin), int(end)))
    with store.database.reading() as connection:
        return list(connection.execute(query).scalars())


def signed(store: Store, owner: str, after: str, limit: int) -> list[tuple[str, str]]:
    """The owner's subscriptions that go to webhooks, as id and filter, after this id."""
    query = select(subscriptions.c.id, subscriptions.c.filter).where(
        subscriptions.c.owner == owner, subscriptions.c.id > after, subscriptions.c.delivery == "webhook"
    )
    with store.database.reading() as connection:
        rows = connection.execute(query.order_by(subscriptions.c.id).limit(limit)).all()
    return [(id, filter) for id, filter in rows]


@dataclass(frozen=True, slots=True)
class Growth:
    """How far everything is; `complete_from` moves when old events are removed."""

    tail: int
    events: int
    complete_from: int
    matches: int
    lag: int


def growth(store: Store) -> Growth:
    """Of `figures` what can be asked every other second: nothing is counted."""
    with store.database.reading() as connection:
        tail, events, first = connection.execute(select(about.c.tail, about.c.events, about.c.complete_from)).one()
        committed, cursor = connection.execute(select(pipeline.c.committed, pipeline.c.cursor)).one()
    return Growth(tail, events, first, cursor, max(0, tail - committed))


def _decoded(body: str | None) -> dict[str, Any] | None:
    return None if body is None else msgspec.json.decode(body, type=dict[str, Any])
