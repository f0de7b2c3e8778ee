"""/pages/notices: what became of your channels without your doing, the newest first."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.service.pages.form import read_form
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.rendering import render
from tidings.service.pages.visiting import gateway_of, member
from tidings.service.requests import After, read_cursor
from tidings.store import notices

router = APIRouter(route_class=PageRoute, include_in_schema=False)
NOTICES = "/pages/notices"
_PAGE = 20
_DONE = {"read": "Marked as read."}


@router.get(NOTICES)
async def listed(request: Request, before: After = "", done: str = "") -> Response:
    owner = member(request, "subscribe").owner
    gateway = gateway_of(request)
    start = read_cursor(before) or None
    found = await gateway.read(notices.newest, gateway.store, owner, start, _PAGE + 1)
    shown, more = found[:_PAGE], len(found) > _PAGE
    return render(
        request,
        "notices.html",
        notices=shown,
        upto=shown[0].number if shown and start is None else 0,
        next=f"{NOTICES}?before={shown[-1].number}" if more else None,
        first=start is None,
        before=before if start else "",
        done=_DONE.get(done, ""),
    )


@router.post(NOTICES)
async def read(request: Request) -> Response:
    """`number`: this one; `upto`: all that the page showed and those before, but none that came since."""
    owner = member(request, "subscribe").owner
    form = await read_form(request)
    gateway = gateway_of(request)
    if form.one("number"):
        await gateway.write(notices.mark_read, gateway.store, owner, read_cursor(form.one("number")))
    else:
        await gateway.write(gateway.store.see_notices, owner, read_cursor(form.one("upto")))
    before = read_cursor(form.one("before"))
    return RedirectResponse(f"{NOTICES}?done=read" + (f"&before={before}" if before else ""), 303)
