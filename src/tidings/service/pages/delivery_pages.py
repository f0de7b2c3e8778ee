"""/pages/subscriptions/{id}/channel and …/deliveries: how its owner is told, and what came of it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.errors import ChannelError, ServiceError
from tidings.notifying.errors import InvalidRhythm, UnknownTimeZone
from tidings.service.channel_routes import channels_of, owned_channel
from tidings.service.channel_shapes import KINDS, STORED, Channel, Digest, Quiet, Rate
from tidings.service.channels import Kept, how_to_confirm
from tidings.service.pages.form import Form, read_form
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.rendering import render
from tidings.service.pages.subscription_pages import MINE
from tidings.service.pages.visiting import gateway_of, member
from tidings.service.problems import status_of
from tidings.service.requests import After, check_id, read_cursor
from tidings.store import Edit, Standing, StoredChannel
from tidings.store.entries import KEEP

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_PAGE = 20
_TOLD = {
    STORED: "only here: matches are kept and shown on its page",
    "webhook": "webhook: a signed HTTPS request to an address of yours",
    "email": "email",
    "apprise": "another service, by an Apprise URL",
}
_DONE = {
    "paused": "Nothing is sent for now; nothing is lost.",
    "resumed": "It goes on.",
    "replayed": "It is sent again.",
}


class WrongNumber(ServiceError):
    """A field that takes a whole number, and what was in it."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(field, text)

    def __str__(self) -> str:
        return "{}: {!r} is no whole number".format(*self.args)


@router.get(f"{MINE}/{{id}}/channel")
async def choosing(id: str, request: Request) -> Response:
    standing = await _own(request, id)
    gateway = gateway_of(request)
    found = await gateway.read(gateway.store.channel, id, standing.owner)
    return _form_page(request, standing, _filled(found), {})


@router.post(f"{MINE}/{{id}}/channel")
async def choose(id: str, request: Request) -> Response:
    standing = await _own(request, id)
    form = await read_form(request)
    gateway, channels = gateway_of(request), channels_of(request)
    kept: Kept | None = None
    try:
        wanted = await channels.check(_asked(form))
        if wanted is not None:
            kept = await channels.keep(id, standing.owner, wanted)
        else:
            await gateway.write(gateway.store.remove_channel, id, standing.owner)
        kind = "" if wanted is None else wanted.kind
        if kind != standing.delivery:
            await gateway.append_one(Edit(id, None, KEEP, kind))
        if kept is not None:
            kept = await channels.invite(kept)
    except (ChannelError, ServiceError) as error:
        return _form_page(request, standing, form, {_field(error, form): str(error)}, status_of(error))
    if kept is not None and (kept.secret or kept.confirm):
        return await _deliveries_page(request, id, standing.owner, secret=kept.secret)
    return RedirectResponse(f"{MINE}/{id}/deliveries", 303)


@router.get(f"{MINE}/{{id}}/deliveries")
async def deliveries(id: str, request: Request, before: After = "", done: str = "") -> Response:
    owner = member(request, "subscribe").owner
    return await _deliveries_page(request, id, owner, read_cursor(before), done=_DONE.get(done, ""))


@router.post(f"{MINE}/{{id}}/deliveries")
async def act(id: str, request: Request) -> Response:
    """`act` is pause, resume, rotate or replay; `number` says which delivery, where it is one."""
    owner = member(request, "subscribe").owner
    form = await read_form(request)
    gateway, channels = gateway_of(request), channels_of(request)
    await gateway.read(owned_channel, gateway, id, owner)
    match form.one("act"):
        case "pause":
            await channels.pause(id, owner)
            return RedirectResponse(f"{MINE}/{id}/deliveries?done=paused", 303)
        case "rotate":
            secret, _ = await channels.rotate(id, owner)
            return await _deliveries_page(request, id, owner, secret=secret)
        case "replay":
            which: dict[str, Any] = {"failed": True}
            if form.one("number"):
                which = {"numbers": frozenset((_whole(form, "number"),))}
            await gateway.write(gateway.store.replay, id, owner, **which)
            return RedirectResponse(f"{MINE}/{id}/deliveries?done=replayed", 303)
        case _:
            await channels.resume(id, owner)
            return RedirectResponse(f"{MINE}/{id}/deliveries?done=resumed", 303)


