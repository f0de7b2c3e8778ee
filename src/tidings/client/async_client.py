"""`AsyncClient`: a server, from a program with an event loop. The same calls as `Client`, where they are explained."""

from __future__ import annotations

from tidings.client.calls.account_calls import AsyncAccountCalls
from tidings.client.calls.delivery_calls import AsyncDeliveryCalls
from tidings.client.calls.event_calls import AsyncEventCalls
from tidings.client.calls.health_calls import AsyncHealthCalls
from tidings.client.calls.network_calls import AsyncNetworkCalls
from tidings.client.calls.schema_calls import AsyncSchemaCalls
from tidings.client.calls.subscription_calls import AsyncSubscriptionCalls


class AsyncClient(
    AsyncAccountCalls,
    AsyncSchemaCalls,
    AsyncEventCalls,
    AsyncSubscriptionCalls,
    AsyncDeliveryCalls,
    AsyncNetworkCalls,
    AsyncHealthCalls,
):
    """`Client` for an event loop: every call is awaited, and what `Client` iterates over is for `async for`.

    async with tidings.AsyncClient("http://127.0.0.1:8080", token) as client:
        await client.publish({"event_type": "car", "attributes": {"price": 900, "brand": "mini"}})
        async for notification in client.follow():
            print(notification.event)
    """
