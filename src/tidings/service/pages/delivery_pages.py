"""/pages/subscriptions/{id}/deliveries: what was sent, every attempt, and sending again: one, all failed, a period."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.errors import Explained, ServiceError
from tidings.schema import Instant
from tidings.service.actions.channel_values import how_to_confirm
from tidings.service.actions.deliveries import ReplayAsked, replay
from tidings.service.actions.times import WrongTime, read_time
from tidings.service.api.requests import After, read_cursor
from tidings.service.api.shapes import WrongBody
from tidings.service.pages.forms.form import Form, read_form
from tidings.service.pages.forms.waiting_form import typed
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.render import render
from tidings.service.pages.parts.words import counted, moment
from tidings.service.pages.subscription_pages import MINE
from tidings.service.pages.visitors import gateway_of, member
from tidings.store import DeliveryState, NoSuchSubscription, Standing
from tidings.store.clock.clock import now

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_ASK_AGAIN = "“Ask again”"  # the button's name, for people whom the API's way would not help
_PAGE = 20
_STATES: tuple[tuple[DeliveryState | None, str], ...] = (
    (None, "All"), ("due", "Waiting"), ("delivered", "Delivered"), ("dead", "Failed"),
)  # fmt: skip
_DONE = {
    "paused": "Paused. Deliveries wait until you resume.",
    "resumed": "Resumed.",
    "chosen": "Saved.",
}


class NoPeriod(Explained, ServiceError):
    """A range of time to send again that has neither a beginning nor an end, or ends before it begins."""

    template = "give a start, an end, or both; the end must be after the start"


@router.get(f"{MINE}/{{id}}/deliveries")
async def deliveries(
    id: str, request: Request, before: After = "", state: str = "", done: str = "", count: int = 0
) -> Response:
    owner = member(request).owner
    told = _DONE.get(done, "")
    if done == "replayed":
        told = f"{counted(count, 'delivery', 'deliveries')} will be sent again."
        told = told if count else "Nothing to send again: there are no such deliveries, or their events were removed."
    form = typed(request, request.url.path)
    return await deliveries_page(request, id, owner, read_cursor(before), state, form, done=told)


@router.post(f"{MINE}/{{id}}/deliveries")
async def act(id: str, request: Request) -> Response:
    """`act` is pause, resume, rotate or replay: of the delivery `number`, of those made `from` … `to`, or of all
    that failed finally. Raises WrongBody of any other."""
    owner = member(request).owner
    form = await read_form(request)
    channels = gateway_of(request).channels
    match form.one("act"):
        case "pause":
            await channels.pause(id, owner)
            return RedirectResponse(f"{MINE}/{id}/deliveries?done=paused", 303)
        case "rotate":
            secret, until = await channels.rotate(id, owner)
            return await deliveries_page(request, id, owner, secret=secret, until=moment(until))
        case "replay":
            return await _replay(request, id, owner, form)
        case "resume":
            kept = await channels.resume(id, owner)
            # Asked in vain, or by a mail that is still to be answered: the page says which, and nothing goes on yet.
            done = "" if kept.channel.state == "unconfirmed" else "?done=resumed"
            return RedirectResponse(f"{MINE}/{id}/deliveries{done}", 303)
        case _:
            raise WrongBody("invalid 'act'; valid values: pause, resume, rotate, replay")


async def _replay(request: Request, id: str, owner: str, form: Form) -> Response:
    asked = ReplayAsked(failed=True)
    if form.one("number"):
        asked = ReplayAsked(numbers=frozenset((read_cursor(form.one("number")),)))
    elif form.has("from"):
        try:
            asked = ReplayAsked(made=_period(form), failed=form.has("failed"))
        except WrongTime as error:
            errors = {error.member: f"this {error.what}"}
            return await deliveries_page(request, id, owner, form=form, errors=errors, status=422)
        except NoPeriod as error:
            return await deliveries_page(request, id, owner, form=form, errors={"from": str(error)}, status=422)
    count = await replay(gateway_of(request), owner, id, asked)
    return RedirectResponse(f"{MINE}/{id}/deliveries?done=replayed&count={count}", 303)


def _period(form: Form) -> tuple[Instant, Instant]:
    """Raises WrongTime or NoPeriod."""
    begin, end = _time(form, "from"), _time(form, "to")
    if (begin is None and end is None) or (begin is not None and end is not None and end < begin):
        raise NoPeriod
    return begin if begin is not None else Instant(0), end if end is not None else now()


def _time(form: Form, field: str) -> Instant | None:
    return read_time(field, form.one(field)) if form.one(field) else None


async def deliveries_page(
    request: Request,
    id: str,
    owner: str,
    before: int = 0,
    state: str = "",
    form: Form | None = None,
    errors: dict[str, str] | None = None,
    status: int = 200,
    **told: Any,
) -> Response:
    """`told`: a new `secret` (shown once) and `until` when the old one signs too, what was `done`, a test's outcome."""
    gateway = gateway_of(request)
    channel = await gateway.channels.owned(id, owner)
    chosen: DeliveryState | None = next((one for one, _ in _STATES if one == state), None)
    found = await gateway.read(gateway.store.deliveries_of, id, owner, before, _PAGE + 1, chosen)
    shown = found[:_PAGE]
    tried = await gateway.read(lambda: [gateway.store.attempts_of(one.number) for one in shown])
    standing: Standing | None = None
    with suppress(NoSuchSubscription):  # withdrawn: what it is owed is still sent
        standing = await gateway.read(gateway.store.subscription, id, owner)
    kept = f"&state={chosen}" if chosen else ""
    return render(
        request,
        "deliveries.html",
        status,
        id=id,
        channel=channel,
        standing=standing,
        confirm="" if channel is None else how_to_confirm(channel, _ASK_AGAIN),
        old_secret_until=None if channel is None else channel.old_secret_until(gateway.store.clock.now()),
        deliveries=list(zip(shown, tried, strict=True)),
        states=_STATES,
        chosen=chosen,
        next=f"{MINE}/{id}/deliveries?before={shown[-1].number}{kept}" if len(found) > _PAGE else None,
        first=not before,
        form=form or Form([]),
        errors=errors or {},
        **{"secret": "", "until": "", "done": "", "tested": None, "test_problem": ""} | told,
    )
