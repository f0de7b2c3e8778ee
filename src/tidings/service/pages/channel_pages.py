"""/pages/subscriptions/{id}/channel: how its owner is told; a test of it, whose outcome is shown in place."""

from __future__ import annotations

from functools import cache
from typing import Any
from zoneinfo import available_timezones

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.errors import ChannelError, ServiceError, StoreError, TidingsError
from tidings.notifying.delivery import Attempt
from tidings.notifying.errors import InvalidRhythm, UnknownChannel, UnknownTimeZone
from tidings.service.actions.channel_values import KINDS, STORED, ChannelAsked, ChannelUnconfirmed, how_to_confirm
from tidings.service.actions.deliveries import send_test
from tidings.service.actions.subscriptions import SubscriptionChange, change
from tidings.service.api.channel_shapes import shown_url
from tidings.service.api.problems import status_of
from tidings.service.pages.delivery_pages import deliveries_page
from tidings.service.pages.forms.form import Form, read_form
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.render import render
from tidings.service.pages.subscription_pages import MINE, own
from tidings.service.pages.visitors import gateway_of, member
from tidings.store import NoSuchSubscription, Standing, StoredChannel

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_TOLD = {
    STORED: "Only here: matches are kept and shown on its page",
    "webhook": "Webhook: a signed HTTPS request to an address of yours",
    "email": "Email",
    "apprise": "Another service, by an Apprise URL",
}
_CONTINENTS = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")
_ASK_AGAIN = "“Ask again” among its deliveries"  # the API's way would not help those who look at a page


class WrongNumber(ServiceError):
    """A field that takes a whole number, and what was in it."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(field, text)

    def __str__(self) -> str:
        _, text = self.args
        return f"{text!r} is no whole number" if text else "a whole number is missing here"


@router.get(f"{MINE}/{{id}}/channel")
async def choosing(id: str, request: Request) -> Response:
    standing = await own(request, id)
    gateway = gateway_of(request)
    found = await gateway.read(gateway.store.channel, id, standing.owner)
    return _form_page(request, standing, _filled(found), {}, found is not None)


@router.post(f"{MINE}/{{id}}/channel")
async def choose(id: str, request: Request) -> Response:
    standing = await own(request, id)
    form = await read_form(request)
    try:
        changed = await change(gateway_of(request), standing.owner, id, SubscriptionChange(channel=_asked(form)))
    except (ChannelError, ServiceError) as error:
        status = status_of(error)
        return _form_page(request, standing, form, {_field(error, form): _said(error)}, bool(standing.delivery), status)
    if changed.secret or changed.confirm:
        return await deliveries_page(request, id, standing.owner, secret=changed.secret)
    return RedirectResponse(f"{MINE}/{id}/deliveries?done=chosen", 303)


@router.post(f"{MINE}/{{id}}/test-delivery")
async def test(id: str, request: Request) -> Response:
    """Sent at once. `piece`: only the outcome is asked for."""
    owner = member(request).owner
    form = await read_form(request)
    gateway = gateway_of(request)
    tested: Attempt | None = None
    problem, status = "", 200
    try:
        tested = await send_test(gateway, owner, id)
    except NoSuchSubscription:
        raise
    except TidingsError as error:
        if isinstance(error, StoreError) and status_of(error) >= 500:
            raise
        problem, status = str(error), status_of(error)
        channel = await gateway.channels.owned(id, owner)
        if isinstance(error, ChannelUnconfirmed) and channel is not None:
            problem = f"it is not confirmed yet, so nothing can be sent: {how_to_confirm(channel, _ASK_AGAIN)}"
    if form.has("piece"):
        return render(request, "tested.html", status, tested=tested, test_problem=problem)
    return await deliveries_page(request, id, owner, tested=tested, test_problem=problem, status=status)


def _form_page(
    request: Request, standing: Standing, form: Form, errors: dict[str, str], saved: bool, status: int = 200
) -> Response:
    # A channel that was made while mails were sent is still shown as what it is.
    no_mail = not gateway_of(request).settings.smtp_host and form.one("kind") != "email"
    kinds = [(kind, _TOLD[kind], no_mail and kind == "email") for kind in KINDS]
    shown = {"standing": standing, "form": form, "errors": errors, "kinds": kinds, "saved": saved, "zones": _zones()}
    return render(request, "channel.html", status, **shown, tested=None, test_problem="")


@cache
def _zones() -> list[str]:
    """Those that people live in; the others are known as well."""
    return ["UTC", *sorted(one for one in available_timezones() if one.partition("/")[0] in _CONTINENTS)]


def _asked(form: Form) -> ChannelAsked:
    """Raises WrongNumber; the rest is judged where channels are."""
    kind = form.one("kind") or STORED
    settings: dict[str, Any] = {}
    if kind == STORED:
        return ChannelAsked()  # nothing is sent, so there is no rhythm to read
    if kind in ("webhook", "apprise"):
        settings["url"] = form.one("url")
    if kind == "email":
        settings["address"] = form.one("address")
    if form.one("digest_count") or form.one("digest_seconds"):
        limits = [name for name in ("count", "seconds") if form.one(f"digest_{name}")]
        settings["digest"] = {name: _whole(form, f"digest_{name}") for name in limits}
    if form.one("rate_count") or form.one("rate_seconds"):
        settings["rate"] = {name: _whole(form, f"rate_{name}") for name in ("count", "seconds")}
    if form.one("quiet_from") or form.one("quiet_to"):
        zone = form.one("quiet_zone") or "UTC"
        settings["quiet"] = {"from": form.one("quiet_from"), "to": form.one("quiet_to"), "zone": zone}
    return ChannelAsked(kind, settings)


def _whole(form: Form, name: str) -> int:
    text = form.one(name)
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise WrongNumber(name, text)
    return int(text)


def _filled(channel: StoredChannel | None) -> Form:
    """The form as it would have been sent for this channel."""
    if channel is None:
        return Form([("kind", STORED)])
    settings = {**channel.settings, **shown_url(channel)}
    pairs = [("kind", channel.kind), ("url", settings.get("url")), ("address", settings.get("address"))]
    for name in ("digest", "rate", "quiet"):
        pairs += [(f"{name}_{key}", value) for key, value in (settings.get(name) or {}).items()]
    return Form([(name, str(value)) for name, value in pairs if value is not None])


def _field(error: Exception, form: Form) -> str:
    """The part of the form that an error speaks of."""
    match error:
        case UnknownTimeZone():
            return "quiet_zone"
        case WrongNumber():
            return str(error.args[0])
        case InvalidRhythm():
            return str(error.args[0]).replace(".", "_")
        case UnknownChannel():
            return "kind"
    return "address" if form.one("kind") == "email" else "url"


def _said(error: Exception) -> str:
    """At the field itself nobody has to be told the member's name; another field is named by its label."""
    if not isinstance(error, InvalidRhythm):
        return str(error)
    return f"this must be {error.args[1].replace('quiet.from', '“From”')}"
