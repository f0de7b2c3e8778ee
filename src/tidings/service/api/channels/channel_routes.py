"""/v1/subscriptions/{id}/channel and notices about it; for operators, the channels that are in trouble."""

from __future__ import annotations

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.notifying.delivery import destination_of, named
from tidings.service.actions.channel_values import how_to_confirm
from tidings.service.actions.notices import page_of, see_up_to
from tidings.service.api.channels.channel_shapes import ChannelSeen, channel_seen
from tidings.service.api.requests import (
    V1,
    After,
    Calling,
    GatewayOf,
    Limit,
    answered,
    page,
    part_of,
    read_cursor,
)
from tidings.service.api.shapes import Shape, read_body, says, says_nothing, takes
from tidings.service.door.idempotency import IdempotencyKey, IdempotentRoute
from tidings.store import StoredChannel

router = APIRouter(prefix=V1, tags=["channels"], route_class=IdempotentRoute)


class SecretMade(Shape, frozen=True):
    secret: str
    old_until: str


class NoticeSeen(Shape, frozen=True):
    """`count` deliveries failed for the `cause`; `cause` is null in notices about something else. `link` is the page
    where deliveries are sent again and channels resumed."""

    number: int
    subscription: str
    text: str
    stored: str
    seen: bool
    cause: str | None
    count: int
    link: str | None
    subscription_name: str | msgspec.UnsetType = msgspec.UNSET


class Notices(Shape, frozen=True):
    items: list[NoticeSeen]
    next: str


class SeenUpTo(Shape, frozen=True):
    upto: str


class TroubledChannel(Shape, frozen=True):
    subscription: str
    owner: str
    kind: str
    destination: str
    state: str
    reason: str
    failing_since: str | None
    dead_in_a_row: int
    seconds: float
    problem: str


class TroubledChannels(Shape, frozen=True):
    items: list[TroubledChannel]
    next: str | None


_MOST_TROUBLED = 100_000  # that anybody pages through
_SEEN = says(ChannelSeen, "The channel")


@router.get("/subscriptions/{id}/channel", responses=_SEEN)
async def channel(id: str, gateway: GatewayOf, caller: Calling) -> Response:
    """Get the channel of a subscription: how notifications are sent, and whether that works."""
    found = await gateway.channels.owned(id, caller.owner)
    return answered(channel_seen(found, "" if found is None else how_to_confirm(found)))


@router.post("/subscriptions/{id}/channel/pause", responses=_SEEN)
async def pause(id: str, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """Pause a channel. Notifications are kept, and sent when it is resumed."""
    return answered(channel_seen(await gateway.channels.pause(id, caller.owner)))


@router.post("/subscriptions/{id}/channel/resume", responses=_SEEN)
async def resume(id: str, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """Resume a channel and send what was kept. If it was disabled or never confirmed, the receiver is asked for consent
    first."""
    kept = await gateway.channels.resume(id, caller.owner)
    return answered(channel_seen(kept.channel, kept.confirm))


@router.post(
    "/subscriptions/{id}/channel/rotate-secret",
    responses=says(SecretMade, "The new secret, shown only once; until `old_until` both secrets sign"),
)
async def rotate_secret(id: str, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """Create a new secret for a webhook. For 24 hours deliveries are signed with the old one as well."""
    secret, until = await gateway.channels.rotate(id, caller.owner)
    return answered({"secret": secret, "old_until": str(until)})


@router.get("/notices", responses=says(Notices, "A page; `next` is the cursor to continue with"))
async def notices(
    request: Request, gateway: GatewayOf, caller: Calling, after: After = "", limit: Limit = 100
) -> Response:
    """List notices about your channels: deliveries that failed, counted by cause, and channels that were disabled."""
    start = read_cursor(after)
    found = await gateway.read(gateway.store.notices_of, caller.owner, start, limit)
    names = await gateway.read(gateway.store.subscription_names, [one.subscription for one in found])
    listed = [
        {
            "number": one.number,
            **named(one.subscription, names.get((one.subscription, caller.owner), "")),
            "text": one.text,
            "stored": str(one.stored),
            "seen": one.seen,
            "cause": one.cause or None,
            "count": one.count,
            "link": page_of(one),
        }
        for one in found
    ]
    return page(request, listed, str(found[-1].number if found else start))


@router.post("/notices/seen", status_code=204, openapi_extra=takes(SeenUpTo), responses=says_nothing("Marked as seen"))
async def see_notices(request: Request, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """Mark notices as seen, up to a `next` of `GET /v1/notices`."""
    body = await read_body(request, SeenUpTo)
    await see_up_to(gateway, caller.owner, read_cursor(body.upto))
    return Response(status_code=204)


@router.get("/operator/channels", responses=says(TroubledChannels, "A page of channels, longest failing first"))
async def troubled(
    request: Request, gateway: GatewayOf, caller: Calling, after: After = "", limit: Limit = 100
) -> Response:
    """List the channels of all accounts that fail, are slow or were disabled."""
    found = await gateway.read(gateway.store.troubled, min(read_cursor(after), _MOST_TROUBLED) + limit + 1)
    some, next = part_of(found, after, limit)
    return page(request, [_troubled(one) for one in some], next)


def _troubled(one: StoredChannel) -> dict[str, object]:
    """Without the settings: a URL may hold a secret. Host or address are enough to know where it goes."""
    return {
        "subscription": one.subscription,
        "owner": one.owner,
        "kind": one.kind,
        "destination": destination_of(one).partition(" ")[2],
        "state": one.state,
        "reason": one.reason,
        "failing_since": None if one.failing_since is None else str(one.failing_since),
        "dead_in_a_row": one.dead_in_a_row,
        "seconds": one.seconds,
        "problem": one.problem,
    }
