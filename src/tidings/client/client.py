"""`Client`: a server, from a program that waits for its answers."""

from __future__ import annotations

from tidings.client.calls.account_calls import AccountCalls
from tidings.client.calls.delivery_calls import DeliveryCalls
from tidings.client.calls.event_calls import EventCalls
from tidings.client.calls.health_calls import HealthCalls
from tidings.client.calls.network_calls import NetworkCalls
from tidings.client.calls.schema_calls import SchemaCalls
from tidings.client.calls.subscription_calls import SubscriptionCalls


class Client(
    AccountCalls,
    SchemaCalls,
    EventCalls,
    SubscriptionCalls,
    DeliveryCalls,
    NetworkCalls,
    HealthCalls,
):
    """Speaks to a server over HTTP; use it from any thread, and close it or use `with`.

        with tidings.Client("http://127.0.0.1:8080") as client:
            client.register("ann", "correct horse")
            client.subscribe("price < 1300 and brand = 'mini'")
            client.publish({"event_type": "car", "attributes": {"price": 900, "brand": "mini"}})
            for notification in client.follow():
                print(notification.event)

    Whatever can be sent twice without harm is sent again, within `patience`, when the connection breaks or the
    server is busy. Every method raises ServerUnreachable or ServerRefused (NotAllowed, NotFound, TooMany).
    """
