"""The requests of the API about channels, deliveries and streams, one function each."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tidings.client.answers import Delivery, Notification, Page, ServerResponse, Tried
from tidings.client.event_source import Message
from tidings.client.request import ANSWERED, Request, change_request, member, nothing, read_request, segment

HEARTBEAT = 15.0  # seconds of silence after which the server says that it is there


@dataclass(frozen=True, slots=True)
class Listen:
    """A stream to open. What it gives, `notification_of` reads."""

    request: Request[None]
    after: str | None


def stream(after: str | None, subscription: str | None) -> Listen:
    query = [("after", after)] if after else []
    query += [("subscription", subscription)] if subscription is not None else []
    headers = {"accept": "text/event-stream"}
    request = Request("GET", "/v1/notifications/stream", nothing, tuple(query), headers=headers, waits=HEARTBEAT)
    return Listen(request, after)


def notification_of(message: Message) -> Notification | None:
    """None for an event of another kind, which a later server may send."""
    if message.event != "notification":
        return None
    return Notification.read(json.loads(message.data), message.id)


def channel(id: str) -> Request[dict[str, Any]]:
    return read_request(f"{_channel(id)}", ServerResponse.json)


def change_channel(id: str, what: str) -> Request[dict[str, Any]]:
    return change_request("POST", f"{_channel(id)}/{what}", ServerResponse.json)


def rotate_secret(id: str) -> Request[str]:
    return change_request("POST", f"{_channel(id)}/rotate-secret", member("secret"))


def deliveries(id: str, state: str | None, after: str | None) -> Request[Page[Delivery]]:
    def read(answer: ServerResponse) -> Page[Delivery]:
        body = answer.json()
        return Page(tuple(_delivery(one) for one in body["items"]), body["next"])

    return read_request(f"/v1/subscriptions/{segment(id)}/deliveries", read, state=state, after=after)


def delivery(id: str, number: int) -> Request[Delivery]:
    return read_request(f"/v1/subscriptions/{segment(id)}/deliveries/{number}", lambda answer: _delivery(answer.json()))


def replay(id: str, numbers: Iterable[int] | None, failed: bool, first: int | None, last: int | None) -> Request[int]:
    asked = {"deliveries": None if numbers is None else list(numbers), "failed": failed or None}
    asked |= {"from": first, "to": last}  # type: ignore[dict-item]
    body = {name: value for name, value in asked.items() if value is not None}
    return change_request("POST", f"/v1/subscriptions/{segment(id)}/replay", member("replayed"), body)


def test_delivery(id: str) -> Request[Tried]:
    made = change_request(
        "POST", f"/v1/subscriptions/{segment(id)}/test-delivery", lambda answer: _tried(answer.json())
    )
    return Request(made.method, made.path, made.read, headers=made.headers, waits=ANSWERED)


def notices(after: str | None) -> Request[Page[dict[str, Any]]]:
    def read(answer: ServerResponse) -> Page[dict[str, Any]]:
        body = answer.json()
        return Page(tuple(body["items"]), body["next"])

    return read_request("/v1/notices", read, after=after)


def see_notices(upto: str) -> Request[None]:
    return change_request("POST", "/v1/notices/seen", nothing, {"upto": upto})


def _channel(id: str) -> str:
    return f"/v1/subscriptions/{segment(id)}/channel"


def _delivery(one: dict[str, Any]) -> Delivery:
    return Delivery(
        one["number"],
        one["state"],
        one["held"],
        one["collecting"],
        one["attempts"],
        one["due"],
        one["created"],
        one["done"],
        tuple(one["sequences"]),
        tuple(one["notifications"]),
        tuple(_tried(attempt) for attempt in one.get("tried", ())),
    )


def _tried(one: dict[str, Any]) -> Tried:
    return Tried(
        one["ok"],
        one["seconds"],
        one["request"],
        one["status"],
        one["response"],
        one["problem"],
        one.get("attempt"),
        one.get("started"),
    )
