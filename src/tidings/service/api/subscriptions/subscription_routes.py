"""/v1/subscriptions: post, list, read, edit, pause, resume and withdraw filters and composites of one's own."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from tidings.language.cesql.filters import filters_text
from tidings.language.dialects import CORE, core_text, written
from tidings.service.actions import subscriptions
from tidings.service.actions.subscriptions import (
    SubscriptionAsked,
    SubscriptionChange,
    SubscriptionNow,
    expression_errors,
)
from tidings.service.actions.times import read_future_time
from tidings.service.api.channels.channel_shapes import Channel, settings_seen
from tidings.service.api.requests import V1, After, Calling, GatewayOf, Limit, WrongCursor, answered, page
from tidings.service.api.shapes import WrongBody, read_body, says, takes
from tidings.service.api.subscriptions.subscription_shapes import (
    NEW,
    ChangedSubscription,
    NewCompositeSubscription,
    NewFiltersSubscription,
    NewFilterSubscription,
    NewSubscription,
    Subscriptions,
    SubscriptionSeen,
    Withdrawn,
)
from tidings.service.door.idempotency import IdempotencyKey, IdempotentRoute, subscription_address
from tidings.service.gateway import Gateway
from tidings.store import Standing, StoredChannel
from tidings.store.journal.entries import KEEP, Keep
from tidings.store.journal.fitness import is_id
from tidings.store.notifications.expression_errors import ExpressionErrors

router = APIRouter(prefix=V1, tags=["subscriptions"], route_class=IdempotentRoute)

T = TypeVar("T")
_SETTLED_WITHIN = 30.0  # seconds
Wait = Annotated[Literal["settled"] | None, Query(description="Answer when other servers know of it")]
State = Annotated[Literal["active", "paused"] | None, Query(description="Only subscriptions in this state")]


@router.post(
    "/subscriptions",
    status_code=201,
    openapi_extra=takes(*NEW.values()),
    responses=says(SubscriptionSeen, "Subscribed: every event accepted from now on is matched", 201),
)
async def subscribe(
    request: Request, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None, wait: Wait = None
) -> Response:
    """Subscribe with a filter or a composite, and optionally a channel, an expiry, a name and a note. Every event
    accepted from now on is matched with it. The `secret` of a webhook is shown only in this answer. In a network of
    servers, `wait=settled` answers once all servers in reach send what matches at once, or after 30 seconds; `settled`
    says which."""
    body = await _read_new(request)
    expiry = None if body.expiry is None else read_future_time("expiry", body.expiry)
    channel = None if body.channel is None else body.channel.asked()
    named = body.name or "", body.note or ""
    composite = body.composite if isinstance(body, NewCompositeSubscription) else None
    asked = SubscriptionAsked(_filter(body), expiry, channel, key, *named, composite)
    made = await subscriptions.subscribe(gateway, caller.owner, asked)
    shown = _changed(made)
    if wait is not None:
        done = gateway.network is None or await gateway.network.settled(_SETTLED_WITHIN)
        shown["settled"] = done
    return answered(shown, 201, {"Location": subscription_address(made.standing.id)})


@router.get("/subscriptions", responses=says(Subscriptions, "A page of subscriptions"))
async def listed(
    request: Request, gateway: GatewayOf, caller: Calling, after: After = "", limit: Limit = 100, state: State = None
) -> Response:
    """List your subscriptions, ordered by id."""
    if after and not is_id(after):
        raise WrongCursor(after)
    found, next = await gateway.read(_page, gateway, caller.owner, after, limit, state)
    told = [one.id for one in found if one.delivery]
    channels = await gateway.read(gateway.store.channels_of, caller.owner, told) if told else {}
    errors = await gateway.read(expression_errors, gateway.store, found)
    return page(request, [seen(one, channels.get(one.id), errors.get(one.id)) for one in found], next)


@router.get("/subscriptions/{id}", responses=says(SubscriptionSeen, "The subscription"))
async def one(id: str, gateway: GatewayOf, caller: Calling) -> Response:
    """Get one of your subscriptions."""
    found = await subscriptions.own(gateway, caller.owner, id)
    errors = await gateway.read(expression_errors, gateway.store, [found])
    return answered(seen(found, await gateway.read(gateway.store.channel, id, caller.owner), errors.get(id)))


@router.patch(
    "/subscriptions/{id}",
    openapi_extra=takes(ChangedSubscription),
    responses=says(SubscriptionSeen, "The changed subscription"),
)
async def change(
    id: str, request: Request, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None
) -> Response:
    """Edit, rename, pause or resume a subscription. Either all changes are made or none."""
    body = await read_body(request, ChangedSubscription)
    if body == ChangedSubscription():
        raise WrongBody("give at least one of 'state', 'filter', 'composite', 'expiry', 'channel', 'name' and 'note'")
    if isinstance(body.filter, str) and isinstance(body.composite, str):
        raise WrongBody("give only one of 'filter' and 'composite'")
    asked = SubscriptionChange(
        body.filter if isinstance(body.filter, str) else None,
        read_future_time("expiry", body.expiry) if isinstance(body.expiry, str) else _or_keep(body.expiry),
        _or_keep(body.state),
        body.channel.asked() if isinstance(body.channel, Channel) else KEEP,
        "" if body.name is None else _or_keep(body.name),
        "" if body.note is None else _or_keep(body.note),
        body.composite if isinstance(body.composite, str) else None,
    )
    return answered(_changed(await subscriptions.change(gateway, caller.owner, id, asked)))


@router.delete("/subscriptions/{id}", responses=says(Withdrawn, "Withdrawn"))
async def withdraw(id: str, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """Withdraw a subscription. Its notifications remain readable, and deliveries that are due are still sent."""
    return answered({"id": id, "position": await subscriptions.withdraw(gateway, caller.owner, id)})


async def _read_new(request: Request) -> NewSubscription:
    """By which member it has. Raises WrongContentType or WrongBody."""
    body = await read_body(request, dict[str, Any])
    kinds = [kind for member, kind in NEW.items() if body.get(member) is not None]
    if len(kinds) != 1:
        raise WrongBody("give exactly one of 'filter', 'filters' and 'composite'")
    if kinds == [NewCompositeSubscription] and "dialect" in body:
        raise WrongBody("a composite has no dialect")
    if kinds == [NewFiltersSubscription] and body.get("dialect") == "cesql":
        raise WrongBody("'filters' is for the dialect 'cloudevents'; put a CESQL expression into 'filter'")
    given = {member: value for member, value in body.items() if value is not None or member not in NEW}
    try:
        made: NewSubscription = msgspec.convert(given, kinds[0])
    except msgspec.ValidationError as problem:
        raise WrongBody(str(problem)) from None
    return made


def _filter(body: NewSubscription) -> str:
    """As text of the filter language; empty for a composite."""
    match body:
        case NewFilterSubscription():
            return core_text(body.dialect, body.filter)
        case NewFiltersSubscription():
            return core_text(body.dialect, filters_text(body.filters))
        case _:
            return ""


def seen(
    standing: Standing, channel: StoredChannel | None = None, errors: ExpressionErrors | None = None
) -> dict[str, Any]:
    """A subscription in JSON."""
    made: dict[str, Any] = {
        "id": standing.id,
        "composite" if standing.composite else "filter": standing.filter,
        "state": standing.state,
        "expiry": None if standing.expiry is None else str(standing.expiry),
        "channel": settings_seen(channel),
        "since": standing.since,
        "name": standing.name or None,
        "note": standing.note or None,
    }
    was = written(standing.filter)
    if was.dialect != CORE:
        made |= {"dialect": was.dialect, "written": was.text}
    if errors is not None:
        made["errors"] = errors._asdict()
    return made if channel is None else made | {"channel_state": channel.state}


def _changed(now: SubscriptionNow) -> dict[str, Any]:
    """With what only the answer to a change tells; `secret` is shown this once."""
    told = {"position": now.position, "secret": now.secret or None, "confirm": now.confirm or None}
    made = seen(now.standing, now.channel) | {"warnings": list(now.warnings)}
    return made | {name: value for name, value in told.items() if value is not None}


def _or_keep(given: T | msgspec.UnsetType) -> T | Keep:
    return KEEP if isinstance(given, msgspec.UnsetType) else given


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
