"""Deliveries: what one attempt sends, and what came of it. Owners read and replay them, the outbox takes those due."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import msgspec
from sqlalchemy import Connection, Select, bindparam, literal_column, select, update

from tidings.schema import Instant
from tidings.store.databases.database import Database, Dialect, NamedRow
from tidings.store.deliveries.channels import StoredChannel, read_channel
from tidings.store.deliveries.totals import Totals, add_totals
from tidings.store.errors import NoSuchChannel
from tidings.store.journal.journal import complete_from, events_at
from tidings.store.tables import OWNED, attempts, channels, deliveries, delivery_totals, outbox, spans, subscriptions

DeliveryState = Literal["due", "delivered", "dead"]
# Written out: neither database takes a partial index for a bound value.
IN_STATE = {state: deliveries.c.state == literal_column(f"'{state}'") for state in get_args(DeliveryState)}

_TAKEN = (  # the members of DueDelivery, as below
    "SELECT due, number, subscription, owner, attempts FROM deliveries WHERE state = 'due' AND held = 0 AND open = 0 "
    "AND due <= ? AND due >= ? AND (due > ? OR number > ?) ORDER BY due, number LIMIT ?"
)
# The signs keep SQLite from the index by time, in which it would walk over what everybody else is owed.
_WAITING = (
    "SELECT due, number, subscription, owner, attempts FROM deliveries WHERE state = 'due' AND +held = 0 AND +open = 0 "
    "AND subscription = ? AND owner = ? AND +due <= ? AND (attempts = 0) = (? = 0) ORDER BY number LIMIT ?"
)


class Item(NamedTuple):
    """One notification in a delivery; `matched_at` is when it was stored."""

    sequence: int
    position: int
    matched_at: Instant


@dataclass(frozen=True, slots=True)
class StoredDelivery:
    """`attempts` since it was last replayed, `tried` in all. `held`: its channel is not active."""

    number: int
    subscription: str
    owner: str
    items: tuple[Item, ...]
    open: bool
    held: bool
    state: DeliveryState
    attempts: int
    tried: int
    due: Instant
    created: Instant
    done: Instant | None


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    delivery: int
    attempt: int
    started: Instant
    seconds: float
    ok: bool
    status: int | None
    request: str
    response: str
    problem: str


class DueDelivery(NamedTuple):
    """What the outbox must know to choose; `attempts` of 0 is a first one, which keeps its turn."""

    due: int  # microseconds; a row as the database gives it
    number: int
    subscription: str
    owner: str
    attempts: int


@dataclass(frozen=True, slots=True)
class DeliveryContents:
    """All that is needed to send a delivery, as it is at one moment. `events` are JSON, one for each item; None stands
    for one that was removed, which `trim` never does to what is owed."""

    delivery: StoredDelivery
    channel: StoredChannel
    filter: str
    events: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class DeliveryFigures:
    """Of one kind of channel: `due` now, the rest ever. `seconds` is the sum over all attempts."""

    kind: str
    due: int
    delivered: int
    dead: int
    attempts: int
    failures: int
    seconds: float


def deliveries_of(
    connection: Connection,
    subscription: str,
    owner: str,
    after: int,
    limit: int,
    state: DeliveryState | None,
    newest: bool,
) -> list[StoredDelivery]:
    query = _mine(subscription, owner)
    if after:
        query = query.where(deliveries.c.number < after if newest else deliveries.c.number > after)
    if state is not None:
        query = query.where(IN_STATE[state])
    query = query.order_by(deliveries.c.number.desc() if newest else deliveries.c.number).limit(limit)
    return [read_delivery(row) for row in connection.execute(query)]


def delivery(connection: Connection, number: int, owner: str) -> StoredDelivery | None:
    row = connection.execute(
        select(deliveries).where(deliveries.c.number == number, deliveries.c.owner == owner)
    ).first()
    return None if row is None else read_delivery(row)


def attempts_of(connection: Connection, number: int) -> list[StoredAttempt]:
    query = select(attempts).where(attempts.c.delivery == number).order_by(attempts.c.attempt)
    return [
        StoredAttempt(
            row.delivery,
            row.attempt,
            Instant(row.started),
            row.seconds,
            bool(row.ok),
            row.status,
            row.request,
            row.response,
            row.problem,
        )
        for row in connection.execute(query)
    ]


def replay(
    database: Database,
    subscription: str,
    owner: str,
    numbers: Collection[int] | None,
    failed: bool,
    sequences: tuple[int, int] | None,
    now: Instant,
) -> int:
    """Due again, as if never tried; the outbox finds their time. Without its events there is nothing to send."""
    with database.writing("outbox") as connection:
        mine = (channels.c.subscription == subscription) & (channels.c.owner == owner)
        kind = connection.execute(select(channels.c.kind).where(mine)).scalar()
        if kind is None:
            raise NoSuchChannel(subscription)
        connection.execute(select(outbox.c.cursor).with_for_update())  # no event is removed meanwhile
        whole = deliveries.c.first_position >= complete_from(connection)
        query = _mine(subscription, owner).where(deliveries.c.open == 0, whole)
        if failed:
            query = query.where(IN_STATE["dead"])
        if numbers is not None:
            query = query.where(deliveries.c.number.between(min(numbers, default=1), max(numbers, default=0)))
        chosen = [
            row
            for row in connection.execute(query)
            if (numbers is None or row.number in numbers) and (sequences is None or _within(row.items, *sequences))
        ]
        if chosen:
            add_totals(connection, kind, Totals(due=sum(row.state != "due" for row in chosen)))
            fresh = {"state": "due", "held": 1, "attempts": 0, "due": int(now), "done": None}
            connection.execute(
                update(deliveries).where(deliveries.c.number == bindparam("mark")).values(fresh),
                [{"mark": row.number} for row in chosen],
            )
            connection.execute(update(channels).where(mine, channels.c.state == "active").values(released=0))
        return len(chosen)


def due(
    connection: Connection, dialect: Dialect, now: Instant, limit: int, after: tuple[int, int]
) -> list[DueDelivery]:
    """Those of active channels, by time and number, from after this pair on; (time, 0) begins with that time."""
    bounds = (int(now), after[0], after[0], after[1], limit)
    return dialect.page(connection, _TAKEN, bounds, DueDelivery)


def due_of(
    connection: Connection, dialect: Dialect, subscription: str, owner: str, first: bool, now: Instant, limit: int
) -> list[DueDelivery]:
    bounds = (subscription, owner, int(now), 0 if first else 1, limit)
    return dialect.page(connection, _WAITING, bounds, DueDelivery)


def contents(connection: Connection, dialect: Dialect, numbers: Sequence[int]) -> list[DeliveryContents]:
    """Of those that are still due and whose channel is active; the others are left out."""
    found = [read_delivery(row) for row in dialect.find(connection, deliveries.c.number, numbers)]
    found = [one for one in found if one.state == "due" and not one.held and not one.open]
    ids = sorted({one.subscription for one in found})
    using = {
        (row.subscription, row.owner): read_channel(connection, row)
        for row in dialect.find(connection, channels.c.subscription, ids)
        if row.state == "active"
    }
    events = events_at(connection, dialect, (item.position for one in found for item in one.items))
    filters = _filters(connection, dialect, found)
    full = []
    for one in found:
        channel = using.get((one.subscription, one.owner))
        if channel is not None:
            sent = tuple(events.get(item.position) for item in one.items)
            full.append(DeliveryContents(one, channel, filters[one.number], sent))
    return full


def figures(connection: Connection) -> list[DeliveryFigures]:
    return [
        DeliveryFigures(row.kind, row.due, row.delivered, row.dead, row.attempts, row.failures, row.seconds)
        for row in connection.execute(select(delivery_totals).order_by(delivery_totals.c.kind))
        if row.due or row.attempts or row.dead
    ]


def read_delivery(row: NamedRow) -> StoredDelivery:
    return StoredDelivery(
        row.number,
        row.subscription,
        row.owner,
        tuple(Item(sequence, at, Instant(stored)) for sequence, at, stored in msgspec.json.decode(row.items)),
        bool(row.open),
        bool(row.held),
        row.state,
        row.attempts,
        row.tried,
        Instant(row.due),
        Instant(row.created),
        None if row.done is None else Instant(row.done),
    )


def _mine(subscription: str, owner: str) -> Select[Any]:
    return select(deliveries).where(deliveries.c.subscription == subscription, deliveries.c.owner == owner)


def _within(items: str, first: int, last: int) -> bool:
    return any(first <= sequence <= last for sequence, _, _ in msgspec.json.decode(items))


def _filters(connection: Connection, dialect: Dialect, found: Sequence[StoredDelivery]) -> dict[int, str]:
    """By number: the filter under which the newest of its notifications was found. Nearly always that is the one that
    the subscription has now; a subscription may have had thousands."""
    ids = sorted({one.subscription for one in found})
    now = {(row.id, row.owner): row for row in dialect.find(connection, subscriptions.c.id, ids)}
    filters = {}
    for one in found:
        position = one.items[-1].position
        row = now.get((one.subscription, one.owner))
        if row is not None and row.span is not None and row.span <= position:
            filters[one.number] = row.filter
        else:
            filters[one.number] = _past_filter(connection, one.subscription, one.owner, position)
    return filters


def _past_filter(connection: Connection, subscription: str, owner: str, position: int) -> str:
    """What nobody owns is in no index, and the spans are read back to the right one."""
    mine = (spans.c.subscription == subscription) & (spans.c.owner == owner) & (spans.c.start <= position)
    query = select(spans.c.filter).where(mine).order_by(spans.c.start.desc()).limit(1)
    if owner:
        query = query.where(OWNED).with_hint(spans, "INDEXED BY spans_of_subscription", "sqlite")
    return connection.execute(query).scalar() or ""
