"""Requests about subscriptions and notifications, one function each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from tidings.client.answers import Notification, Page, ServerResponse, StoredSubscription
from tidings.client.errors import refusal
from tidings.client.request import (
    ANSWERED,
    JSON,
    NDJSON,
    Request,
    as_json,
    change_request,
    member,
    read_request,
    segment,
)

_SETTLED = 32.0  # seconds


def subscribe(
    filter: str | None,
    composite: str | None,
    expiry: str | None,
    channel: Mapping[str, Any] | None,
    name: str | None,
    note: str | None,
    settled: bool = False,
) -> Request[StoredSubscription]:
    body = {"filter": filter, "composite": composite, "expiry": expiry, "channel": channel, "name": name, "note": note}
    given = {name: value for name, value in body.items() if value is not None}
    made = change_request("POST", "/v1/subscriptions", _subscription, given)
    return replace(made, query=(("wait", "settled"),), waits=_SETTLED) if settled else made


def subscriptions(after: str | None, state: str | None) -> Request[Page[StoredSubscription]]:
    def read(answer: ServerResponse) -> Page[StoredSubscription]:
        body = answer.json()
        return Page(tuple(_stored(one) for one in body["items"]), body["next"])

    return read_request("/v1/subscriptions", read, after=after, state=state)


def subscription(id: str) -> Request[StoredSubscription]:
    return read_request(f"/v1/subscriptions/{segment(id)}", _subscription)


def edit(id: str, **members: object) -> Request[StoredSubscription]:
    return change_request("PATCH", f"/v1/subscriptions/{segment(id)}", _subscription, members)


def export_subscriptions() -> Request[list[dict[str, Any]]]:
    def read(answer: ServerResponse) -> list[dict[str, Any]]:
        return [json.loads(line) for line in answer.content.splitlines() if line]

    return Request("GET", "/v1/subscriptions/export", read, waits=ANSWERED)


def import_subscriptions(lines: Iterable[Mapping[str, Any]], check: bool) -> Request[dict[str, Any]]:
    """The answer to one in which all were refused is read like any other."""
    body = b"".join(as_json(line) + b"\n" for line in lines)
    headers = {"content-type": NDJSON, "idempotency-key": uuid4().hex}
    query = (("check", "true"),) if check else ()
    fine = frozenset({422})
    return Request("POST", "/v1/subscriptions/import", _imported, query, body, headers, waits=ANSWERED, fine=fine)


def _imported(answer: ServerResponse) -> dict[str, Any]:
    found: dict[str, Any] = answer.json()
    if "results" not in found:
        raise refusal(answer.status, found)
    return {name: found[name] for name in ("accepted", "duplicates", "refused", "results")}


def unsubscribe(id: str) -> Request[int]:
    return change_request("DELETE", f"/v1/subscriptions/{segment(id)}", member("position"))


def test(filter: str, since: str | None, limit: int | None) -> Request[dict[str, Any]]:
    body = {"filter": filter, "since": since, "limit": limit}
    return _question("/v1/filters/test", {name: value for name, value in body.items() if value is not None})


def test_composite(composite: str, since: str | None, limit: int | None) -> Request[dict[str, Any]]:
    body = {"composite": composite, "since": since, "limit": limit}
    return _question("/v1/composites/test", {name: value for name, value in body.items() if value is not None})


def waiting(id: str) -> Request[dict[str, Any]]:
    return read_request(f"/v1/subscriptions/{segment(id)}/waiting", ServerResponse.json, waits=ANSWERED)


def explain(
    filter: str, event: Mapping[str, Any] | None, position: int | None, id: str | None, source: str | None
) -> Request[dict[str, Any]]:
    members = {"filter": filter, "event": event, "position": position, "id": id, "source": source}
    return _question("/v1/filters/explain", {name: value for name, value in members.items() if value is not None})


def _question(path: str, body: object) -> Request[dict[str, Any]]:
    """A POST that changes nothing."""
    headers = {"content-type": JSON}
    return Request("POST", path, ServerResponse.json, body=as_json(body), headers=headers, waits=ANSWERED)


def _subscription(answer: ServerResponse) -> StoredSubscription:
    return _stored(answer.json())


def _stored(one: Mapping[str, Any]) -> StoredSubscription:
    warnings = tuple(str(warning) for warning in one.get("warnings") or ())
    return StoredSubscription(
        one["id"],
        one.get("filter"),
        one["state"],
        one.get("expiry"),
        one["channel"],
        one["since"],
        warnings,
        one.get("channel_state"),
        one.get("secret"),
        one.get("confirm"),
        one.get("position"),
        one.get("name"),
        one.get("note"),
        one.get("composite"),
        one.get("errors"),
    )


def notifications(
    after: str | None, limit: int | None, wait: float | None, subscription: str | None
) -> Request[Page[Notification]]:
    def read(answer: ServerResponse) -> Page[Notification]:
        body = answer.json()
        found, goes_on = body["items"], body["next"]
        last = len(found) - 1
        made = (Notification.read(one, goes_on if number == last else after) for number, one in enumerate(found))
        return Page(tuple(made), goes_on)

    path = "/v1/notifications" if subscription is None else f"/v1/subscriptions/{segment(subscription)}/notifications"
    return read_request(path, read, waits=wait or 0.0, after=after, limit=limit, wait=wait)
