"""The form for a subscription: empty or filled in, tried on recent events, or with its errors."""

from __future__ import annotations

from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response

from tidings.errors import ChannelError, LanguageError, ServiceError, StoreError, TidingsError
from tidings.service.actions.filters import read_filter
from tidings.service.actions.times import WrongTime
from tidings.service.api.problems import status_of
from tidings.service.api.requests import questions_of
from tidings.service.door.callers import Caller
from tidings.service.pages.filter_pages import LAST, would_match
from tidings.service.pages.forms.channel_form import WrongNumber, channel_fields, wrong_field
from tidings.service.pages.forms.form import Form
from tidings.service.pages.parts.examples import read_example
from tidings.service.pages.parts.render import render
from tidings.service.pages.visitors import gateway_of
from tidings.service.workers.filter_trial import Trial
from tidings.store import NoSuchSubscription, Standing, UnfitSubscription

_LOOKED_AT = 20  # events that the example is made from


async def checked_form(request: Request, caller: Caller, standing: Standing | None, form: Form) -> Response:
    """For a browser without scripts: the same page, with what the filter means and would have matched."""
    gateway = gateway_of(request)
    questions = await questions_of(request)
    text = form.one("text")
    try:
        filter, warnings = await gateway.bind(caller.owner, read_filter, text, gateway.store)
        tried = await questions.try_on_newest(caller.owner, text, LAST)
        covered = await questions.covered_by(caller.owner, text, "" if standing is None else standing.id)
    except (LanguageError, ServiceError) as error:
        return await wrong_form(request, standing, form, error)
    form = form.replaced("text", filter.text)
    return await filter_form(request, standing, form, warnings=warnings, tried=tried, covered=covered)


async def wrong_form(request: Request, standing: Standing | None, form: Form, error: TidingsError) -> Response:
    """Raises NoSuchSubscription, which no field can put right."""
    errors, picture = problem_fields(error, form)
    return await filter_form(request, standing, form, errors, picture, status=status_of(error))


def problem_fields(error: TidingsError, form: Form) -> tuple[dict[str, str], str]:
    """What is said at which field, and the picture of the place in the text. Raises NoSuchSubscription."""
    errors, picture = {"": str(error)}, ""
    match error:
        case NoSuchSubscription():
            raise error
        case LanguageError():
            errors = {"text": error.problem()}
            _, _, picture = str(error).partition("\n")
        case UnfitSubscription() if error.member in ("name", "note"):
            errors = {error.member: f"this must be {error.legal}"}
        case WrongTime():
            errors = {"expiry": f"this {error.what}"}  # the field's label is not the member's name
        case ChannelError() | WrongNumber():
            errors = wrong_field(error, form)
    return errors, picture


async def filter_form(
    request: Request,
    standing: Standing | None,
    form: Form,
    errors: dict[str, str] | None = None,
    picture: str = "",
    warnings: tuple[str, ...] = (),
    tried: Trial | None = None,
    covered: str = "",
    status: int = 200,
) -> Response:
    """`standing`: the subscription that is edited; its channel has a page of its own."""
    errors = errors or {}
    return render(
        request,
        "subscribe.html",
        status,
        standing=standing,
        form=form,
        errors=errors,
        picture=picture,
        warnings=warnings,
        tried=tried,
        would_match=would_match(request, tried),
        covered=covered,
        example=await _example(request),
        **channel_fields(request, form, errors),
    )


async def _example(request: Request) -> str:
    gateway, ends = gateway_of(request), request.app.state.ends
    with suppress(StoreError):  # what was typed is to be shown again, also when the store has gone meanwhile
        return await gateway.read(lambda: read_example(gateway.store.catalog(), ends.newest(_LOOKED_AT)))
    return ""
