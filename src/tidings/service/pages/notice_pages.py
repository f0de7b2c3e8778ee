"""/pages/notices: what failed, and which channels were disabled, the newest first."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.service.actions.notices import page_of, see_one, see_up_to
from tidings.service.api.requests import After, read_cursor
from tidings.service.pages.forms.form import read_form
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.render import render
from tidings.service.pages.visitors import gateway_of, member
from tidings.store import Notice
from tidings.store.pages import notices

router = APIRouter(route_class=PageRoute, include_in_schema=False)
NOTICES = "/pages/notices"
_PAGE = 20
_DONE = {"read": "Marked as read."}


@router.get(NOTICES)
async def listed(request: Request, before: After = "", done: str = "") -> Response:
    owner = member(request).owner
    gateway = gateway_of(request)
    start = read_cursor(before) or None
    found = await gateway.read(notices.newest, gateway.store, owner, start, _PAGE + 1)
    shown, more = found[:_PAGE], len(found) > _PAGE
    channels = await gateway.read(gateway.store.channels_of, owner, [one.subscription for one, _ in shown])
    stopped = {id for id, channel in channels.items() if channel.state == "disabled"}
    return render(
        request,
        "notices.html",
        notices=[(one, called, _told(one), page_of(one), one.subscription in stopped) for one, called in shown],
        upto=shown[0][0].number if shown and start is None else 0,
        next=f"{NOTICES}?before={shown[-1][0].number}" if more else None,
        first=start is None,
        before=before if start else "",
        done=_DONE.get(done, ""),
    )


def _told(notice: Notice) -> str:
    """Without the id that older texts have: the filter is above it."""
    return notice.text.replace(f" of subscription {notice.subscription!r}", "")


@router.post(NOTICES)
async def read(request: Request) -> Response:
    """`number`: this one; `upto`: all that the page showed and those before, but none that came since."""
    owner = member(request).owner
    form = await read_form(request)
    gateway = gateway_of(request)
    if form.one("number"):
        await see_one(gateway, owner, read_cursor(form.one("number")))
    else:
        await see_up_to(gateway, owner, read_cursor(form.one("upto")))
    before = read_cursor(form.one("before"))
    return RedirectResponse(f"{NOTICES}?done=read" + (f"&before={before}" if before else ""), 303)
