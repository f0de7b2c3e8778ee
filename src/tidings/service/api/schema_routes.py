"""/v1/schema: the shared vocabulary, as it is, as it grew, and one step of growth at a time."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.errors import Explained, ServiceError, shown
from tidings.schema import Catalog, growth, json_form, xml_form
from tidings.schema.catalog import UnknownName
from tidings.schema.json_form import SchemaForm
from tidings.service.actions import schema as actions
from tidings.service.api.requests import V1, After, Calling, GatewayOf, IfNoneMatch, Limit, answered, page, read_cursor
from tidings.service.api.schema_shapes import (
    ATTRIBUTE,
    DOMAIN,
    EVENT_TYPE,
    NODE,
    SCHEMA,
    USE,
    VALUE,
    Grown,
    HeadlineGiven,
    History,
)
from tidings.service.api.shapes import check_media_type, read_body, says, takes
from tidings.service.door.idempotency import IdempotencyKey, IdempotentRoute
from tidings.service.gateway import Gateway

router = APIRouter(prefix=V1, tags=["schema"], route_class=IdempotentRoute)

_SCANNED = 10_000  # entries looked at for one page of the history
_QUICK = 1 << 16  # bytes of a body that are parsed without leaving the event loop


class NoSuchName(Explained, ServiceError):
    """An address names something that the schema does not have."""

    what: str
    name: str
    template = "the schema has no {what} {name!v}"


_GROWN = says(Grown, "The new version of the schema, and the position of the change", 201)
_FORMS = says(SCHEMA, "The newest schema")
_FORMS[200]["content"]["application/xml"] = {"schema": {"type": "string"}}
_FORMS[304] = {"description": "Not modified: `If-None-Match` has the newest version"}


class Written:
    """The newest schema's two forms, written once for each version."""

    def __init__(self) -> None:
        self._forms: dict[str, tuple[str, bytes]] = {}

    def form(self, catalog: Catalog, kind: str) -> tuple[str, bytes]:
        """The entity tag and the bytes."""
        tag = f'"{catalog.version}-{kind}"'
        found = self._forms.get(kind)
        if found is None or found[0] != tag:
            declared = replace(catalog, statistics=())  # which may be longer than all the rest
            text = (
                xml_form.write(declared).encode() if kind == "xml" else msgspec.json.encode(json_form.write(declared))
            )
            found = self._forms[kind] = (tag, text)
        return found


@router.get("/schema", responses=_FORMS)
async def schema(request: Request, gateway: GatewayOf, if_none_match: IfNoneMatch = "") -> Response:
    """Get the newest schema: as JSON, or as XML if `Accept` prefers it."""
    kind = "xml" if _prefers_xml(request.headers.get("accept", "")) else "json"
    written: Written = request.app.state.written_schema
    tag, text = await gateway.read(lambda: written.form(gateway.store.catalog(), kind))
    headers = {"ETag": tag, "Vary": "Accept", "Cache-Control": "no-cache"}
    if tag in if_none_match:
        return Response(status_code=304, headers=headers)
    return Response(text, headers=headers, media_type=f"application/{kind}")


@router.get("/schema/history", responses=says(History, "A page of changes"))
async def history(request: Request, gateway: GatewayOf, after: After = "", limit: Limit = 100) -> Response:
    """List the changes of the schema, oldest first."""
    start = read_cursor(after)
    changes, next = await gateway.read(_history, gateway, start, limit)
    return page(request, changes, next)


