"""Deliveries: what one attempt sends, and what came of it. Owners read and replay them; `due_deliveries` is for the
outbox."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import Connection, Select, bindparam, select, update

from tidings.schema import Instant
from tidings.store.databases.database import Database, NamedRow
from tidings.store.deliveries.totals import Totals, add_totals
from tidings.store.errors import NoSuchChannel
from tidings.store.journal.stored_events import complete_from
from tidings.store.tables import IN_STATE, attempts, channels, deliveries, delivery_totals, outbox

DeliveryState = Literal["due", "delivered", "dead"]


class Item(NamedTuple):
    """One notification in a delivery; `matched_at` is when it was stored."""

    sequence: int
    position: int
    matched_at: Instant
    detection: str = ""  # the id of what a composite found


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
        tuple(_item(*item) for item in msgspec.json.decode(row.items)),
        bool(row.open),
        bool(row.held),
        row.state,
        row.attempts,
        row.tried,
        Instant(row.due),
        Instant(row.created),
        None if row.done is None else Instant(row.done),
    )


def _item(sequence: int, position: int, stored: int, detection: str = "") -> Item:
    return Item(sequence, position, Instant(stored), detection)


def _mine(subscription: str, owner: str) -> Select[Any]:
    return select(deliveries).where(deliveries.c.subscription == subscription, deliveries.c.owner == owner)


def _within(items: str, first: int, last: int) -> bool:
    return any(first <= item[0] <= last for item in msgspec.json.decode(items))
