"""/v1/subscriptions: post, list, read, edit, pause, resume and withdraw filters and composites of one's own."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from tidings.language.cesql.filters import filters_text
from tidings.language.dialects import CORE, core_text, written
from tidings.service.actions import subscriptions
from tidings.service.actions.subscriptions import SubscriptionAsked, SubscriptionChange, SubscriptionNow
from tidings.service.actions.times import read_future_time
from tidings.service.api.channel_shapes import Channel, settings_seen
from tidings.service.api.requests import V1, After, Calling, GatewayOf, Limit, WrongCursor, answered, page
from tidings.service.api.shapes import Shape, WrongBody, read_body, says, takes
from tidings.service.door.idempotency import IdempotencyKey, IdempotentRoute, subscription_address
from tidings.service.gateway import Gateway
from tidings.store import Standing, StoredChannel
from tidings.store.journal.entries import KEEP, Keep
from tidings.store.journal.fitness import LONGEST_NAME, LONGEST_NOTE, is_id

router = APIRouter(prefix=V1, tags=["subscriptions"], route_class=IdempotentRoute)

T = TypeVar("T")
Dialect = Literal["tidings", "cesql", "cloudevents"]
_LONGEST_TIME = 100
Name = Annotated[str, msgspec.Meta(description=f"One line of at most {LONGEST_NAME} characters; need not be unique")]
Note = Annotated[str, msgspec.Meta(description=f"A few lines, at most {LONGEST_NOTE:,} characters")]
CompositeText = Annotated[str, msgspec.Meta(description="A pattern over time: `[price > 100] before …`")]
Time = Annotated[str, msgspec.Meta(max_length=_LONGEST_TIME, description="A future time, ISO 8601")]


class NewSubscription(Shape, frozen=True):
    """What all new subscriptions may have."""

    channel: Channel | None = None
    expiry: Time | None = None
    name: Name | None = None
    note: Note | None = None


class NewFilterSubscription(NewSubscription, frozen=True, kw_only=True):
    """With a filter, in the language that `dialect` names."""

    filter: str
    dialect: Dialect = "tidings"


class NewFiltersSubscription(NewSubscription, frozen=True, kw_only=True):
    """With the `filters` array of CloudEvents subscriptions; all of them must match."""

    filters: list[dict[str, Any]]
    dialect: Literal["cloudevents"] = "cloudevents"


class NewCompositeSubscription(NewSubscription, frozen=True, kw_only=True):
    """With a pattern of several events over time."""

    composite: CompositeText


_NEW = {"filter": NewFilterSubscription, "filters": NewFiltersSubscription, "composite": NewCompositeSubscription}


class ChangedSubscription(Shape, frozen=True):
    """At least one member, and not both `filter` and `composite`; `null` removes the expiry, the name or the note."""

    state: Literal["active", "paused"] | msgspec.UnsetType = msgspec.UNSET
    filter: str | msgspec.UnsetType = msgspec.UNSET
    composite: CompositeText | msgspec.UnsetType = msgspec.UNSET
    expiry: Time | msgspec.UnsetType | None = msgspec.UNSET
    channel: Channel | msgspec.UnsetType = msgspec.UNSET
    name: Name | msgspec.UnsetType | None = msgspec.UNSET
    note: Note | msgspec.UnsetType | None = msgspec.UNSET


class SubscriptionSeen(Shape, frozen=True):
    """It has a `filter` or a `composite`. Events after the journal position `since` are matched. The answer to a change
    has the change's `position`, unless nothing changed. A filter in another language has its `dialect` and what was
    `written`; `filter` is what it was translated into."""

    id: str
    state: Literal["active", "paused"]
    expiry: str | None
    channel: Channel
    since: int
    name: str | None
    note: str | None
    filter: str | msgspec.UnsetType = msgspec.UNSET
    composite: CompositeText | msgspec.UnsetType = msgspec.UNSET
    dialect: Dialect | msgspec.UnsetType = msgspec.UNSET
    written: str | msgspec.UnsetType = msgspec.UNSET
    position: int | msgspec.UnsetType = msgspec.UNSET
    channel_state: str | msgspec.UnsetType = msgspec.UNSET
    secret: str | msgspec.UnsetType = msgspec.UNSET
    confirm: str | msgspec.UnsetType = msgspec.UNSET
    warnings: list[str] | msgspec.UnsetType = msgspec.UNSET


class Withdrawn(Shape, frozen=True):
    """Events after the journal `position` are no longer matched."""

    id: str
    position: int


class Subscriptions(Shape, frozen=True):
    items: list[SubscriptionSeen]
    next: str | None


State = Annotated[Literal["active", "paused"] | None, Query(description="Only subscriptions in this state")]


@router.post(
    "/subscriptions",
    status_code=201,
    openapi_extra=takes(*_NEW.values()),
    responses=says(SubscriptionSeen, "Subscribed: every event accepted from now on is matched", 201),
)
async def subscribe(request: Request, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """Subscribe with a filter or a composite, and optionally a channel, an expiry, a name and a note. Every event
    accepted from now on is matched with it. The `secret` of a webhook is shown only in this answer."""
    body = await _read_new(request)
    expiry = None if body.expiry is None else read_future_time("expiry", body.expiry)
    channel = None if body.channel is None else body.channel.asked()
    named = body.name or "", body.note or ""
    composite = body.composite if isinstance(body, NewCompositeSubscription) else None
    asked = SubscriptionAsked(_filter(body), expiry, channel, key, *named, composite)
    made = await subscriptions.subscribe(gateway, caller.owner, asked)
    return answered(_changed(made), 201, {"Location": subscription_address(made.standing.id)})


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
    return page(request, [seen(one, channels.get(one.id)) for one in found], next)


@router.get("/subscriptions/{id}", responses=says(SubscriptionSeen, "The subscription"))
async def one(id: str, gateway: GatewayOf, caller: Calling) -> Response:
    """Get one of your subscriptions."""
    found = await subscriptions.own(gateway, caller.owner, id)
    return answered(seen(found, await gateway.read(gateway.store.channel, id, caller.owner)))


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
    kinds = [kind for member, kind in _NEW.items() if body.get(member) is not None]
    if len(kinds) != 1:
        raise WrongBody("give exactly one of 'filter', 'filters' and 'composite'")
    if kinds == [NewCompositeSubscription] and "dialect" in body:
        raise WrongBody("a composite has no dialect")
    if kinds == [NewFiltersSubscription] and body.get("dialect") == "cesql":
        raise WrongBody("'filters' is in the dialect 'cloudevents'; an expression in CESQL is a 'filter'")
    given = {member: value for member, value in body.items() if value is not None or member not in _NEW}
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


def seen(standing: Standing, channel: StoredChannel | None = None) -> dict[str, Any]:
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
