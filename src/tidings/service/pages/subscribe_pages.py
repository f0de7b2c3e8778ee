"""/pages/subscriptions/new and …/{id}/edit: a filter, tried on recent events, and how its owner is notified."""

from __future__ import annotations

import secrets
from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.errors import TidingsError
from tidings.language.readable import readable
from tidings.schema import Instant
from tidings.service.actions import subscriptions
from tidings.service.actions.keys import IdempotencyKeyReused
from tidings.service.actions.subscriptions import SubscriptionAsked, SubscriptionChange
from tidings.service.actions.times import read_future_time
from tidings.service.pages.delivery_pages import deliveries_page
from tidings.service.pages.forms.channel_form import asked_channel
from tidings.service.pages.forms.composite_form import checked_composite, composite_form, wrong_composite
from tidings.service.pages.forms.filter_form import checked_form, filter_form, wrong_form
from tidings.service.pages.forms.form import Form, read_form
from tidings.service.pages.forms.waiting_form import typed
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.subscription_pages import MINE, own
from tidings.service.pages.visitors import gateway_of, member
from tidings.store import Standing
from tidings.store.journal.entries import KEEP

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_SUBSCRIBED = "Subscribed. Every event accepted from now on is matched against it."
_SENT_BEFORE = "You have already subscribed with this form. Send it again to create another subscription."


@router.get(f"{MINE}/new")
async def new(request: Request, filter: str = "") -> Response:
    member(request)
    form = typed(request, f"{MINE}/new") or Form([("text", filter)])
    return await filter_form(request, None, form.replaced("key", new_key()))


@router.post(f"{MINE}/new")
async def subscribe(request: Request) -> Response:
    """`key` makes the id, so a form that is sent twice makes one subscription."""
    caller = member(request)
    form = await read_form(request)
    if not form.one("key"):
        form = form.replaced("key", new_key())
    if form.has("check"):
        return await checked_form(request, caller, None, form)
    return await subscribed(request, caller.owner, form, SubscriptionAsked(form.one("text")))


async def subscribed(request: Request, owner: str, form: Form, asked: SubscriptionAsked) -> Response:
    """Subscribes with the filter or composite that is asked for, and with the form's name, note, expiry and channel."""
    is_composite = asked.composite is not None
    try:
        named = {"name": form.one("name"), "note": form.one("note")}
        asked = replace(asked, expiry=expiry_of(form), channel=asked_channel(form), key=form.one("key"), **named)
        made = await subscriptions.subscribe(gateway_of(request), owner, asked)
    except IdempotencyKeyReused:
        form = form.replaced("key", new_key())
        show = composite_form if is_composite else filter_form
        return await show(request, None, form, {"": _SENT_BEFORE}, status=409)
    except TidingsError as error:
        refuse = wrong_composite if is_composite else wrong_form
        return await refuse(request, None, form, error)
    if made.secret or made.confirm:  # a page of its own: the secret is shown once
        return await deliveries_page(request, made.standing.id, owner, secret=made.secret, done=_SUBSCRIBED)
    return RedirectResponse(f"{MINE}/{made.standing.id}?made=1", 303)


@router.get(f"{MINE}/{{id}}/edit")
async def editing(id: str, request: Request) -> Response:
    standing = await own(request, id)
    expiry = "" if standing.expiry is None else str(standing.expiry)[:19]
    text = readable(standing.filter, gateway_of(request).store.known_catalog)
    saved = Form([("text", text), ("expiry", expiry), ("name", standing.name), ("note", standing.note)])
    shown = composite_form if standing.composite else filter_form
    return await shown(request, standing, typed(request, request.url.path) or saved)


@router.post(f"{MINE}/{{id}}/edit")
async def edit(id: str, request: Request) -> Response:
    standing = await own(request, id)
    form = await read_form(request)
    if form.has("check") or form.has("build"):
        if standing.composite:
            return await checked_composite(request, standing.owner, standing, form)
        return await checked_form(request, member(request), standing, form)
    text = form.one("text")
    try:
        asked = SubscriptionChange(
            None if standing.composite else text,
            KEEP if _is_same_expiry(form, standing) else expiry_of(form),
            name=form.one("name") if form.has("name") else KEEP,
            note=form.one("note") if form.has("note") else KEEP,
            composite=text if standing.composite else None,
        )
        await subscriptions.change(gateway_of(request), standing.owner, id, asked)
    except TidingsError as error:
        return await (wrong_composite if standing.composite else wrong_form)(request, standing, form, error)
    return RedirectResponse(f"{MINE}/{id}?done=edited", 303)


def new_key() -> str:
    return secrets.token_urlsafe(16)


def expiry_of(form: Form) -> Instant | None:
    return read_future_time("expiry", form.one("expiry")) if form.one("expiry") else None


def _is_same_expiry(form: Form, standing: Standing) -> bool:
    """The field has no microseconds."""
    return standing.expiry is not None and str(standing.expiry)[:19] == form.one("expiry")[:19]
