"""/v1/subscriptions/{id}/deliveries: what was sent, with every attempt, and sending it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from tidings.notifying.delivery import Attempt
from tidings.service.actions import deliveries as actions
from tidings.service.api.requests import V1, After, Calling, GatewayOf, Limit, answered, page, read_cursor
from tidings.service.api.shapes import Shape, WrongBody, read_body, says, takes
from tidings.service.door.idempotency import IdempotencyKey, IdempotentRoute
from tidings.service.gateway import Gateway
from tidings.store import DeliveryState, Item, NoSuchDelivery, StoredAttempt, StoredDelivery
from tidings.store.notifications.notification_id import id_without_event, notification_id_of

router = APIRouter(prefix=V1, tags=["deliveries"], route_class=IdempotentRoute)

_LARGEST = 2**63 - 1
_MOST_AT_ONCE = 10_000
Number = Annotated[int, msgspec.Meta(ge=1, le=_LARGEST)]
State = Annotated[DeliveryState | None, Query(description="Only deliveries in this state")]


class DeliverySeen(Shape, frozen=True):
    """`attempts` counts since the last replay. `held`: the channel is not active. `collecting`: an open digest."""

    number: int
    state: str
    held: bool
    collecting: bool
    attempts: int
    due: str
    created: str
    done: str | None
    sequences: list[int]
    notifications: list[str]


class AttemptSeen(Shape, frozen=True):
    ok: bool
    seconds: float
    request: str
    status: int | None
    response: str
    problem: str
    attempt: int | msgspec.UnsetType = msgspec.UNSET
    started: str | msgspec.UnsetType = msgspec.UNSET


class DeliveryTold(DeliverySeen, frozen=True):
    tried: list[AttemptSeen]


class Deliveries(Shape, frozen=True):
    items: list[DeliverySeen]
    next: str | None


class Replay(Shape, frozen=True, rename={"first": "from", "last": "to"}):
    """Exactly one of: `deliveries` by number, all that `failed`, or a range of sequence numbers (`from`, `to`)."""

    deliveries: Annotated[list[Number], msgspec.Meta(min_length=1, max_length=_MOST_AT_ONCE)] | msgspec.UnsetType = (
        msgspec.UNSET
    )
    failed: bool | msgspec.UnsetType = msgspec.UNSET
    first: Number | msgspec.UnsetType = msgspec.UNSET
    last: Number | msgspec.UnsetType = msgspec.UNSET


class Replayed(Shape, frozen=True):
    replayed: int


@router.get("/subscriptions/{id}/deliveries", responses=says(Deliveries, "A page of deliveries, newest first"))
async def deliveries(
    id: str,
    request: Request,
    gateway: GatewayOf,
    caller: Calling,
    state: State = None,
    after: After = "",
    limit: Limit = 100,
) -> Response:
    """List the deliveries of a subscription: those that were sent and those that are due."""
    start = read_cursor(after)
    await gateway.channels.owned(id, caller.owner)
    found = await gateway.read(gateway.store.deliveries_of, id, caller.owner, start, limit + 1, state)
    next = str(found[limit - 1].number) if len(found) > limit else None
    seen = await gateway.read(_seen, gateway, found[:limit])
    return page(request, seen, next)


@router.get("/subscriptions/{id}/deliveries/{number}", responses=says(DeliveryTold, "The delivery with all attempts"))
async def delivery(id: str, number: str, gateway: GatewayOf, caller: Calling) -> Response:
    """Get a delivery and every attempt: the request, the response and how long it took."""
    await gateway.channels.owned(id, caller.owner)
    if not (number.isascii() and number.isdecimal() and len(number) < 19):
        raise NoSuchDelivery(0)
    found = await gateway.read(gateway.store.delivery, int(number), caller.owner)
    if found.subscription != id:
        raise NoSuchDelivery(int(number))
    tried = await gateway.read(gateway.store.attempts_of, int(number))
    (seen,) = await gateway.read(_seen, gateway, [found])
    return answered(seen | {"tried": [_tried(one) for one in tried]})


@router.post(
    "/subscriptions/{id}/replay",
    openapi_extra=takes(Replay),
    responses=says(Replayed, "How many deliveries are due again"),
)
async def replay(
    id: str, request: Request, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None
) -> Response:
    """Send deliveries again, also those that arrived. Deliveries whose events were removed are skipped."""
    await gateway.channels.owned(id, caller.owner)
    body = await read_body(request, Replay)
    return answered({"replayed": await actions.replay(gateway, caller.owner, id, _chosen(body))})


@router.post("/subscriptions/{id}/test-delivery", responses=says(AttemptSeen, "The outcome of the attempt"))
async def send_test(id: str, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """Send a test now: the newest match, or a made-up event if there is none."""
    return answered(_attempt(await actions.send_test(gateway, caller.owner, id)))


def _seen(gateway: Gateway, found: Sequence[StoredDelivery]) -> list[dict[str, Any]]:
    events = gateway.store.events_at(item.position for one in found for item in one.items)
    return [_delivery_seen(one, events) for one in found]


def _delivery_seen(one: StoredDelivery, events: Mapping[int, str]) -> dict[str, Any]:
    return {
        "number": one.number,
        "state": one.state,
        "held": one.held,
        "collecting": one.open,
        "attempts": one.attempts,
        "due": str(one.due),
        "created": str(one.created),
        "done": None if one.done is None else str(one.done),
        "sequences": [item.sequence for item in one.items],
        "notifications": [_id(one.subscription, item, events.get(item.position)) for item in one.items],
    }


def _id(subscription: str, item: Item, event: str | None) -> str:
    if item.detection:
        return item.detection
    if event is None:
        return id_without_event(subscription, item.position, item.matched_at)
    return notification_id_of(subscription, event)


def _tried(one: StoredAttempt) -> dict[str, Any]:
    return {"attempt": one.attempt, "started": str(one.started), **_attempt(one)}


def _attempt(one: Attempt | StoredAttempt) -> dict[str, Any]:
    return {
        "ok": one.ok,
        "seconds": round(one.seconds, 6),
        "request": one.request,
        "status": one.status,
        "response": one.response,
        "problem": one.problem,
    }


def _chosen(body: Replay) -> actions.ReplayAsked:
    """Raises WrongBody unless one thing is asked for."""
    ways: list[actions.ReplayAsked] = []
    if isinstance(body.deliveries, list):
        ways.append(actions.ReplayAsked(numbers=frozenset(body.deliveries)))
    if body.failed is True:
        ways.append(actions.ReplayAsked(failed=True))
    if isinstance(body.first, int) or isinstance(body.last, int):
        first = body.first if isinstance(body.first, int) else 1
        last = body.last if isinstance(body.last, int) else _LARGEST
        ways.append(actions.ReplayAsked(sequences=(first, last)))
    if len(ways) != 1:
        raise WrongBody("give 'deliveries' (their numbers), or 'failed': true, or 'from' and 'to' (sequence numbers)")
    return ways[0]
