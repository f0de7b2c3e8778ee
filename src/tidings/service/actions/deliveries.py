"""Deliveries sent again, and a test delivery."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import msgspec

from tidings.notifying.delivery import Attempt, OutgoingDelivery, Owed
from tidings.schema import Catalog, Domain, Instant, Kind
from tidings.schema.catalog import EVENT_TYPE
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
        filter = store.subscription(id, owner).filter
    except NoSuchSubscription:
        filter = ""  # withdrawn, but what it is owed is still sent
    newest = store.newest_notification(id, owner)
    text = None if newest is None else store.events_at([newest.position]).get(newest.position)
    event = _made_up(store.catalog()) if text is None else msgspec.json.decode(text)
    matched_at = store.clock.now() if newest is None else newest.stored
    name = f"test.{secrets.token_hex(8)}"
    return OutgoingDelivery(name, id, owner, filter, (Owed(name, 0, event, matched_at),), test=True)


def _made_up(catalog: Catalog) -> dict[str, Any]:
    """An event of the first type, with all of its attributes that can have a value."""
    if not catalog.event_types:
        return {"id": "made-up", EVENT_TYPE: [], "attributes": {}}
    event_type = catalog.event_types[0]
    values = {use.name: _example(catalog.domain_of(use.name)) for use in event_type.attributes}
    attributes = {name: value for name, value in values.items() if value is not None}
    return {"id": "made-up", EVENT_TYPE: [event_type.name], "attributes": attributes}


def _example(domain: Domain | None) -> int | str | None:
    match domain.kind if domain is not None else None:
        case None:
            return None
        case Kind.NUMERIC:
            return 1
        case Kind.TIME:
            return str(Instant.parse("2026-01-01T00:00:00Z"))
        case Kind.STRING | Kind.TEXT:
            return "example"
        case _:
            assert domain is not None
            return domain.vocabulary[0] if domain.vocabulary else None
