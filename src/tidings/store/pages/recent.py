"""What people look at and programs do not ask for: the newest first, a page at a time, of one owner."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Connection, Integer, Select, bindparam, func, select

from tidings.schema import Instant
from tidings.store.journal.entries import Notification
from tidings.store.journal.stored_events import events_at
from tidings.store.notifications.notifications import first_cursor, owners_before
from tidings.store.notifications.packs import END, WideCursors
from tidings.store.notifications.progress import last_cursor
from tidings.store.pages.owned import Called, called_by
from tidings.store.store import Store
from tidings.store.tables import NARROW, OWNED, deliveries, notifications, spans

BINS = 24
PERIOD = 3_600_000_000  # microseconds that a sparkline shows
_PIECES = 16  # into which a search by time is cut
MOST_IN_BIN = 2_000  # matches that one part of a sparkline counts
_FEW = 200  # matches that are read for a sparkline; more are counted in the database
_FOUND_TOGETHER = 20  # notifications that are read for each of the newest events
_TABLE = notifications


@dataclass(frozen=True, slots=True)
class Seen:
    """An event as a page shows it; `event` is None where it was removed since; `size` is the length of its JSON."""

    position: int
    event: dict[str, Any] | None
    accepted: Instant | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class Match:
    notification: Notification
    seen: Seen


def matches(
    store: Store, owner: str, subscription: str | None, before: int | None, limit: int, after: int = 0
) -> list[Match]:
    """Of one owner, or of one subscription of his, newest first; below the one cursor, above the other."""
    below = END if before is None else before
    with store.database.reading() as connection:
        found = owners_before(connection, store.database.dialect, owner, subscription, below, limit, after)
        events = _seen(connection, store, {one.position for one in found})
    return [Match(one, events[one.position]) for one in found]


@dataclass(frozen=True, slots=True)
class FoundEvent:
    """One event with the owner's subscriptions that found it. `complete`: with all of them. `detected`: by a composite,
    whose detection may have no event."""

    seen: Seen
    stored: Instant
    found_by: tuple[Called, ...]
    complete: bool
    detected: bool = False


def found_events(store: Store, owner: str, limit: int) -> list[FoundEvent]:
    """The newest; an event that several subscriptions found stands once."""
    by_position: dict[int, list[Notification]] = {}
    with store.database.reading() as connection:
        found = owners_before(connection, store.database.dialect, owner, None, END, limit * _FOUND_TOGETHER)
        for one in found:
            by_position.setdefault(one.position, []).append(one)
        shown = dict(list(by_position.items())[:limit])
        called = called_by(connection, owner, {one.subscription for group in shown.values() for one in group})
        events = _seen(connection, store, set(shown))  # large ones take long: only those that are shown
    return [
        FoundEvent(
            events[position],
            group[0].stored,
            tuple(called[id] for id in dict.fromkeys(one.subscription for one in group)),
            len(found) < limit * _FOUND_TOGETHER or found[-1].position != position,
            bool(group[0].detection),
        )
        for position, group in shown.items()
    ]


def matched_at(store: Store, owner: str, position: int, limit: int) -> list[Called]:
    """The owner's subscriptions that the event at this position matched."""
    query = select(_TABLE.c.subscription).where(_TABLE.c.position == position, _TABLE.c.owner == owner)
    with store.database.reading() as connection:
        ids = list(connection.execute(query.distinct().order_by(_TABLE.c.subscription).limit(limit)).scalars())
        called = called_by(connection, owner, ids)
    return [called[id] for id in ids]


def filter_at(store: Store, subscription: str, owner: str, position: int) -> str | None:
    """The filter that counted when the event at this position was matched; None where it was a composite."""
    query = select(spans.c.filter, spans.c.composite).where(
        spans.c.subscription == subscription, spans.c.owner == owner, OWNED, spans.c.start <= position
    )
    with store.database.reading() as connection:
        found = connection.execute(query.order_by(spans.c.start.desc()).limit(1)).first()
    return None if found is None or found.composite else str(found.filter)


