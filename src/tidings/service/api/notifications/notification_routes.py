"""/v1/notifications: what matched, in the order in which it was found, page by page, or the next as it comes."""

from __future__ import annotations

from time import monotonic
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from tidings.service.actions.subscriptions import check_owned
from tidings.service.api.notifications.notification_shape import detections, notification_json, raw_events
from tidings.service.api.requests import V1, After, Calling, GatewayOf, Limit, page, read_cursor
from tidings.service.api.shapes import Shape, says
from tidings.service.door.guarded_route import GuardedRoute
from tidings.service.gateway import Gateway

router = APIRouter(prefix=V1, tags=["notifications"], route_class=GuardedRoute)

LONGEST_WAIT = 30.0
_LARGEST_PAGE = 8 << 20  # bytes of events, unless one has more: a thousand large ones would be a quarter of a gigabyte
_READ_AT_ONCE = 100  # events; those beyond the page are not read for nothing
Wait = Annotated[
    float,
    Query(ge=0, le=LONGEST_WAIT, allow_inf_nan=False, description="Seconds to wait for the first new notification"),
]


class ConstituentSeen(Shape, frozen=True):
    source: str
    id: str
    time: str


class DetectionSeen(Shape, frozen=True):
    """What a composite found: the values of its `by`, its last time, and its events in the order of time. `expired` is
    what a partial match waited for in vain until that time; a complete one has no such member."""

    key: list[int | float | str]
    time: str
    events: list[ConstituentSeen]
    expired: str | msgspec.UnsetType = msgspec.UNSET


class NotificationSeen(Shape, frozen=True):
    id: str
    subscription: str
    event: dict[str, Any] | None
    matched_at: str
    subscription_name: str | msgspec.UnsetType = msgspec.UNSET
    detection: DetectionSeen | msgspec.UnsetType = msgspec.UNSET


class Notifications(Shape, frozen=True):
    items: list[NotificationSeen]
    next: str


_PAGE = says(Notifications, "A page; `next` is the cursor to continue with, also when there is nothing yet")


@router.get("/notifications", responses=_PAGE)
async def notifications(
    request: Request, gateway: GatewayOf, caller: Calling, after: After = "", limit: Limit = 100, wait: Wait = 0
) -> Response:
    """List the notifications of all your subscriptions, oldest first. With `wait` the request waits for the first new
    one. `event` is null if the event was removed in the meantime. A composite's notifications have a `detection`, and
    its last event as `event`; null if it has none."""
    return await _answer(request, gateway, caller.owner, None, read_cursor(after), limit, wait)


@router.get("/subscriptions/{id}/notifications", responses=_PAGE)
async def of_subscription(
    id: str,
    request: Request,
    gateway: GatewayOf,
    caller: Calling,
    after: After = "",
    limit: Limit = 100,
    wait: Wait = 0,
) -> Response:
    """List the notifications of one subscription, also after it was withdrawn."""
    start = read_cursor(after)
    await gateway.read(check_owned, gateway, id, caller.owner)
    return await _answer(request, gateway, caller.owner, id, start, limit, wait)


async def _answer(
    request: Request, gateway: Gateway, owner: str, subscription: str | None, after: int, limit: int, wait: float
) -> Response:
    watching = request.app.state.watching
    end = monotonic() + wait
    while True:
        newest = await watching.newest() if wait else 0
        found = await gateway.read(_page, gateway, after, limit, subscription, owner)
        left = end - monotonic()
        if found or left <= 0 or watching.closed or await request.is_disconnected():
            break
        await watching.wait(newest, left)
    last = found[-1][0] if found else after
    return page(request, [seen for _, seen in found], str(last))


def _page(
    gateway: Gateway, after: int, limit: int, subscription: str | None, owner: str
) -> list[tuple[int, dict[str, Any]]]:
    found = gateway.store.notifications(after, limit, subscription, owner)
    fitting: list[tuple[int, dict[str, Any]]] = []
    size = 0
    for start in range(0, len(found), _READ_AT_ONCE):
        some = found[start : start + _READ_AT_ONCE]
        events, detected = raw_events(gateway.store, some), detections(gateway.store, some)
        names = gateway.store.subscription_names(one.subscription for one in some)
        for one in some:
            event = events.get(one.position)
            size += 0 if event is None else len(event)
            if size > _LARGEST_PAGE and fitting:
                return fitting
            name = names.get((one.subscription, owner), "")
            fitting.append((one.cursor, notification_json(one, event, name, detected.get(one.detection))))
    return fitting
