"""The form in which a subscription is written: empty or filled in, tried on what there is, or with what is wrong."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from tidings.errors import LanguageError, ServiceError, StoreError, TidingsError
from tidings.service.actions.filters import read_filter
from tidings.service.actions.times import WrongTime
from tidings.service.api.inquiry_routes import questions_of
from tidings.service.api.problems import status_of
from tidings.service.door.callers import Caller
from tidings.service.pages.filter_pages import LAST
from tidings.service.pages.forms.form import Form
from tidings.service.pages.parts.examples import read_example
from tidings.service.pages.parts.render import render
from tidings.service.pages.visitors import gateway_of
from tidings.service.workers.filter_trial import Trial
from tidings.store import NoSuchSubscription, Standing

_LOOKED_AT = 20  # events that the example is made from


async def checked_form(
    request: Request, caller: Caller, standing: Standing | None, form: Form, key: str = ""
) -> Response:
    """For a browser without scripts: the same page, with what the filter means and would have matched."""
    gateway = gateway_of(request)
    questions = await questions_of(request)
    text = form.one("text")
    try:
        filter, warnings = await gateway.read(read_filter, text, gateway.store)
        tried = await questions.try_on_newest(caller.owner, text, LAST)
        covered = await questions.covered_by(caller.owner, text, "" if standing is None else standing.id)
    except (LanguageError, ServiceError) as error:
        return await wrong_form(request, standing, form, error, key)
    shown = {"text": filter.text, "expiry": form.one("expiry")}
    return await filter_form(request, standing, shown, key, warnings=warnings, tried=tried, covered=covered)


async def wrong_form(
    request: Request, standing: Standing | None, form: Form, error: TidingsError, key: str = ""
) -> Response:
    if isinstance(error, NoSuchSubscription):
        raise error
    place, told, picture = "", str(error), ""
    if isinstance(error, LanguageError):
        place, told = "text", error.problem()
        _, _, picture = str(error).partition("\n")
    elif isinstance(error, WrongTime):
        place, told = "expiry", f"this {error.what}"  # it stands at the field, whose name is not the member's
    shown = {"text": form.one("text"), "expiry": form.one("expiry")}
    status = status_of(error)
    return await filter_form(request, standing, shown, key, {place: told}, picture, status=status)


async def filter_form(
    request: Request,
    standing: Standing | None,
    shown: dict[str, Any],
    key: str = "",
    errors: dict[str, str] | None = None,
    picture: str = "",
    warnings: tuple[str, ...] = (),
    tried: Trial | None = None,
    covered: str = "",
    status: int = 200,
) -> Response:
    return render(
        request,
        "subscribe.html",
        status,
        standing=standing,
        shown=shown,
        key=key,
        errors=errors or {},
        picture=picture,
        warnings=warnings,
        tried=tried,
        covered=covered,
        example=await _example(request),
    )


async def _example(request: Request) -> str:
    gateway, ends = gateway_of(request), request.app.state.ends
    with suppress(StoreError):  # what was typed is to be shown again, also when the store has gone meanwhile
        return await gateway.read(lambda: read_example(gateway.store.catalog(), ends.newest(_LOOKED_AT)))
    return ""
