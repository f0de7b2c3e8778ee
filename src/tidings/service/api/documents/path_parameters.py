"""What the parameters in paths mean, by the part of the path that they follow."""

from __future__ import annotations

from typing import Any

_MEANINGS = {
    "events/{position}": "The position in the journal",
    "documents/{event_type}": "The event type, which has one attribute for documents",
    "subscriptions/{id}": "The subscription's id",
    "queries/{id}": "The query's id",
    "tokens/{id}": "The token's id, not the token itself",
    "deliveries/{number}": "The delivery's number",
    "domains/{name}": "The domain's name",
    "event-types/{name}": "The event type's name",
    "dtds/{name}.dtd": "The kind of request",
    "accounts/{username}": "The account's username",
    "links/{name}": "The other server's name",
    "advertisements/{id}": "The advertisement's id",
    "confirm/{token}": "The token in the link",
    "unsubscribe/{token}": "The token in the link",
}


def add_meanings(path: str, operation: dict[str, Any]) -> None:
    """Raises LookupError where a parameter is not in the table."""
    parts = path.strip("/").split("/")
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            (place,) = [at for at, part in enumerate(parts) if f"{{{parameter['name']}}}" in part]
            parameter["description"] = _MEANINGS["/".join(parts[place - 1 : place + 1])]