@router.post("/schema/domains", status_code=201, openapi_extra=takes(DOMAIN), responses=_GROWN)
async def create_domain(request: Request, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """Create a domain: a set of values and the operators that filters may use on them."""
    read = await _piece(request, gateway)
    return await _grown(gateway, growth.CreateDomain(await gateway.read(json_form.read_domain, read)))


@router.post("/schema/attributes", status_code=201, openapi_extra=takes(ATTRIBUTE), responses=_GROWN)
async def create_attribute(
    request: Request, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None
) -> Response:
    """Create an attribute over an existing domain."""
    return await _grown(gateway, growth.CreateAttribute(json_form.read_attribute(await _piece(request, gateway))))


@router.post("/schema/event-types", status_code=201, openapi_extra=takes(EVENT_TYPE), responses=_GROWN)
async def create_event_type(
    request: Request, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None
) -> Response:
    """Create an event type over existing attributes. Attributes are mandatory and unique by default."""
    return await _grown(gateway, growth.CreateEventType(json_form.read_event_type(await _piece(request, gateway))))


@router.post("/schema/event-types/{name:path}/attributes", status_code=201, openapi_extra=takes(USE), responses=_GROWN)
async def extend_event_type(
    name: str, request: Request, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None
) -> Response:
    """Add an optional attribute to an event type."""
    use = json_form.read_use(await _piece(request, gateway), mandatory=False)
    return await _grown(gateway, growth.ExtendEventType(name, use), ("event type", name))


@router.post(
    "/schema/event-types/{name:path}/headline", status_code=201, openapi_extra=takes(HeadlineGiven), responses=_GROWN
)
async def set_headline(
    name: str, request: Request, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None
) -> Response:
    """Name the attribute that is shown as the title of events of a type. It may be set again."""
    given = await read_body(request, HeadlineGiven)
    return await _grown(gateway, growth.SetHeadline(name, given.attribute), ("event type", name))


@router.post("/schema/domains/{name:path}/values", status_code=201, openapi_extra=takes(VALUE, NODE), responses=_GROWN)
async def append_value(
    name: str, request: Request, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None
) -> Response:
    """Add a value to an enumeration, or a node to a hierarchy: below `parent`, or as a root."""
    read = await _piece(request, gateway)
    if not isinstance(read, dict):
        raise SchemaForm("value", f"expected an object, got {shown(read)}")
    kind = "append_node" if "node" in read or "parent" in read else "append_value"
    change = json_form.read_change({**read, "change": kind, "domain": name}, "value" if kind != "append_node" else kind)
    if "change" in read or "domain" in read:
        raise SchemaForm("value", "the members are 'value', or 'node' and 'parent'")
    return await _grown(gateway, change, ("domain", name))


async def _piece(request: Request, gateway: Gateway) -> Any:
    """Raises WrongContentType or SchemaForm."""
    check_media_type(request)
    body = await request.body()
    return json_form.parse(body) if len(body) < _QUICK else await gateway.read(json_form.parse, body)


async def _grown(gateway: Gateway, change: growth.Change, place: tuple[str, str] | None = None) -> Response:
    """Raises what the change is refused for; where it is the address that names nothing, NoSuchName."""
    try:
        grown = await actions.grow(gateway, (change,))
    except UnknownName as unknown:
        if unknown.args[:2] == place:
            raise NoSuchName(*unknown.args[:2]) from None
        raise
    return answered({"version": grown.version, "position": grown.position}, 201)


def _history(gateway: Gateway, after: int, limit: int) -> tuple[list[dict[str, Any]], str | None]:
    found: list[dict[str, Any]] = []
    last, seen = after, 0
    for entry in islice(gateway.store.changes(after), _SCANNED):
        last, seen = entry.position, seen + 1
        if entry.kind == "schema":
            step = {"position": entry.position, "accepted": str(entry.accepted), "version": entry.schema_version}
            found.append(step | {"change": msgspec.Raw(entry.body.encode())})
            if len(found) == limit:
                break
    complete = len(found) < limit and seen < _SCANNED
    return found, None if complete else str(last)


def _prefers_xml(accept: str) -> bool:
    """XML is named, and JSON not with a greater or equal weight."""
    weights = {"xml": 0.0, "json": 0.0}
    for item in accept.lower().split(","):
        kind, *parameters = (part.strip() for part in item.split(";"))
        weight = 1.0
        for parameter in parameters:
            name, _, value = parameter.partition("=")
            if name == "q":
                try:
                    weight = float(value)
                except ValueError:
                    weight = 0.0
        if kind in ("application/xml", "text/xml"):
            weights["xml"] = max(weights["xml"], weight)
        elif kind in ("application/json", "application/*", "*/*"):
            weights["json"] = max(weights["json"], weight if kind == "application/json" else 0.0)
    return weights["xml"] > weights["json"]
