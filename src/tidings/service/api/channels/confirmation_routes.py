"""/confirm and /unsubscribe: the links in mails, for people without an account; the token in the link is their right.

Following a link changes nothing, since mail scanners follow them all: the page has a button. Mail programs with a
button of their own (one-click unsubscribe, RFC 8058) post at once.
"""

from __future__ import annotations

from html import escape
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.errors import ChannelError, Explained, ServiceError, TidingsError
from tidings.notifying.mail.confirmations import KEY_FILE, Confirmations, ForgedLink, Link, Purpose, kept_key
from tidings.service.api import problems
from tidings.service.api.requests import GatewayOf
from tidings.service.door.guarded_route import GuardedRoute
from tidings.service.gateway import Gateway
from tidings.store import StoredChannel

router = APIRouter(tags=["channels"], route_class=GuardedRoute)

_PAGE = "text/html"


def _refusal(status: int, told: str) -> dict[int | str, dict[str, Any]]:
    """A problem, or a page for browsers."""
    page = {"schema": {"type": "string"}, "example": '<!DOCTYPE html>\n<html lang="en">…</html>\n'}
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {status: {"description": told, "content": {problems.PROBLEM: problem, _PAGE: page}}}


_TOLD: dict[int | str, dict[str, Any]] = {
    200: {"description": "A page", "content": {_PAGE: {"schema": {"type": "string"}}}},
    **_refusal(404, "The link is not one of this service."),
    **_refusal(410, "The link has expired, or what it is about was changed."),
}


class LinkOutdated(Explained, ServiceError):
    """What the link is about was changed, or is gone."""

    template = "the subscription behind this link was changed or withdrawn; nothing is sent until you confirm again"


@router.get("/confirm/{token}", responses=_TOLD)
async def ask_to_confirm(token: str, request: Request, gateway: GatewayOf) -> Response:
    """Show a page with a button to confirm. Changes nothing: mail scanners follow links."""
    try:
        link, _ = await gateway.read(_pending, gateway, token)
    except (ChannelError, ServiceError) as problem:
        return _refused(request, problem)
    told = f"Do you want Tidings notifications at {link.address}?"
    return _page(told, "Yes, send them to me")


@router.post("/confirm/{token}", responses=_TOLD)
async def confirm(token: str, request: Request, gateway: GatewayOf) -> Response:
    """Confirm the address. The channel becomes active, and due notifications are sent."""
    try:
        link, channel = await gateway.read(_pending, gateway, token)
    except (ChannelError, ServiceError) as problem:
        return _refused(request, problem)
    await gateway.channels.confirm(channel)
    return _page(f"Thank you. Notifications will be sent to {link.address}; every mail has a link to unsubscribe.")


@router.get("/unsubscribe/{token}", responses=_TOLD)
async def ask_to_unsubscribe(token: str, request: Request, gateway: GatewayOf) -> Response:
    """Show a page with a button to unsubscribe. Changes nothing: mail scanners follow links."""
    try:
        link = await gateway.read(_read, gateway, token, "unsubscribe")
    except ChannelError as problem:
        return _refused(request, problem)
    return _page(f"Stop sending these notifications to {link.address}?", "Unsubscribe")


@router.post("/unsubscribe/{token}", responses=_TOLD)
async def unsubscribe(token: str, request: Request, gateway: GatewayOf) -> Response:
    """Stop sending to the address at once. Repeating it does no harm; only a new confirmation starts it again."""
    try:
        link = await gateway.read(_read, gateway, token, "unsubscribe")
    except ChannelError as problem:
        return _refused(request, problem)
    channel = await gateway.read(_channel, gateway, link)
    if channel is not None:
        await gateway.channels.unsubscribe(channel)
    return _page(f"Unsubscribed. These notifications are no longer sent to {link.address}.")


def _read(gateway: Gateway, token: str, purpose: Purpose) -> Link:
    """Raises ForgedLink, OtherLink or ExpiredLink. Without a key no link was ever made."""
    data = gateway.settings.data
    if not (data / KEY_FILE).exists():
        raise ForgedLink
    return Confirmations(kept_key(data)).read(token, purpose, gateway.store.clock.now())


def _pending(gateway: Gateway, token: str) -> tuple[Link, StoredChannel]:
    """What a link is to confirm. Raises LinkOutdated too: also for one who has unsubscribed since by a later mail."""
    link = _read(gateway, token, "confirm")
    channel = _channel(gateway, link)
    if channel is None or channel.state == "disabled":
        raise LinkOutdated
    return link, channel


def _channel(gateway: Gateway, link: Link) -> StoredChannel | None:
    """None where it goes somewhere else by now."""
    channel = gateway.store.channel(link.subscription)
    if channel is None or channel.kind != "email" or channel.settings.get("address") != link.address:
        return None
    return channel


def _page(told: str, button: str = "", status: int = 200) -> Response:
    form = f'<form method="post"><button type="submit">{escape(button)}</button></form>\n' if button else ""
    return Response(
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Tidings</title>'
        '<meta name="viewport" content="width=device-width"></head><body>\n'
        f"<h1>Tidings</h1>\n<p>{escape(told)}</p>\n{form}</body></html>\n",
        status,
        {"Content-Security-Policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'"},
        _PAGE,
    )


def _refused(request: Request, problem: TidingsError) -> Response:
    """For people as a page, for programs as any problem."""
    if _PAGE not in request.headers.get("accept", ""):
        return problems.answer(problem)
    return _page(str(problem), status=problems.status_of(problem))
