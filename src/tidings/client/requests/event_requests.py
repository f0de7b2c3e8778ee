"""The requests of the API about events: to publish them, and to find those that are stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tidings.client.answers import Page, Published, PublishedMany, ServerResponse, StoredEvent
from tidings.client.request import (
    ANSWERED,
    JSON,
    LARGEST_PAGE,
    NDJSON,
    Request,
    as_json,
    change_request,
    member,
    nothing,
    read_request,
    segment,
)

# Events


def publish(event: Mapping[str, Any]) -> Request[Published]:
    """An event with an id: its source and id make it the same event when it is sent again."""
    headers = {"content-type": JSON}
    return Request("POST", "/v1/events", _published, body=as_json(event), headers=headers)


def publish_lines(lines: Sequence[bytes]) -> Request[PublishedMany]:
    """Events as JSON Lines, each with an id."""
    headers = {"content-type": NDJSON}
    body = b"\n".join(lines) + b"\n"
    return Request("POST", "/v1/events", _published_many, body=body, headers=headers, fine=frozenset({422}))


def _published(answer: ServerResponse) -> Published:
    body = answer.json()
    return Published(str(body["id"]), int(body["position"]), bool(body["duplicate"]))


def _published_many(answer: ServerResponse) -> PublishedMany:
    """Of 422 too, where it says that all of them were refused."""
    body = answer.json()
    if "results" not in body:
        answer.checked()
    results = tuple(body["results"])
    refused = tuple(one for one in results if "errors" in one)
    return PublishedMany(int(body["accepted"]), int(body["duplicates"]), int(body["refused"]), refused, results)


# Stored events


def events(
    filter: str | None, since: str | None, until: str | None, limit: int | None, after: str | None
) -> Request[Page[StoredEvent] | str]:
    """A page of events, or the id of the query that the server made of it because it takes long."""

    def read(answer: ServerResponse) -> Page[StoredEvent] | str:
        return str(answer.json()["query"]) if answer.status == 202 else _events(answer)

    most = None if limit is None else min(limit, LARGEST_PAGE)
    request: Request[Page[StoredEvent] | str] = read_request(
        "/v1/events", read, waits=ANSWERED, filter=filter, since=since, until=until, limit=most, after=after
    )
    return replace(
        request, idempotent=limit is not None or after is not None
    )  # else it may become a job, and twice two


def start_query(filter: str | None, since: str | None, until: str | None) -> Request[str]:
    """Sent twice it would be two jobs."""
    request: Request[str] = read_request("/v1/events", member("query"), filter=filter, since=since, until=until)
    return replace(request, headers={"prefer": "respond-async"}, idempotent=False)


def queries(after: str | None) -> Request[Page[dict[str, Any]]]:
    def read(answer: ServerResponse) -> Page[dict[str, Any]]:
        body = answer.json()
        return Page(tuple(body["items"]), body["next"])

    return read_request("/v1/queries", read, after=after)


def query_state(id: str) -> Request[dict[str, Any]]:
    return read_request(f"/v1/queries/{segment(id)}", ServerResponse.json)


def query_events(id: str, after: str | None) -> Request[Page[StoredEvent]]:
    return read_request(f"/v1/queries/{segment(id)}/events", _events, after=after)


def drop_query(id: str) -> Request[None]:
    return change_request("DELETE", f"/v1/queries/{segment(id)}", nothing)


def event(position: int) -> Request[StoredEvent]:
    return read_request(f"/v1/events/{position}", lambda answer: _event(answer.json()))


def _events(answer: ServerResponse) -> Page[StoredEvent]:
    body = answer.json()
    goes_on = body["next"]
    return Page(tuple(_event(one) for one in body["items"]), None if goes_on is None else str(goes_on))


def _event(one: Mapping[str, Any]) -> StoredEvent:
    return StoredEvent(int(one["position"]), str(one["accepted"]), one["event"])