async def _own(request: Request, id: str) -> Standing:
    """Raises NoSuchSubscription, also for another's."""
    owner = member(request, "subscribe").owner
    check_id(id)
    gateway = gateway_of(request)
    return await gateway.read(gateway.store.subscription, id, owner)


async def _deliveries_page(
    request: Request, id: str, owner: str, before: int = 0, secret: str = "", done: str = ""
) -> Response:
    gateway = gateway_of(request)
    channel = await gateway.read(owned_channel, gateway, id, owner)
    found = await gateway.read(gateway.store.parcels_of, id, owner, before, _PAGE + 1, None)
    shown = found[:_PAGE]
    tried = await gateway.read(lambda: [gateway.store.attempts_of(one.number) for one in shown])
    return render(
        request,
        "deliveries.html",
        id=id,
        channel=channel,
        confirm="" if channel is None else how_to_confirm(channel),
        deliveries=list(zip(shown, tried, strict=True)),
        next=f"{MINE}/{id}/deliveries?before={shown[-1].number}" if len(found) > _PAGE else None,
        first=not before,
        secret=secret,
        done=done,
    )


def _form_page(request: Request, standing: Standing, form: Form, errors: dict[str, str], status: int = 200) -> Response:
    kinds = [(kind, _TOLD[kind]) for kind in KINDS]
    return render(request, "channel.html", status, standing=standing, form=form, errors=errors, kinds=kinds)


def _asked(form: Form) -> Channel:
    """Raises WrongNumber; the rest is judged where channels are."""
    members: dict[str, Any] = {"kind": form.one("kind") or STORED}
    if members["kind"] in ("webhook", "apprise"):
        members["url"] = form.one("url")
    if members["kind"] == "email":
        members["address"] = form.one("address")
    if form.one("digest_count") or form.one("digest_seconds"):
        limits = {name: _whole(form, f"digest_{name}") for name in ("count", "seconds") if form.one(f"digest_{name}")}
        members["digest"] = Digest(**limits)
    if form.one("rate_count") or form.one("rate_seconds"):
        members["rate"] = Rate(count=_whole(form, "rate_count"), seconds=_whole(form, "rate_seconds"))
    if form.one("quiet_from") or form.one("quiet_to"):
        zone = form.one("quiet_zone") or "UTC"
        members["quiet"] = Quiet(begin=form.one("quiet_from"), end=form.one("quiet_to"), zone=zone)
    return Channel(**members)


def _whole(form: Form, name: str) -> int:
    text = form.one(name)
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise WrongNumber(name.replace("_", " "), text)
    return int(text)


def _filled(channel: StoredChannel | None) -> Form:
    """The form as it would have been sent for this channel."""
    if channel is None:
        return Form([("kind", STORED)])
    settings = channel.settings
    pairs = [("kind", channel.kind), ("url", settings.get("url")), ("address", settings.get("address"))]
    for name in ("digest", "rate", "quiet"):
        pairs += [(f"{name}_{key}", value) for key, value in (settings.get(name) or {}).items()]
    return Form([(name, str(value)) for name, value in pairs if value is not None])


def _field(error: Exception, form: Form) -> str:
    """The part of the form that an error speaks of."""
    if isinstance(error, UnknownTimeZone):
        return "quiet"
    if isinstance(error, InvalidRhythm | WrongNumber):
        return next((name for name in ("digest", "rate", "quiet") if str(error.args[0]).startswith(name)), "url")
    return "address" if form.one("kind") == "email" else "url"
