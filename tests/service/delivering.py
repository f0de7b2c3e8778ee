"""The outbox's part, done in the test: what is owed becomes deliveries, and is sent by the channels of the settings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx

from tests.service.conftest import Service, car
from tidings.notifying.channels.kinds import Kinds
from tidings.notifying.outbox.delivery_sender import rhythm_of_text
from tidings.notifying.outbox.outbox import Outbox
from tidings.notifying.outbox.schedule import WAITS
from tidings.store.clock.clock import now

FILTER = "brand = mini"


def deliver(service: Service) -> None:
    """Only the deliveries are made; nothing is sent."""
    moment = now()
    assert service.store.take_lease("test", 10)
    while service.store.create_deliveries("test", moment, 1_000, rhythm_of_text):
        pass
    assert service.store.take_lease("test", 0)  # gives it back


def send(service: Service, waits: Sequence[float] = WAITS) -> None:
    """A real outbox, until nothing is left to do now."""

    async def run() -> None:
        kinds = Kinds(service.settings)
        outbox = Outbox(service.store, kinds.by_name, waits=waits)
        try:
            idle = 0
            while idle < 3:
                busy = await outbox.turn()
                idle = 0 if busy or outbox.under_way else idle + 1
                await asyncio.sleep(0.01)
        finally:
            await outbox.close()
            await kinds.close()

    asyncio.run(run())


def subscribed(client: httpx.Client, **channel: Any) -> dict[str, Any]:
    answer = client.post("/v1/subscriptions", json={"filter": FILTER, "channel": channel})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def find(service: Service, *ids: str, name: str = "e1") -> None:
    """One event that these subscriptions match."""
    first = service.store.committed() + 1
    position = service.client.post("/v1/events", json=car(name)).json()["position"]
    service.commit(first, position, [(position, sorted(ids))])
