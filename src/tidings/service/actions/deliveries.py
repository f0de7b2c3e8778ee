"""Deliveries sent again, and a test delivery."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import msgspec

from tidings.events.headline import declared_headline
from tidings.notifying.delivery import Attempt, OutgoingDelivery, Owed
from tidings.schema import Catalog, Instant
from tidings.schema.catalog import EVENT_TYPE
from tidings.service.actions.made_up_event import ID, made_up_event
from tidings.service.gateway import Gateway
from tidings.store import NoSuchSubscription
from tidings.store.pages import recent


@dataclass(frozen=True, slots=True)
class ReplayAsked:
    """Which deliveries to send again: what is given is combined. `sequences` and `made`: from … to, inclusive."""

    numbers: frozenset[int] | None = None
    failed: bool = False
    sequences: tuple[int, int] | None = None
    made: tuple[Instant, Instant] | None = None


async def replay(gateway: Gateway, owner: str, id: str, asked: ReplayAsked) -> int:
    """How many are due again, also of those that arrived; deliveries whose events were removed are skipped. Raises
    NoSuchSubscription or NoSuchChannel."""
    await gateway.channels.of(id, owner)
    numbers = asked.numbers
    if asked.made is not None:
        found = frozenset(await gateway.read(recent.deliveries_made, gateway.store, id, owner, *asked.made))
        numbers = found if numbers is None else numbers & found
    again = gateway.store.replay
    return await gateway.write(again, id, owner, numbers, failed=asked.failed, sequences=asked.sequences)


async def send_test(gateway: Gateway, owner: str, id: str) -> Attempt:
    """Sends the newest match at once, or a made-up event where there is none. Raises NoSuchSubscription,
    NoSuchChannel, ChannelUnconfirmed, ChannelDisabled or TooManyRequests."""
    channel = await gateway.channels.of(id, owner)
    delivery = await gateway.read(_test_delivery, gateway, owner, id)
    return await gateway.channels.send_test(channel, delivery)


def _test_delivery(gateway: Gateway, owner: str, id: str) -> OutgoingDelivery:
    """Of what the subscription found last, if that is still stored."""
    store = gateway.store
    try:
        standing = store.subscription(id, owner)
        filter, called = standing.filter, standing.name
    except NoSuchSubscription:
        filter = called = ""  # withdrawn, but what it is owed is still sent
    newest = store.newest_notification(id, owner)
    text = None if newest is None else store.events_at([newest.position]).get(newest.position)
    catalog = store.catalog()
    event = _any_event(catalog) if text is None else msgspec.json.decode(text)
    matched_at = store.clock.now() if newest is None else newest.stored
    name = f"test.{secrets.token_hex(8)}"
    detected = None if newest is None else store.detections([newest.detection]).get(newest.detection)
    detection = None if detected is None else detected.as_json()
    owed = Owed(name, 0, event, matched_at, declared_headline(event, catalog), detection)
    return OutgoingDelivery(name, id, owner, filter, (owed,), True, called)


def _any_event(catalog: Catalog) -> dict[str, Any]:
    """Of the first event type that can have one."""
    made = (made_up_event(catalog, event_type) for event_type in catalog.event_types)
    return next((one for one in made if one is not None), {"id": ID, EVENT_TYPE: [], "attributes": {}})
