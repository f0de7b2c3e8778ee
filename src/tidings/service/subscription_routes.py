"""/subscriptions: post, list, read, edit, pause, resume and withdraw standing filters of one's own."""

from __future__ import annotations

import secrets
import string
from contextlib import suppress
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from tidings.language import Filter, covers
from tidings.schema import Catalog, Instant
from tidings.service.account_routes import read_time
from tidings.service.accounts import QuotaReached
from tidings.service.bodies import Shape, WrongBody, read_body, says, takes
from tidings.service.channel_routes import channels_of
from tidings.service.channel_shapes import Channel, settings_seen
from tidings.service.channels import Channels, Kept, how_to_confirm
from tidings.service.gateway import Gateway
from tidings.service.idempotency import (
    IdempotencyKey,
    IdempotencyKeyReused,
    IdempotentRoute,
    subscription_id,
)
from tidings.service.requests import After, GatewayOf, Limit, Subscriber, WrongCursor, answered, check_id
from tidings.store import (
    Edit,
    NoSuchSubscription,
    Pause,
    Resume,
    Standing,
    StoredChannel,
    Subscribe,
    SubscriptionActive,
    SubscriptionExists,
    SubscriptionPaused,
    Withdraw,
)
from tidings.store.entries import KEEP, Draft, Keep
from tidings.store.fitness import is_id

router = APIRouter(tags=["subscriptions"], route_class=IdempotentRoute)

_LETTERS = string.ascii_lowercase + string.digits
_LONGEST_TIME = 100
Time = Annotated[str, msgspec.Meta(max_length=_LONGEST_TIME, description="ISO 8601, a time to come")]


class NewSubscription(Shape, frozen=True):
    filter: str
    channel: Channel | None = None
    expiry: Time | None = None


class ChangedSubscription(Shape, frozen=True):
    """At least one of them; `expiry: null` takes it away."""

    state: Literal["active", "paused"] | msgspec.UnsetType = msgspec.UNSET
    filter: str | msgspec.UnsetType = msgspec.UNSET
    expiry: Time | msgspec.UnsetType | None = msgspec.UNSET
    channel: Channel | msgspec.UnsetType = msgspec.UNSET


class SubscriptionSeen(Shape, frozen=True):
    """`since` is the journal's position from which on it counts. In the answer to a change, `position` is that of the
    change; it is left out where nothing was to be changed."""

    id: str
    filter: str
    state: Literal["active", "paused"]
    expiry: str | None
    channel: Channel
    since: int
    position: int | msgspec.UnsetType = msgspec.UNSET
    channel_state: str | msgspec.UnsetType = msgspec.UNSET
    secret: str | msgspec.UnsetType = msgspec.UNSET
    confirm: str | msgspec.UnsetType = msgspec.UNSET
    warnings: list[str] | msgspec.UnsetType = msgspec.UNSET


class Withdrawn(Shape, frozen=True):
    """`position` is that in the journal: events before it count still, those after it not."""

    id: str
    position: int


class Subscriptions(Shape, frozen=True):
    subscriptions: list[SubscriptionSeen]
    next: str | None


State = Annotated[Literal["active", "paused"] | None, Query(description="Only those")]


