"""Documents generated from the newest catalog: /schema.json, /asyncapi.json and the DTDs of the XML requests.

Each is made once for a version of the schema, beside the event loop, when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.errors import Explained, ServiceError
from tidings.schema import Catalog
from tidings.schema.dtd import dtds
from tidings.service.api.documents.asyncapi import asyncapi
from tidings.service.api.documents.json_schema import json_schema
from tidings.service.api.requests import GatewayOf, IfNoneMatch
from tidings.service.door.guarded_route import GuardedRoute
from tidings.service.gateway import Gateway

router = APIRouter(tags=["documents"], route_class=GuardedRoute)

_JSON_SCHEMA, _JSON, _DTD = "application/schema+json", "application/json", "application/xml-dtd"
_OBJECT: dict[str, Any] = {"type": "object"}
_TEXT: dict[str, Any] = {"type": "string"}


class NoSuchDocument(Explained, ServiceError):
    name: str
    known: tuple[str, ...]
    template = "no DTD {name!v}; valid: {listed}"

    @property
    def listed(self) -> str:
        return ", ".join(self.known)


class Documents:
    """The documents of one version of the schema; a newer one takes the place of all of them."""

    def __init__(self) -> None:
        self._made: tuple[int, dict[str, Any]] = (0, {})

    def made(self, gateway: Gateway, name: str, make: Callable[[Catalog], Any]) -> tuple[int, Any]:
        """The schema's version and the document of this name. Threads may come at once; at worst one is made twice."""
        catalog = gateway.store.catalog()
        version, known = self._made
        if version != catalog.version:
            version, known = self._made = (catalog.version, {})
        if name not in known:
            known[name] = make(catalog)
        return version, known[name]


def _answers(media: str, schema: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    told = {"description": "The document for the newest schema", "content": {media: {"schema": schema}}}
    return {200: told, 304: {"description": "Not modified"}}


@router.get("/schema.json", responses=_answers(_JSON_SCHEMA, _OBJECT), response_class=Response)
async def schema(request: Request, gateway: GatewayOf, if_none_match: IfNoneMatch = "") -> Response:
    """Get the JSON Schema (2020-12) of valid events. Its `$comment` lists rules beyond JSON Schema."""
    version, text = await _document(request, gateway, "schema", lambda catalog: _written(json_schema(catalog)))
    return _answer(gateway, version, text, _JSON_SCHEMA, if_none_match)


@router.get("/asyncapi.json", responses=_answers(_JSON, _OBJECT), response_class=Response)
async def asynchronous(request: Request, gateway: GatewayOf, if_none_match: IfNoneMatch = "") -> Response:
    """Get the AsyncAPI 3.0 document: events, and notifications by polling, server-sent events and webhooks."""
    address = gateway.settings.links_lead_to
    version, text = await _document(request, gateway, "asyncapi", lambda catalog: _written(asyncapi(catalog, address)))
    return _answer(gateway, version, text, _JSON, if_none_match)


@router.get("/dtds/{name}.dtd", responses=_answers(_DTD, _TEXT), response_class=Response)
async def dtd(name: str, request: Request, gateway: GatewayOf, if_none_match: IfNoneMatch = "") -> Response:
    """Get the DTD of a kind of XML request."""
    version, found = await _document(request, gateway, "dtds", dtds)
    if f"{name}.dtd" not in found:
        raise NoSuchDocument(f"{name}.dtd", tuple(sorted(found)))
    return _answer(gateway, version, found[f"{name}.dtd"].encode(), _DTD, if_none_match)


async def _document(request: Request, gateway: Gateway, name: str, make: Callable[[Catalog], Any]) -> tuple[int, Any]:
    state = request.app.state
    if not hasattr(state, "documents"):
        state.documents = Documents()
    documents: Documents = state.documents
    return await gateway.read(documents.made, gateway, name, make)


def _written(document: dict[str, Any]) -> bytes:
    return msgspec.json.encode(document)


def _answer(gateway: Gateway, version: int, body: bytes, media: str, if_none_match: str) -> Response:
    """`no-cache`: clients may keep it, but must revalidate it before use."""
    tag = f'"{gateway.store.id}-{version}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    given = [one.strip().removeprefix("W/") for one in if_none_match.split(",")]
    if tag in given or "*" in given:
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type=media)
