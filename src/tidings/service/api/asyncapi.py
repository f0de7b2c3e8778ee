"""AsyncAPI 3.0 of what goes in and what comes out, generated from the catalog: events and notifications.

The document describes the service: it receives events and sends notifications. Here both go over HTTP: POST /v1/events,
and GET /v1/notifications, which is asked again and again.
"""

from __future__ import annotations

from typing import Any

from tidings import __version__
from tidings.schema import Catalog
from tidings.schema.catalog import EVENT_TYPE
from tidings.service.api.json_schema import event_definitions, has_type, key

_SCHEMAS = "#/components/schemas/"
_MESSAGES = "#/components/messages/"


def asyncapi(catalog: Catalog) -> dict[str, Any]:
    """The whole document."""
    types = {key("type", event_type.name): event_type.name for event_type in catalog.event_types}
    published = ["event", *types]
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Tidings",
            "version": f"{__version__}+schema.{catalog.version}",
            "description": "Publish events; be told of those that match what you described.",
        },
        "defaultContentType": "application/json",
        "channels": {
            "events": _channel("/v1/events", "Whatever happens.", published),
            "notifications": _channel("/v1/notifications", "What matched a caller's subscriptions.", ["notification"]),
        },
        "operations": {
            "publishEvent": {
                "action": "receive",
                "channel": {"$ref": "#/channels/events"},
                "summary": "An event of one or more event types is published.",
                "security": _SECURITY,
                "bindings": {"http": {"method": "POST", "bindingVersion": "0.3.0"}},
                "messages": [{"$ref": f"#/channels/events/messages/{name}"} for name in published],
            },
            "notify": {
                "action": "send",
                "channel": {"$ref": "#/channels/notifications"},
                "summary": "Whoever subscribed reads what matched, from a cursor on.",
                "security": _SECURITY,
                "bindings": {"http": {"method": "GET", "bindingVersion": "0.3.0"}},
                "messages": [{"$ref": "#/channels/notifications/messages/notification"}],
            },
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "messages": _messages(types),
            "schemas": {
                **event_definitions(catalog, _SCHEMAS),
                **{f"event-{name}": _of_type(type_name) for name, type_name in types.items()},
                "notification": _NOTIFICATION,
            },
        },
    }


_SECURITY = [{"$ref": "#/components/securitySchemes/token"}]
_NOTIFICATION = {
    "type": "object",
    "required": ["id", "subscription", "event", "matched_at"],
    "properties": {
        "id": {
            "type": "string",
            "description": "Made of the subscription and the event's source and id; drop repeated ids.",
        },
        "subscription": {"type": "string"},
        "event": {
            "description": "Null when the event was removed meanwhile.",
            "anyOf": [{"$ref": f"{_SCHEMAS}event"}, {"type": "null"}],
        },
        "matched_at": {"type": "string", "format": "date-time"},
    },
}


def _channel(address: str, description: str, messages: list[str]) -> dict[str, Any]:
    refs = {name: {"$ref": f"{_MESSAGES}{name}"} for name in messages}
    return {"address": address, "description": description, "messages": refs}


def _messages(types: dict[str, str]) -> dict[str, Any]:
    made = {
        "event": _message("event", "An event of any types.", "event"),
        "notification": _message("notification", "An event that matched a subscription.", "notification"),
    }
    for name, type_name in types.items():
        made[name] = _message(type_name, f"An event of the type {type_name}, perhaps of others too.", f"event-{name}")
    return made


def _message(name: str, summary: str, schema: str) -> dict[str, Any]:
    return {"name": name, "summary": summary, "payload": {"$ref": f"{_SCHEMAS}{schema}"}}


def _of_type(name: str) -> dict[str, Any]:
    return {"allOf": [{"$ref": f"{_SCHEMAS}event"}, {"properties": {EVENT_TYPE: has_type([name])}}]}