@router.post(
    "/subscriptions",
    status_code=201,
    openapi_extra=takes(NewSubscription),
    responses=says(SubscriptionSeen, "It counts for every event accepted from now on", 201),
)
async def subscribe(request: Request, gateway: GatewayOf, caller: Subscriber, key: IdempotencyKey = None) -> Response:
    """Leave a filter standing. With an Idempotency-Key the id follows from it, so that a repeat finds it."""
    body = await read_body(request, NewSubscription)
    channels = channels_of(request)
    wanted = None if body.channel is None else await channels.check(body.channel)
    delivery = "" if wanted is None else wanted.kind
    expiry = None if body.expiry is None else read_time("expiry", body.expiry)
    filter, warnings = await gateway.read(read_filter, body.filter, gateway)
    id = _new_id() if key is None else subscription_id(caller.owner, key)
    found = await gateway.read(_found, gateway, id, caller.owner) if key is not None else None
    if found is None:
        most = gateway.settings.subscriptions_per_owner
        if await gateway.read(gateway.store.count_subscriptions, caller.owner) >= most:
            raise QuotaReached("subscriptions", most)
        if wanted is not None:
            await channels.keep(id, caller.owner, wanted)  # before it counts, so that nothing is missed
        draft = Subscribe(id, filter.text, caller.owner, expiry, delivery)
        try:
            await gateway.append_one(draft)
        except SubscriptionExists:
            if key is None:
                raise
        found = await gateway.read(gateway.store.subscription, id, caller.owner)
    if (found.filter, found.expiry, found.delivery) != (filter.text, expiry, delivery):
        raise IdempotencyKeyReused
    kept = None if wanted is None else await channels.invite(await _first_answer(channels, id, caller.owner))
    made = seen(found, None if kept is None else kept.channel, warnings)
    return answered(made | _shown_once(kept), 201, {"Location": f"/subscriptions/{id}"})


@router.get("/subscriptions", responses=says(Subscriptions, "A page"))
async def listed(
    gateway: GatewayOf, caller: Subscriber, after: After = "", limit: Limit = 100, state: State = None
) -> Response:
    """Yours, by id."""
    if after and not is_id(after):
        raise WrongCursor(after)
    found, next = await gateway.read(_page, gateway, caller.owner, after, limit, state)
    told = [one.id for one in found if one.delivery]
    channels = await gateway.read(gateway.store.channels_of, caller.owner, told) if told else {}
    return answered({"subscriptions": [seen(one, channels.get(one.id)) for one in found], "next": next})


@router.get("/subscriptions/{id}", responses=says(SubscriptionSeen, "It stands"))
async def one(id: str, gateway: GatewayOf, caller: Subscriber) -> Response:
    """One of yours."""
    check_id(id)
    found = await gateway.read(gateway.store.subscription, id, caller.owner)
    return answered(seen(found, await gateway.read(gateway.store.channel, id, caller.owner)))


@router.patch(
    "/subscriptions/{id}", openapi_extra=takes(ChangedSubscription), responses=says(SubscriptionSeen, "As it is now")
)
async def change(
    id: str, request: Request, gateway: GatewayOf, caller: Subscriber, key: IdempotencyKey = None
) -> Response:
    """Pause, resume or edit. What it is already is left so."""
    check_id(id)
    before = await gateway.read(gateway.store.subscription, id, caller.owner)
    body = await read_body(request, ChangedSubscription)
    warnings: tuple[str, ...] = ()
    text: str | None = None
    expiry: Instant | Keep | None = KEEP
    delivery: str | Keep = KEEP
    if isinstance(body.filter, str):
        filter, warnings = await gateway.read(read_filter, body.filter, gateway)
        text = filter.text if filter.text != before.filter else None
    if not isinstance(body.expiry, msgspec.UnsetType):
        expiry = None if body.expiry is None else read_time("expiry", body.expiry)
    kept: Kept | None = None
    position: int | None = None
    if isinstance(body.channel, Channel):
        kept = await _change_channel(channels_of(request), gateway, before, body.channel)
        kind = "" if kept is None else kept.channel.kind
        delivery = kind if kind != before.delivery else KEEP
    elif body == ChangedSubscription():
        raise WrongBody("give at least one of 'state', 'filter', 'expiry' and 'channel'")
    if text is not None or expiry is not KEEP or delivery is not KEEP:
        position = (await gateway.append_one(Edit(id, text, expiry, delivery))).position
    if isinstance(body.state, str) and body.state != before.state:
        draft: Draft = Pause(id) if body.state == "paused" else Resume(id)
        with suppress(SubscriptionPaused, SubscriptionActive):  # who else asked for the same may have been quicker
            position = (await gateway.append_one(draft)).position
    after = await gateway.read(gateway.store.subscription, id, caller.owner)
    if kept is not None:
        kept = await channels_of(request).invite(kept)
    channel = kept.channel if kept is not None else await gateway.read(gateway.store.channel, id, caller.owner)
    return answered(seen(after, channel, warnings, position) | _shown_once(kept))


