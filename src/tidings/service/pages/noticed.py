"""How many notices the visitor has not read: asked before each page, for the line that stands on all of them."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.requests import Request

from tidings.errors import StoreError, TidingsError
from tidings.service.pages.visiting import gateway_of, visitor
from tidings.store import notices

_PATIENCE = 1.0  # seconds: the page itself matters more


async def count_unread(request: Request) -> None:
    """Leaves the number with the request. A store that does not answer is the page's to tell."""
    try:
        caller = visitor(request)
    except TidingsError:  # a page of another site; whoever handles the request refuses it
        return
    if caller.username and "subscribe" in caller.scopes:
        gateway = gateway_of(request)
        with suppress(StoreError, TimeoutError):
            read = gateway.read(notices.unread, gateway.store, caller.owner)
            request.state.unread = await asyncio.wait_for(read, _PATIENCE)


def unread_of(request: Request) -> int:
    return int(getattr(request.state, "unread", 0))
