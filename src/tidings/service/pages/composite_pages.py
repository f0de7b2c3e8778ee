"""/pages/composites…: subscribe with a pattern over time, and what the page asks while somebody writes one."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.errors import LanguageError, TidingsError
from tidings.service.actions.filters import read_composite
from tidings.service.actions.subscriptions import SubscriptionAsked
from tidings.service.api import problems
from tidings.service.api.requests import answered
from tidings.service.api.shapes import Shape, read_body
from tidings.service.door.guarded_route import GuardedRoute
from tidings.service.gateway import Gateway
from tidings.service.pages.filter_pages import asked_by_us, place_of
from tidings.service.pages.forms.composite_builder import Builder
from tidings.service.pages.forms.composite_form import (
    checked_composite,
    composite_form,
    pattern_of,
    try_on_newest,
    would_detect,
)
from tidings.service.pages.forms.form import Form, read_form
from tidings.service.pages.forms.waiting_form import typed
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.words import sentence
from tidings.service.pages.subscribe_pages import new_key, subscribed
from tidings.service.pages.visitors import gateway_of, member

router = APIRouter(route_class=PageRoute, include_in_schema=False)
asked = APIRouter(include_in_schema=False, route_class=GuardedRoute)  # problems stay JSON: a script reads them
NEW = "/pages/composites/new"


class CompositeGiven(Shape, frozen=True):
    """As text, or as the fields of the builder."""

    text: str | None = None
    fields: dict[str, str] | None = None


@router.get(NEW)
async def new(request: Request, composite: str = "") -> Response:
    member(request)
    form = typed(request, NEW) or Form([("text", composite)])
    return await composite_form(request, None, form.replaced("key", new_key()))


@router.post(NEW)
async def subscribe(request: Request) -> Response:
    """`key` makes the id, so a form that is sent twice makes one subscription."""
    caller = member(request)
    form = await read_form(request)
    form = form if form.one("key") else form.replaced("key", new_key())
    if form.has("build") or form.has("check"):
        return await checked_composite(request, caller.owner, None, form)
    return await subscribed(request, caller.owner, form, SubscriptionAsked(composite=form.one("text")))


@asked.post("/pages/composite")
async def check(request: Request) -> Response:
    """The text, its picture and its warnings; or what is wrong and where."""
    owner = asked_by_us(request)
    gateway = gateway_of(request)
    given = await read_body(request, CompositeGiven)
    text = given.text or ""
    if given.fields is not None:
        text = Builder.of(Form(list(given.fields.items()))).text()
    return answered(await gateway.bind(owner, _checked, text, gateway))


@asked.post("/pages/composite/count")
async def count(request: Request) -> Response:
    """What it would have detected in the newest events."""
    owner = asked_by_us(request)
    given = await read_body(request, CompositeGiven)
    try:
        tried = await try_on_newest(request, owner, given.text or "")
    except LanguageError as error:
        return answered({"error": place_of(error)})
    except TidingsError as error:
        return problems.answer(error)
    return answered({"newest": str(would_detect(request, tried))})


def _checked(text: str, gateway: Gateway) -> dict[str, Any]:
    if not text.strip():
        return {"empty": True, "text": ""}
    try:
        found = read_composite(text, gateway.store)
    except LanguageError as error:
        return {"text": text, "error": place_of(error)}
    shown = str(pattern_of(found.composite))
    return {"text": found.text, "pattern": shown, "warnings": [sentence(one) for one in found.warnings]}