@router.delete("/subscriptions/{id}", responses=says(Withdrawn, "Withdrawn"))
async def withdraw(id: str, gateway: GatewayOf, caller: Subscriber, key: IdempotencyKey = None) -> Response:
    """Withdraw one of yours. What it found stays readable, and what is owed for it is still sent."""
    check_id(id)
    await gateway.read(gateway.store.subscription, id, caller.owner)
    withdrawn = await gateway.append_one(Withdraw(id))
    return answered({"id": id, "position": withdrawn.position})


def seen(
    standing: Standing,
    channel: StoredChannel | None = None,
    warnings: tuple[str, ...] | None = None,
    position: int | None = None,
) -> dict[str, Any]:
    """A subscription in JSON."""
    made: dict[str, Any] = {
        "id": standing.id,
        "filter": standing.filter,
        "state": standing.state,
        "expiry": None if standing.expiry is None else str(standing.expiry),
        "channel": settings_seen(channel),
        "since": standing.since,
    }
    if position is not None:
        made["position"] = position
    if channel is not None:
        made["channel_state"] = channel.state
    return made if warnings is None else made | {"warnings": list(warnings)}


def read_filter(text: str, gateway: Gateway) -> tuple[Filter, tuple[str, ...]]:
    """Bound to the newest catalog, and what its author should be told; raises LanguageError. Takes its time."""
    catalog = gateway.store.catalog()
    filter = Filter.parse(text, catalog)
    if matches_everything(filter, catalog):
        return filter, (*filter.warnings, "this filter matches every event")
    return filter, filter.warnings


def matches_everything(filter: Filter, catalog: Catalog) -> bool:
    return covers(filter, Filter.parse("event_type exists", catalog), catalog)


async def _change_channel(channels: Channels, gateway: Gateway, of: Standing, asked: Channel) -> Kept | None:
    """None: what it finds is only stored from now on."""
    wanted = await channels.check(asked)
    if wanted is not None:
        return await channels.keep(of.id, of.owner, wanted)
    await gateway.write(gateway.store.remove_channel, of.id, of.owner)
    return None


async def _first_answer(channels: Channels, id: str, owner: str) -> Kept:
    """With the secret, which nobody was shown yet: also where an earlier request with the same key made the channel and
    ended before it could answer."""
    channel = await channels.of(id, owner)
    return Kept(channel, channel.secrets[0][0] if channel.secrets else "", how_to_confirm(channel))


def _shown_once(kept: Kept | None) -> dict[str, str]:
    if kept is None:
        return {}
    return {name: value for name, value in (("secret", kept.secret), ("confirm", kept.confirm)) if value}


def _new_id() -> str:
    return "s-" + "".join(secrets.choice(_LETTERS) for _ in range(20))


def _found(gateway: Gateway, id: str, owner: str) -> Standing | None:
    try:
        return gateway.store.subscription(id, owner)
    except NoSuchSubscription:
        return None


def _page(gateway: Gateway, owner: str, after: str, limit: int, state: str | None) -> tuple[list[Standing], str | None]:
    """One more is read than asked for, to know whether there is a next page."""
    found: list[Standing] = []
    while True:
        some = gateway.store.subscriptions(owner, after, limit + 1)
        found += [one for one in some if state in (None, one.state)]
        if len(found) > limit:
            return found[:limit], found[limit - 1].id
        if len(some) <= limit:
            return found, None
        after = some[-1].id
