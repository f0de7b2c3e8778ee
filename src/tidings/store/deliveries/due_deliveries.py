"""Deliveries that are due, for the outbox: which they are, and all that is needed to send them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import Connection, select

from tidings.schema import Instant
from tidings.store.databases.database import Dialect, NamedRow
from tidings.store.deliveries.channels import StoredChannel, read_channel
from tidings.store.deliveries.deliveries import StoredDelivery, read_delivery
from tidings.store.journal.entries import Detection
from tidings.store.journal.stored_events import events_at
from tidings.store.notifications.notifications import detections_of
from tidings.store.tables import OWNED, channels, deliveries, spans, subscriptions

_TAKEN = (  # the members of DueDelivery, as below
    "SELECT due, number, subscription, owner, attempts FROM deliveries WHERE state = 'due' AND held = 0 AND open = 0 "
    "AND due <= ? AND due >= ? AND (due > ? OR number > ?) ORDER BY due, number LIMIT ?"
)
# The signs keep SQLite from the index by time, in which it would walk over what everybody else is owed.
_WAITING = (
    "SELECT due, number, subscription, owner, attempts FROM deliveries WHERE state = 'due' AND +held = 0 AND +open = 0 "
    "AND subscription = ? AND owner = ? AND +due <= ? AND (attempts = 0) = (? = 0) ORDER BY number LIMIT ?"
)


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
    name: str = ""  # of the subscription
    detections: Mapping[str, Detection] = field(default_factory=dict)  # by id, of those items that have one


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
    detected = detections_of(connection, dialect, (item.detection for one in found for item in one.items))
    standing = {(row.id, row.owner): row for row in dialect.find(connection, subscriptions.c.id, ids)}
    full = []
    for one in found:
        channel = using.get((one.subscription, one.owner))
        if channel is not None:
            sent = tuple(events.get(item.position) for item in one.items)
            row = standing.get((one.subscription, one.owner))
            name = "" if row is None else row.name
            full.append(DeliveryContents(one, channel, _filter(connection, one, row), sent, name, detected))
    return full


def _filter(connection: Connection, delivery: StoredDelivery, standing: NamedRow | None) -> str:
    """The filter under which the newest of its notifications was found. Nearly always that is the one that the
    subscription has now; a subscription may have had thousands."""
    position = delivery.items[-1].position
    if standing is not None and standing.span is not None and standing.span <= position:
        return str(standing.filter)
    return _past_filter(connection, delivery.subscription, delivery.owner, position)


def _past_filter(connection: Connection, subscription: str, owner: str, position: int) -> str:
    """What nobody owns is in no index, and the spans are read back to the right one."""
    mine = (spans.c.subscription == subscription) & (spans.c.owner == owner) & (spans.c.start <= position)
    query = select(spans.c.filter).where(mine).order_by(spans.c.start.desc()).limit(1)
    if owner:
        query = query.where(OWNED).with_hint(spans, "INDEXED BY spans_of_subscription", "sqlite")
    return connection.execute(query).scalar() or ""
