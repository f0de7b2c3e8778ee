"""Webhooks as AsyncAPI describes them: the messages that a receiver is sent, their headers and genuine examples.

The examples are made by the code that sends: `body_of`, `headers_of` and `sign`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tidings.notifying.channels.webhook import body_of, headers_of
from tidings.notifying.delivery import OutgoingDelivery, Owed
from tidings.notifying.signatures import ID, SIGNATURE, TIMESTAMP, sign
from tidings.schema import Instant
from tidings.service.api.channels.webhook_shapes import WebhookDigest, WebhookNotification
from tidings.service.api.shapes import schemas_of

# Signs the examples, so that receivers can be tested with them.
EXAMPLE_SECRET = "whsec_YW4gZXhhbXBsZSBhbmQgbm8gc2VjcmV0"
EXAMPLE_TIME = Instant.parse("2026-05-01T10:00:00Z")
_MICROSECONDS = 1_000_000
_TEXT = {"type": "string"}

Schema = dict[str, Any]


def _headers(kind: str, more: Schema) -> Schema:
    always: Schema = {
        "content-type": {"const": "application/json"},
        "user-agent": _TEXT,
        ID: {**_TEXT, "description": "The delivery's id, the same in every attempt. Remember it to drop repeats."},
        TIMESTAMP: {
            **_TEXT,
            "pattern": "^[0-9]+$",
            "description": "When it was signed, in seconds since 1970. Refuse what is older than five minutes.",
        },
        SIGNATURE: {
            **_TEXT,
            "pattern": "^v1,[A-Za-z0-9+/=]+( v1,[A-Za-z0-9+/=]+)*$",
            "description": (
                "Standard Webhooks 1.0: `v1,` and the base64 of HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}."
                "{body}`, keyed with the bytes of the secret after `whsec_` (base64). While a secret is rotated there "
                "are two signatures, separated by a space; one that fits is enough."
            ),
        },
        "ce-specversion": {"const": "1.0"},
        "ce-type": {"const": kind},
        "ce-source": {**_TEXT, "description": "The path of the subscription"},
        "ce-id": _TEXT,
        "ce-time": {**_TEXT, "format": "date-time"},
    }
    optional = {"ce-test": {"const": "true", "description": "Only in a test delivery"}}
    return {"type": "object", "required": [*always, *more], "properties": {**always, **more, **optional}}


def webhook_schemas(place: str) -> dict[str, Schema]:
    """The schemas of bodies and headers; `place` is where `event` and they themselves are found."""
    made = schemas_of(WebhookNotification, WebhookDigest, place=place)
    made["WebhookNotification"]["properties"]["event"] = {"$ref": f"{place}event"}
    sequence = {"ce-sequence": {**_TEXT, "pattern": "^[0-9]+$", "description": "As `sequence` in the body"}}
    return {
        **made,
        "WebhookNotificationHeaders": _headers("tidings.notification", sequence),
        "WebhookDigestHeaders": _headers("tidings.digest", {}),
        "ConsentRequestHeaders": {
            "type": "object",
            "required": ["webhook-request-origin"],
            "properties": {"webhook-request-origin": {**_TEXT, "description": "The DNS name of the service"}},
        },
        "ConsentHeaders": {
            "type": "object",
            "required": ["webhook-allowed-origin"],
            "properties": {
                "webhook-allowed-origin": {**_TEXT, "description": "That DNS name, or `*`"},
                "webhook-allowed-rate": {**_TEXT, "pattern": "^[0-9]{1,9}$", "description": "Deliveries per minute"},
            },
        },
    }


def webhook_messages(place: str, event: dict[str, Any] | None) -> dict[str, Schema]:
    """`event` is for the examples; there are none where the catalog allows no event."""
    once = () if event is None else (_owed(event, 1),)
    many = () if event is None else (_owed(event, 1), _owed(event, 2))
    return {
        "webhookNotification": {
            "name": "tidings.notification",
            "title": "Webhook with one notification",
            "summary": "One match, POSTed to the receiver's URL and signed.",
            "headers": {"$ref": f"{place}WebhookNotificationHeaders"},
            "payload": {"$ref": f"{place}WebhookNotification"},
            **_examples(_delivery(once)),
        },
        "webhookDigest": {
            "name": "tidings.digest",
            "title": "Webhook with a digest",
            "summary": "Several matches in one POST, for channels with a digest.",
            "headers": {"$ref": f"{place}WebhookDigestHeaders"},
            "payload": {"$ref": f"{place}WebhookDigest"},
            **_examples(_delivery(many)),
        },
        "consentRequest": {
            "name": "consentRequest",
            "title": "Request for consent",
            "summary": "OPTIONS, sent when a channel is created or resumed.",
            "headers": {"$ref": f"{place}ConsentRequestHeaders"},
            "payload": {"type": "null"},
            "examples": [{"headers": {"webhook-request-origin": "tidings.example.org"}, "payload": None}],
        },
        "consent": {
            "name": "consent",
            "title": "Consent",
            "summary": "A 2xx answer with which the receiver agrees.",
            "headers": {"$ref": f"{place}ConsentHeaders"},
            "payload": {"type": "null"},
            "examples": [{"headers": {"webhook-allowed-origin": "*"}, "payload": None}],
        },
    }


def _owed(event: dict[str, Any], sequence: int) -> Owed:
    return Owed(f"sub-1.{event['id']}.{sequence}", sequence, event, EXAMPLE_TIME)


def _delivery(owed: tuple[Owed, ...]) -> OutgoingDelivery | None:
    return OutgoingDelivery("7f3a", "sub-1", "ann", "price < 1300", owed, name="Cheap cars") if owed else None


def _examples(delivery: OutgoingDelivery | None) -> dict[str, Any]:
    if delivery is None:
        return {}
    body, timestamp = body_of(delivery), int(EXAMPLE_TIME) // _MICROSECONDS
    headers = dict(headers_of(delivery)) | {ID: delivery.id, TIMESTAMP: str(timestamp)}
    headers[SIGNATURE] = sign(EXAMPLE_SECRET, delivery.id, timestamp, body)
    summary = f"Signed with the secret {EXAMPLE_SECRET}; the body is this JSON without white space."
    return {"examples": [{"summary": summary, "headers": headers, "payload": msgspec.json.decode(body)}]}
