"""AsyncAPI 3.0, generated from the catalog: events in; notifications out by polling, server-sent events and webhooks.

The document describes the service: it receives events and sends notifications. Payloads follow from the catalog and
from the shapes of the API, webhook examples from the code that sends.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from tidings import __version__
from tidings.schema import Catalog
from tidings.schema.catalog import EVENT_TYPE
from tidings.service.actions.made_up_event import made_up_event
from tidings.service.api.documents.json_schema import event_definitions, has_type, key
from tidings.service.api.documents.webhook_messages import EXAMPLE_TIME, webhook_messages, webhook_schemas
from tidings.service.api.notifications.notification_routes import LONGEST_WAIT, NotificationSeen
from tidings.service.api.shapes import schemas_of
from tidings.service.door.scopes import need_of
from tidings.service.live.streams import HEARTBEAT, RETRY

_SCHEMAS = "#/components/schemas/"
_MESSAGES = "#/components/messages/"
_SECURITY = [{"$ref": "#/components/securitySchemes/token"}]
_PUBLISH, _POLL, _STREAM = "/v1/events", "/v1/notifications", "/v1/notifications/stream"
_ONLY = {"type": "string", "description": "Only the notifications of this subscription"}
_WAIT = {"type": "number", "maximum": LONGEST_WAIT, "description": "Seconds to wait for the first new notification"}


def asyncapi(catalog: Catalog, address: str) -> dict[str, Any]:
    """The whole document; `address` is the URL of the service."""
    types = {key("type", event_type.name): event_type.name for event_type in catalog.event_types}
    published = ["event", *types]
    url = urlsplit(address)
    return {
        "asyncapi": "3.0.0",
        "id": "urn:tidings",
        "info": {
            "title": "Tidings",
            "version": f"{__version__}+schema.{catalog.version}",
            "description": (
                "Publish events. Get those that match your subscriptions: by polling, as server-sent events, or by "
                f"webhook. The schemas of events follow version {catalog.version} of the schema. "
                "`/openapi.json` describes the rest of the API."
            ),
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
            "tags": [{"name": "events"}, {"name": "notifications"}, {"name": "webhooks"}],
        },
        "servers": {
            "service": {"host": url.netloc, "protocol": url.scheme, "description": "This service"},
            "receiver": {
                "host": "{host}",
                "protocol": "https",
                "description": "A subscriber's own server, named by the URL of a webhook channel",
                "variables": {"host": {"default": "receiver.example.org", "description": "Its name"}},
            },
        },
        "defaultContentType": "application/json",
        "channels": _channels(published),
        "operations": _operations(published),
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "messages": _messages(catalog, types),
            "schemas": {
                **event_definitions(catalog, _SCHEMAS),
                **{f"event-{name}": _of_type(type_name) for name, type_name in types.items()},
                **_notification(),
                "ServerSentFields": _SERVER_SENT,
                **webhook_schemas(_SCHEMAS),
            },
        },
    }


def _channels(published: list[str]) -> dict[str, Any]:
    return {
        "events": _channel(_PUBLISH, "Events", "Where events are published.", published),
        "notifications": _channel(_POLL, "Notifications", "What matched, page by page.", ["notification"]),
        "stream": _channel(
            _STREAM,
            "Live notifications",
            f"Server-sent events. Resume with `Last-Event-ID`; a comment follows after {HEARTBEAT:g} s of silence; "
            f"`retry: {RETRY}` tells clients when to reconnect.",
            ["serverSentNotification"],
        ),
        "webhook": _channel(
            None,
            "Webhook",
            "The URL of a subscription's channel. 2xx is success; anything else is retried, 410 disables the channel, "
            "redirects are not followed.",
            ["webhookNotification", "webhookDigest", "consentRequest", "consent"],
            server="receiver",
        ),
    }


def _operations(published: list[str]) -> dict[str, Any]:
    poll = {"after": {"type": "string", "description": "The `next` of the page before"}, "wait": _WAIT}
    resume = {
        "subscription": _ONLY,
        "after": {"type": "string", "description": "A cursor, or `now` to skip what is stored"},
    }
    return {
        "publishEvent": {
            "action": "receive",
            "title": "Publish an event",
            "summary": "A publisher sends an event of one or more event types.",
            **_over_http("events", "POST", published, need_of("POST", _PUBLISH)),
        },
        "listNotifications": {
            "action": "send",
            "title": "Poll notifications",
            "summary": "A subscriber reads what matched after a cursor, and may wait for more.",
            **_over_http("notifications", "GET", ["notification"], need_of("GET", _POLL), poll),
        },
        "streamNotifications": {
            "action": "send",
            "title": "Stream notifications",
            "summary": "The service sends stored notifications, then each new one as it is found.",
            **_over_http("stream", "GET", ["serverSentNotification"], need_of("GET", _STREAM), resume),
        },
        "deliverWebhook": {
            "action": "send",
            "title": "Deliver by webhook",
            "summary": "The service POSTs a signed notification or digest to the receiver.",
            "description": "Receivers verify the signature over the bytes of the body before they parse it.",
            "channel": {"$ref": "#/channels/webhook"},
            "bindings": _binding("POST"),
            "messages": _refs("webhook", ["webhookNotification", "webhookDigest"]),
        },
        "requestConsent": {
            "action": "send",
            "title": "Request consent",
            "summary": "Before the first delivery, the service asks the receiver whether it wants any.",
            "channel": {"$ref": "#/channels/webhook"},
            "bindings": _binding("OPTIONS"),
            "messages": _refs("webhook", ["consentRequest"]),
            "reply": {"channel": {"$ref": "#/channels/webhook"}, "messages": _refs("webhook", ["consent"])},
        },
    }


def _over_http(
    channel: str, method: str, messages: list[str], scope: str, query: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "description": f"Needs a token with the scope `{scope}`.",
        "channel": {"$ref": f"#/channels/{channel}"},
        "security": _SECURITY,
        "bindings": _binding(method, query),
        "messages": _refs(channel, messages),
    }


def _binding(method: str, query: dict[str, Any] | None = None) -> dict[str, Any]:
    http: dict[str, Any] = {"method": method, "bindingVersion": "0.3.0"}
    if query is not None:
        http["query"] = {"type": "object", "properties": query}
    return {"http": http}


def _refs(channel: str, messages: list[str]) -> list[dict[str, str]]:
    return [{"$ref": f"#/channels/{channel}/messages/{name}"} for name in messages]


def _channel(
    address: str | None, title: str, description: str, messages: list[str], server: str = "service"
) -> dict[str, Any]:
    return {
        "address": address,
        "title": title,
        "description": description,
        "servers": [{"$ref": f"#/servers/{server}"}],
        "messages": {name: {"$ref": f"{_MESSAGES}{name}"} for name in messages},
    }


_SERVER_SENT = {
    "type": "object",
    "description": "The fields of a server-sent event beside `data`, which is the payload.",
    "required": ["id", "event"],
    "properties": {
        "id": {"type": "string", "pattern": "^[0-9]+$", "description": "The cursor to resume after"},
        "event": {"const": "notification"},
    },
}


def _notification() -> dict[str, Any]:
    """As the API has it, with the events of the catalog, and what it refers to."""
    parts = schemas_of(NotificationSeen)
    made: dict[str, Any] = parts.pop("NotificationSeen")
    made["title"] = "Notification"
    made["properties"]["event"] = {
        "description": "Null if the event was removed in the meantime, or a composite found no event.",
        "anyOf": [{"$ref": f"{_SCHEMAS}event"}, {"type": "null"}],
    }
    return {"Notification": made, **parts}


def _messages(catalog: Catalog, types: dict[str, str]) -> dict[str, Any]:
    made_up = {one.name: made_up_event(catalog, one) for one in catalog.event_types}
    any_event = next((event for event in made_up.values() if event is not None), None)
    found = any_event and {
        "id": f"sub-1.{any_event['id']}",
        "subscription": "sub-1",
        "event": any_event,
        "matched_at": str(EXAMPLE_TIME),
    }
    server_sent = _message("notification", "A notification as a server-sent event.", "Notification", found)
    server_sent["headers"] = {"$ref": f"{_SCHEMAS}ServerSentFields"}
    for example in server_sent.get("examples", ()):
        example["headers"] = {"id": "42", "event": "notification"}
    return {
        "event": _message("event", "An event of any types.", "event", any_event),
        "notification": _message("notification", "An event that matched a subscription.", "Notification", found),
        "serverSentNotification": server_sent,
        **webhook_messages(_SCHEMAS, any_event),
        **{
            name: _message(
                type_name, f"An event of type {type_name}, and maybe of others.", f"event-{name}", made_up[type_name]
            )
            for name, type_name in types.items()
        },
    }


def _message(name: str, summary: str, schema: str, example: dict[str, Any] | None) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "title": name, "summary": summary, "payload": {"$ref": f"{_SCHEMAS}{schema}"}}
    return made if example is None else made | {"examples": [{"payload": example}]}


def _of_type(name: str) -> dict[str, Any]:
    return {"allOf": [{"$ref": f"{_SCHEMAS}event"}, {"properties": {EVENT_TYPE: has_type([name])}}]}
