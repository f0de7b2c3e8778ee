"""/pages/subscriptions: yours; pause, resume, delete."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.service.actions import subscriptions
from tidings.service.actions.subscriptions import SubscriptionChange
from tidings.service.api.requests import After, read_cursor
from tidings.service.pages.forms.form import Form, read_form
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.charts import spark
from tidings.service.pages.parts.render import render
from tidings.service.pages.visitors import gateway_of, member
from tidings.store import Standing
from tidings.store.journal.fitness import is_id
from tidings.store.pages import owned, recent

router = APIRouter(route_class=PageRoute, include_in_schema=False)
MINE = "/pages/subscriptions"
_PAGE = 20
_LONGEST_SEARCH = 200
DONE = {"deleted": "Deleted.", "paused": "Paused.", "resumed": "Resumed.", "edited": "Saved."}


@router.get(MINE)
async def mine(
    request: Request, before: After = "", state: str = "", q: str = "", sort: str = "", done: str = ""
) -> Response:
    """`before` is where the last page ended: a position, or an id where names are sorted."""
    owner = member(request).owner
    gateway = gateway_of(request)
    start: int | str | None
    state = state if state in ("active", "paused") else ""
    text = q.strip().replace("\0", "")[:_LONGEST_SEARCH]
    sort = sort if sort == "name" else ""
    if sort:
        start = before if is_id(before) else ""
        listed = await gateway.read(owned.by_name, gateway.store, owner, start, _PAGE + 1, state, text)
    else:
        start = read_cursor(before) or None
        listed = await gateway.read(owned.youngest, gateway.store, owner, start, _PAGE + 1, state, text)
    shown, end = listed.found[:_PAGE], listed.upto
    if len(listed.found) > _PAGE:
        end = shown[-1].id if sort else shown[-1].since
    ids = [one.id for one in shown]
    await gateway.read(gateway.store.catalog)  # filters are shown in its words
    counts = await gateway.read(recent.sparks, gateway.store, owner, ids, gateway.store.clock.now())
    kept = {name: value for name, value in (("state", state), ("q", text), ("sort", sort)) if value}
    return render(
        request,
        "subscriptions.html",
        subscriptions=[(one, spark(counts[one.id], "hour")) for one in shown],
        channels=await gateway.read(gateway.store.channels_of, owner, ids),
        total=await gateway.read(gateway.store.count_subscriptions, owner),
        next=f"{MINE}?{urlencode(kept | {'before': end})}" if end is not None else None,
        searched=owned.SEARCHED if end is not None and len(shown) < _PAGE else 0,
        newest=f"{MINE}?{urlencode(kept)}" if start else None,
        kept=kept | ({"before": before} if start else {}),
        state_chosen=state,
        q=text,
        sort=sort,
        done=DONE.get(done, ""),
    )


@router.post(f"{MINE}/{{id}}/pause")
async def pause(id: str, request: Request) -> Response:
    owner, form = member(request).owner, await read_form(request)
    await subscriptions.change(gateway_of(request), owner, id, SubscriptionChange(state="paused"))
    return _done(form, id, "paused")


@router.post(f"{MINE}/{{id}}/resume")
async def resume(id: str, request: Request) -> Response:
    owner, form = member(request).owner, await read_form(request)
    await subscriptions.change(gateway_of(request), owner, id, SubscriptionChange(state="active"))
    return _done(form, id, "resumed")


@router.post(f"{MINE}/{{id}}/delete")
async def delete(id: str, request: Request) -> Response:
    owner, form = member(request).owner, await read_form(request)
    await subscriptions.withdraw(gateway_of(request), owner, id)
    return _done(form, id, "deleted")


def _done(form: Form, id: str, done: str) -> Response:
    if form.one("back") == "one" and done != "deleted":
        return RedirectResponse(f"{MINE}/{id}?done={done}", 303)
    query = {"done": done} | {name: form.one(name) for name in ("before", "state", "q", "sort") if form.one(name)}
    return RedirectResponse(f"{MINE}?{urlencode(query)}", 303)


async def own(request: Request, id: str) -> Standing:
    """Raises NoSuchSubscription, also for another's."""
    return await subscriptions.own(gateway_of(request), member(request).owner, id)
