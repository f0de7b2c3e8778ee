"""/pages/events/{position}: one stored event, and which of the visitor's subscriptions it matched."""

from __future__ import annotations

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.rendering import render
from tidings.service.pages.visiting import gateway_of, member
from tidings.service.questions import NoSuchEvent, stored
from tidings.store import browsing

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/pages/events/{position}")
async def event(position: int, request: Request) -> Response:
    owner = member(request).owner
    if not 0 < position < 2**62:
        raise NoSuchEvent(f"at position {position:,}")
    gateway = gateway_of(request)
    found = await gateway.read(stored, gateway.store, position)
    raw = msgspec.json.decode(found.payload)
    return render(
        request,
        "event.html",
        found=found,
        event=raw,
        matched=await gateway.read(browsing.matched_at, gateway.store, owner, position),
        committed=await gateway.read(gateway.store.committed) >= position,
        source_text=msgspec.json.format(found.payload.encode(), indent=2).decode(),
    )
