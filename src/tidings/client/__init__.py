"""A server from Python: `Client` waits, `AsyncClient` is for an event loop.

What a call does is written once, as values (`requests`) and steps (`flows`); `calls` lists the methods of both clients
by subject, and `sending` carries them out with httpx.
"""

from tidings.client.answers import (
    Delivery,
    Notification,
    Page,
    Published,
    PublishedMany,
    StoredEvent,
    StoredSubscription,
    StoredToken,
    Tried,
)
from tidings.client.async_client import AsyncClient
from tidings.client.client import Client
from tidings.client.errors import (
    NotAllowed,
    NotFound,
    QueryFailed,
    ServerRefused,
    ServerUnreachable,
    TooMany,
)
from tidings.client.flows import Patience
from tidings.errors import ClientError

__all__ = [
    "AsyncClient",
    "Client",
    "ClientError",
    "Delivery",
    "NotAllowed",
    "NotFound",
    "Notification",
    "Page",
    "Patience",
    "Published",
    "PublishedMany",
    "QueryFailed",
    "ServerRefused",
    "ServerUnreachable",
    "StoredEvent",
    "StoredSubscription",
    "StoredToken",
    "TooMany",
    "Tried",
]
