"""How many notices the visitor has not read, asked before each page, for the bar on all of them; and where
subscriptions are shown, how many of their channels have stopped since."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.requests import Request

from tidings.errors import StoreError, TidingsError
from tidings.service.pages.visitors import gateway_of, visitor
from tidings.store.pages import notices

_PATIENCE = 1.0  # seconds: the page itself matters more
_MINE = "/pages/subscriptions"
_SEVERAL = 2  # more need not be told apart


async def count_unread(request: Request) -> None:
    """Leaves the numbers with the request. A store that does not answer is the page's to tell."""
    try:
        caller = visitor(request)
    except TidingsError:  # a page of another site; the route refuses it
        return
    if caller.username and "subscribe" in caller.scopes:
        gateway = gateway_of(request)
        with suppress(StoreError, TimeoutError):
            read = gateway.read(notices.unread, gateway.store, caller.owner)
            request.state.unread = await asyncio.wait_for(read, _PATIENCE)
            path = request.url.path
            if request.state.unread and (path in ("/", _MINE) or path.startswith(f"{_MINE}/")):
                look = gateway.read(notices.stopped, gateway.store, caller.owner, _SEVERAL)
                request.state.stopped = await asyncio.wait_for(look, _PATIENCE)


def stopped_of(request: Request) -> int:
    """None, one, or two for several."""
    return int(getattr(request.state, "stopped", 0))


def unread_of(request: Request) -> int:
    return int(getattr(request.state, "unread", 0))
