"""/pages/subscriptions: yours; a new one; edit, pause, resume, delete."""

from __future__ import annotations

import secrets
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.errors import TidingsError
from tidings.schema import Instant
from tidings.service.actions import subscriptions
from tidings.service.actions.keys import IdempotencyKeyReused
from tidings.service.actions.subscriptions import SubscriptionAsked, SubscriptionChange
from tidings.service.actions.times import read_future_time
from tidings.service.api.requests import After, read_cursor
from tidings.service.pages.forms.filter_form import checked_form, filter_form, wrong_form
from tidings.service.pages.forms.form import Form, read_form
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.charts import spark
from tidings.service.pages.parts.render import render
from tidings.service.pages.visitors import gateway_of, member
from tidings.store import Standing
from tidings.store.journal.entries import KEEP
from tidings.store.pages import recent

router = APIRouter(route_class=PageRoute, include_in_schema=False)
MINE = "/pages/subscriptions"
_PAGE = 20
_LONGEST_SEARCH = 200
_SENT_BEFORE = "This form has made a subscription already. Send it once more to make another one."
DONE = {"deleted": "Deleted.", "paused": "Paused.", "resumed": "It counts again.", "edited": "Saved."}


@router.get(MINE)
async def mine(request: Request, before: After = "", state: str = "", q: str = "", done: str = "") -> Response:
    owner = member(request).owner
    gateway = gateway_of(request)
    state = state if state in ("active", "paused") else ""
    text = q.strip().replace("\0", "")[:_LONGEST_SEARCH]
    start = read_cursor(before) or None
    found = await gateway.read(recent.owned, gateway.store, owner, start, _PAGE + 1, state, text)
    shown, more = found[:_PAGE], len(found) > _PAGE
    ids = [one.id for one in shown]
    counts = await gateway.read(recent.sparks, gateway.store, owner, ids, gateway.store.clock.now())
    kept = {name: value for name, value in (("state", state), ("q", text)) if value}
    return render(
        request,
        "subscriptions.html",
        subscriptions=[(one, spark(counts[one.id], "hour")) for one in shown],
        channels=await gateway.read(gateway.store.channels_of, owner, ids),
        total=await gateway.read(gateway.store.count_subscriptions, owner),
        next=f"{MINE}?{urlencode(kept | {'before': shown[-1].since})}" if more else None,
        newest=f"{MINE}?{urlencode(kept)}" if start else None,
        kept=kept | ({"before": before} if start else {}),
        state_chosen=state,
        q=text,
        done=DONE.get(done, ""),
    )


@router.get(f"{MINE}/new")
async def making(request: Request, filter: str = "") -> Response:
    member(request)
    return await filter_form(request, None, {"text": filter, "expiry": ""}, key=secrets.token_urlsafe(16))


@router.post(f"{MINE}/new")
async def make(request: Request) -> Response:
    """`key` makes the id, so that a form sent twice makes one subscription."""
    caller = member(request)
    form = await read_form(request)
    key = form.one("key") or secrets.token_urlsafe(16)
    if form.has("check"):
        return await checked_form(request, caller, None, form, key)
    try:
        asked = SubscriptionAsked(form.one("text"), _expiry(form), key=key)
        made = await subscriptions.subscribe(gateway_of(request), caller.owner, asked)
    except IdempotencyKeyReused:
        shown = {"text": form.one("text"), "expiry": form.one("expiry")}
        return await filter_form(request, None, shown, secrets.token_urlsafe(16), {"": _SENT_BEFORE}, status=409)
    except TidingsError as error:
        return await wrong_form(request, None, form, error, key)
    return RedirectResponse(f"{MINE}/{made.standing.id}?made=1", 303)


@router.get(f"{MINE}/{{id}}/edit")
async def editing(id: str, request: Request) -> Response:
    standing = await own(request, id)
    expiry = "" if standing.expiry is None else str(standing.expiry)[:19]
    return await filter_form(request, standing, {"text": standing.filter, "expiry": expiry})


@router.post(f"{MINE}/{{id}}/edit")
async def edit(id: str, request: Request) -> Response:
    standing = await own(request, id)
    form = await read_form(request)
    if form.has("check"):
        return await checked_form(request, member(request), standing, form)
    try:
        asked = SubscriptionChange(form.one("text"), KEEP if _unchanged(form, standing) else _expiry(form))
        await subscriptions.change(gateway_of(request), standing.owner, id, asked)
    except TidingsError as error:
        return await wrong_form(request, standing, form, error)
    return RedirectResponse(f"{MINE}/{id}?done=edited", 303)


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
    query = {"done": done} | {name: form.one(name) for name in ("before", "state", "q") if form.one(name)}
    return RedirectResponse(f"{MINE}?{urlencode(query)}", 303)


async def own(request: Request, id: str) -> Standing:
    """Raises NoSuchSubscription, also for another's."""
    return await subscriptions.own(gateway_of(request), member(request).owner, id)


def _expiry(form: Form) -> Instant | None:
    return read_future_time("expiry", form.one("expiry")) if form.one("expiry") else None


def _unchanged(form: Form, standing: Standing) -> bool:
    """The field has no microseconds."""
    return standing.expiry is not None and str(standing.expiry)[:19] == form.one("expiry")[:19]