def sparks(store: Store, owner: str, ids: Sequence[str], now: Instant) -> dict[str, list[int]]:
    """For each subscription its matches of the last hour, in equal parts of it."""
    if not ids:
        return {}
    width = PERIOD // BINS
    with store.database.reading() as connection:
        first, last = first_cursor(connection), last_cursor(connection)
        edges = _edges(connection, [int(now) - PERIOD + width * place for place in range(BINS)], first, last)
        narrow = {id: _binned(connection, id, owner, edges) for id in ids}
        wide = {id: _wide(WideCursors(connection, store.database.dialect, owner, id), edges) for id in ids}
        return {id: [min(MOST_IN_BIN, sum(both)) for both in zip(narrow[id], wide[id], strict=True)] for id in ids}


def _wide(cursors: WideCursors, edges: list[int]) -> list[int]:
    """Of events that match very many; not more of them than all parts together may count."""
    parts = Counter(bisect_right(edges, one) - 1 for one in cursors.downwards(END, BINS * MOST_IN_BIN, edges[0] - 1))
    return [parts[place] for place in range(BINS)]


def _edges(connection: Connection, times: Sequence[int], first: int, last: int) -> list[int]:
    """For each time the first cursor stored at or after it. Times grow with cursors: all are looked for together, in
    ever smaller stretches, each cut into so many pieces by one question."""
    lows, highs = [first] * len(times), [last + 1] * len(times)
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
    """A few are read and counted here; many are counted in the database, within the index alone: 2,000 in each of 24
    parts take about 10 ms. Rows are looked at only where an id has had several owners, whose matches must not be told
    to one another."""
    owners = select(spans.c.owner).where(spans.c.subscription == id, OWNED).distinct().limit(2)
    shared = len(connection.execute(owners).all()) > 1
    newer = select(_TABLE.c.cursor).where(_TABLE.c.subscription == id, NARROW, _TABLE.c.cursor >= edges[0])
    newer = newer.where(_TABLE.c.owner == owner) if shared else newer
    newer = newer.with_hint(_TABLE, "INDEXED BY notifications_of_subscription", "sqlite")
    most = min(_FEW, MOST_IN_BIN)
    few = connection.execute(newer.order_by(_TABLE.c.cursor).limit(most)).scalars().all()
    if len(few) < most:
        parts = Counter(bisect_right(edges, cursor) - 1 for cursor in few)
        return [parts[place] for place in range(BINS)]
    bounds = {f"edge{place}": edge for place, edge in enumerate([*edges, END])}
    given = {**bounds, "id": id, "most": MOST_IN_BIN} | ({"owner": owner} if shared else {})
    return list(connection.execute(_counting(shared), given).one())


@cache
def _counting(shared: bool) -> Select[Any]:
    """One question for all parts, made once: to build it takes longer than to answer it."""
    counts = []
    for place in range(BINS):
        part = select(_TABLE.c.cursor).where(_TABLE.c.subscription == bindparam("id"), NARROW)
        part = part.where(_TABLE.c.cursor >= bindparam(f"edge{place}"), _TABLE.c.cursor < bindparam(f"edge{place + 1}"))
        part = part.where(_TABLE.c.owner == bindparam("owner")) if shared else part
        part = part.limit(bindparam("most", type_=Integer))
        part = part.with_hint(_TABLE, "INDEXED BY notifications_of_subscription", "sqlite")
        counts.append(select(func.count()).select_from(part.subquery()).scalar_subquery())
    return select(*counts)


def deliveries_made(store: Store, subscription: str, owner: str, begin: Instant, end: Instant) -> list[int]:
    """The numbers of a subscription's deliveries that were made in this time, both ends included."""
    mine = (deliveries.c.subscription == subscription) & (deliveries.c.owner == owner)
    query = select(deliveries.c.number).where(mine, deliveries.c.created.between(int(begin), int(end)))
    with store.database.reading() as connection:
        return list(connection.execute(query).scalars())


def _seen(connection: Connection, store: Store, positions: Collection[int]) -> dict[int, Seen]:
    bodies = events_at(connection, store.database.dialect, positions)
    return {one: Seen(one, decoded(bodies[one]) if one in bodies else None) for one in positions}


def decoded(body: str) -> dict[str, Any]:
    return msgspec.json.decode(body, type=dict[str, Any])
