"""POST /v1/documents/{event_type}: the body is an XML document, one attribute of an event; query parameters are the
others."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.events.document_events import document_event
from tidings.service.actions import publish as actions
from tidings.service.actions.keys import EventIds
from tidings.service.api.events.cloud_events import is_xml
from tidings.service.api.events.event_routes import Published
from tidings.service.api.requests import V1, answered
from tidings.service.api.shapes import WrongContentType, check_unpacked, says
from tidings.service.door.head import head_of
from tidings.service.door.idempotency import IdempotencyKey, IdempotentRoute, key_of
from tidings.service.door.scope_check import caller_of
from tidings.service.gateway import Gateway

router = APIRouter(prefix=V1, tags=["events"], route_class=IdempotentRoute)

ACCEPTED = ("application/xml", "text/xml")
_DAY = 86_400  # seconds


def _body() -> dict[str, Any]:
    document = {"schema": {"type": "string", "description": "The document"}}
    text = {"type": "string"}
    parameters = [
        {"name": name, "in": "query", "required": False, "schema": text, "description": told}
        for name, told in (
            ("id", "The event's id; it gets one if there is none"),
            ("source", "The event's source"),
            ("time", "When it happened: ISO 8601"),
            ("contact", "A contact of the publisher"),
        )
    ]
    content = {ACCEPTED[0]: document}
    return {"requestBody": {"required": True, "content": content}, "parameters": parameters}


@router.post(
    "/documents/{event_type}",
    status_code=202,
    openapi_extra=_body(),
    responses=says(Published, "Accepted, or a duplicate", 202),
)
async def publish(event_type: str, request: Request, key: IdempotencyKey = None) -> Response:
    """Publish one event whose only attribute for documents is the body. Query parameters give the event's `id`,
    `source`, `time` and `contact`, and its other attributes by name: `?urgency=2&code=04`; repeat one for several
    values.

    A document that is not valid is refused with line, column and the parser's words.
    """
    gateway: Gateway = request.app.state.gateway
    check_unpacked(request, ACCEPTED)
    said = head_of(request).get(b"content-type", b"").decode("latin-1")
    if not is_xml(said.partition(";")[0]):
        raise WrongContentType(said, ACCEPTED)
    body = await request.body()
    actions.check_size(gateway, len(body))
    given: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        given.setdefault(name, []).append(value)
    catalog = gateway.store.known_catalog
    if catalog.event_type(event_type) is None:
        catalog = await gateway.read(gateway.store.catalog)
    raw = await gateway.read(document_event, body, (event_type,), catalog, given)
    named = key_of(request)
    id = None if named is None else EventIds(caller_of(request).username, named, body).of(1)
    done = await actions.publish(gateway, raw, len(body), id)
    headers = {}
    if (days := gateway.settings.duplicate_window_days) is not None:
        headers["Tidings-Duplicate-Window"] = str(days * _DAY)
    return answered({"id": done.id, "position": done.position, "duplicate": done.duplicate}, 202, headers)
