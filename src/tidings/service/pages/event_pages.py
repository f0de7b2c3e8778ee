"""/pages/events/{position}: one stored event, and which of the visitor's subscriptions it matched."""

from __future__ import annotations

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.service.door.callers import Caller
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.render import render
from tidings.service.pages.visitors import gateway_of, member
from tidings.service.workers.questions import NoSuchEvent, stored
from tidings.store.pages import recent

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_MOST_MATCHED = 100


@router.get("/pages/events/{position}")
async def event(position: int, request: Request) -> Response:
    caller = member(request)
    if not 0 < position < 2**62:
        raise NoSuchEvent(f"at position {position:,}")
    return await gateway_of(request).read(_page, request, position, caller)


def _page(request: Request, position: int, caller: Caller) -> Response:
    """In a thread: an event may be large."""
    store = gateway_of(request).store
    found = stored(store, position)
    reads_matches = "subscribe" in caller.scopes
    matched = recent.matched_at(store, caller.owner, position, _MOST_MATCHED + 1) if reads_matches else []
    return render(
        request,
        "event.html",
        found=found,
        event=msgspec.json.decode(found.payload),
        catalog=store.known_catalog,
        reads_matches=reads_matches,
        matched=matched[:_MOST_MATCHED],
        more=len(matched) > _MOST_MATCHED,
        committed=store.committed() >= position,
        source_text=msgspec.json.format(found.payload.encode(), indent=2).decode(),
    )
