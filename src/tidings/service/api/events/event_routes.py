"""POST /v1/events: one event, an array, CloudEvents in three forms, or a stream of lines.

One event is a draft in the group commit that all requests share. `event_array` and `event_lines` have the way of many.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from tidings.errors import TidingsError
from tidings.service.actions import publish as actions
from tidings.service.actions.keys import EventIds
from tidings.service.actions.publish import check_size
from tidings.service.api import problems
from tidings.service.api.events import cloud_events
from tidings.service.api.requests import V1, answered
from tidings.service.api.shapes import (
    QUICK,
    Shape,
    WrongBody,
    WrongContentType,
    check_unpacked,
    decoded,
    media_type,
    says,
    takes,
)
from tidings.service.door.guarded_route import GuardedRoute
from tidings.service.door.head import head_of
from tidings.service.door.idempotency import IdempotencyKey, key_of, once
from tidings.service.door.middleware import STREAMED
from tidings.service.door.scope_check import caller_of, check_need
from tidings.service.door.scopes import need_of
from tidings.service.gateway import Gateway
from tidings.service.publishing.batch_results import MOST_OF_A_STREAM, BatchResults, Result
from tidings.service.publishing.event_array import TooManyEvents, publish_array
from tidings.service.publishing.event_lines import Pieces, publish_stream

router = APIRouter(prefix=V1, tags=["events"], route_class=GuardedRoute)

_JSON = "application/json"
ACCEPTED = (_JSON, cloud_events.STRUCTURED, cloud_events.BATCH, *STREAMED)
_DAY = 86_400  # seconds
_NEED = need_of("POST", "/v1/events")

_TEXT = {"type": "string"}
_NULLABLE = {"type": ["string", "null"]}
_EVENT: dict[str, Any] = {
    "title": "Event",
    "type": "object",
    "properties": {
        "id": {"type": ["string", "null"], "minLength": 1, "maxLength": 1000},
        "source": _NULLABLE,
        "time": {"type": ["string", "null"], "description": "When it happened: ISO 8601, UTC unless it names a zone"},
        "contact": _NULLABLE,
        "event_type": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]},
        "attributes": {"type": ["object", "null"], "description": "A value, or a list of values, for each name"},
    },
    "required": ["event_type"],
    "additionalProperties": False,
}
_CLOUD_EVENT: dict[str, Any] = {
    "title": "CloudEvent",
    "type": "object",
    "properties": {
        "specversion": {"const": "1.0"},
        "id": {"type": "string", "minLength": 1},
        "source": {"type": "string", "minLength": 1},
        "type": {"type": "string", "minLength": 1, "description": "The event type"},
        "eventtypes": {"type": ["string", "null"], "description": "Several event types, separated by commas"},
        "time": _NULLABLE,
        "data": {"type": ["object", "null"], "description": "The attributes"},
    },
    "required": ["specversion", "id", "source", "type"],
}


class Published(Shape, frozen=True):
    id: str
    position: int
    duplicate: bool


class PublishedMany(Shape, frozen=True):
    """Counts, and a result for each event in order. `omitted` counts the events of a long stream without a result."""

    accepted: int
    duplicates: int
    refused: int
    results: list[Result]
    omitted: int


def _body() -> dict[str, Any]:
    many = {"type": "array", "items": _EVENT, "description": "A refused event does not hold up the others"}
    described = takes(_EVENT, many, told="One event or many, in any of these formats")
    content = described["requestBody"]["content"]
    content[cloud_events.STRUCTURED] = {"schema": _CLOUD_EVENT}
    # Without `items`: openapi-python-client 0.29 would write `isinstance(body, list[CloudEvent])`, which always fails.
    content[cloud_events.BATCH] = {"schema": {"type": "array", "description": "Of CloudEvents"}}
    for kind in STREAMED:
        content[kind] = {
            "schema": {"type": "string", "description": "One JSON object per line, processed as they arrive"}
        }
    return described | {"security": [{"token": []}]}


_ANSWERS = says(Published, "Accepted, or a duplicate", 202) | says(PublishedMany, "Some events were refused", 207)
_ANSWERS[202]["content"][_JSON]["schema"] = {
    "anyOf": [says(shape, "")[200]["content"][_JSON]["schema"] for shape in (Published, PublishedMany)]
}


@router.post("/events", status_code=202, openapi_extra=_body(), responses=_ANSWERS)
async def publish(request: Request, key: IdempotencyKey = None) -> Response:
    """Publish one event, an array or a stream of lines. The answer to one event is its position in the journal; the
    answer to many has a result for each: 202 if none was refused, 207 if some were, 422 if all were.

    For a stream only the first 10,000 events have a result; later ones are counted. Only the first 1,000 refused events
    have `errors`.

    Two events with the same source and id are the same event: the second one is a duplicate. Events without an id get
    one; with an `Idempotency-Key` a repeated request gives them the same ids again.

    The header `Tidings-Duplicate-Window` says for how many seconds duplicates are recognized; without it, forever.
    """
    check_need(request, _NEED)  # the middleware calls this without the route, and without the key
    gateway: Gateway = request.app.state.gateway
    key = key_of(request)
    answer = await (_published(request, gateway, None) if key is None else _published_once(request, gateway, key))
    if (days := gateway.settings.duplicate_window_days) is not None:
        answer.headers["Tidings-Duplicate-Window"] = str(days * _DAY)
    return answer


async def _published_once(request: Request, gateway: Gateway, key: str) -> Response:
    """A stream is not read whole: its events are known again by the ids that they get."""
    caller = caller_of(request)
    if media_type(request) in STREAMED:
        return await _published(request, gateway, EventIds(caller.username, key))
    body = await request.body()
    ids = EventIds(caller.username, key, body)
    return await once(request, key, body, lambda: _published(request, gateway, ids))


async def _published(request: Request, gateway: Gateway, ids: EventIds | None) -> Response:
    kind = media_type(request)
    check_unpacked(request, ACCEPTED)
    if kind in STREAMED:
        return await _many_lines(request, gateway, ids)
    if kind == cloud_events.STRUCTURED:  # which always has an id
        body = await request.body()
        return await _one(gateway, body, await _reading(gateway, body))
    if kind == cloud_events.BATCH:
        body = await request.body()
        return await _many(request, gateway, body, await _reading(gateway, body))
    if cloud_events.is_binary(head_of(request)):
        return await _binary(request, gateway, kind)
    if kind != _JSON:
        raise WrongContentType(request.headers.get("content-type", ""), ACCEPTED)
    body = await request.body()
    if body.lstrip(b" \t\r\n")[:1] == b"[":
        return await _many(request, gateway, body, None, ids)
    return await _one(gateway, body, None, ids)


async def _binary(request: Request, gateway: Gateway, kind: str) -> Response:
    body = await request.body()
    if body and kind != _JSON and not kind.endswith("+json") and not cloud_events.is_xml(kind):
        raise WrongContentType(request.headers.get("content-type", ""), (_JSON, "application/xml"))
    check_size(gateway, len(body))
    catalog = await gateway.read(gateway.store.catalog) if cloud_events.is_xml(kind) else None
    if len(body) < QUICK:
        raw = cloud_events.read_binary(request.headers, body, catalog)
    else:
        raw = await gateway.read(cloud_events.read_binary, request.headers, body, catalog)
    return await _append(gateway, raw, len(body))


async def _reading(gateway: Gateway, body: bytes) -> Callable[[Any], dict[str, Any]]:
    """Only a document needs the schema to become an event."""
    if b"xml" not in body:
        return cloud_events.read_structured
    return partial(cloud_events.read_structured, catalog=await gateway.read(gateway.store.catalog))


async def _one(
    gateway: Gateway, body: bytes, read: Callable[[Any], dict[str, Any]] | None, ids: EventIds | None = None
) -> Response:
    check_size(gateway, len(body))
    raw: Any = decoded(body, Any) if len(body) < QUICK else await gateway.read(decoded, body, Any)
    if read is not None:
        raw = read(raw) if len(body) < QUICK else await gateway.read(read, raw)
    return await _append(gateway, raw, len(body), None if ids is None else ids.of(1))


async def _append(gateway: Gateway, raw: Any, size: int, id: str | None = None) -> Response:
    done = await actions.publish(gateway, raw, size, id)
    return answered({"id": done.id, "position": done.position, "duplicate": done.duplicate}, 202)


async def _many(
    request: Request,
    gateway: Gateway,
    body: bytes,
    read: Callable[[Any], dict[str, Any]] | None,
    ids: EventIds | None = None,
) -> Response:
    results = BatchResults(request.app.state.metrics.events)
    try:
        await publish_array(body, gateway, results, read, ids)
    except (WrongBody, TooManyEvents):  # nothing was done
        raise
    except TidingsError as problem:
        return stopped(problem, results)
    return _answered(results)


async def _many_lines(request: Request, gateway: Gateway, ids: EventIds | None) -> Response:
    results = BatchResults(request.app.state.metrics.events, MOST_OF_A_STREAM)
    try:
        await publish_stream(Pieces(request.stream()), gateway, results, ids)
    except HTTPException as refused:
        if refused.status_code not in (413, 429):
            raise
        # Counts alone: the connection is closed while the peer sends, which may lose a long answer.
        return problems.http_answer(refused, **results.counts())
    except TidingsError as problem:
        return stopped(problem, results)
    return _answered(results)


def _answered(results: BatchResults) -> Response:
    if results.refused and not results.accepted and not results.duplicates:
        told = f"no event of this request was accepted ({results.refused:,} refused); see `results`"
        return problems.typed_answer("nothing-accepted", told, **results.as_json())
    return answered(results.as_json(), 207 if results.refused else 202)


def stopped(problem: TidingsError, results: BatchResults) -> Response:
    """Events accepted before stay accepted; the answer counts them."""
    return problems.answer(problem, **results.as_json())
