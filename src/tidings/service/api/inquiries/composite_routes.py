"""Questions about composites: /v1/composites/test and /v1/subscriptions/{id}/waiting."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Request
from msgspec import Meta
from starlette.responses import Response

from tidings.schema import Instant
from tidings.schema.moments import WHEN
from tidings.service.actions import subscriptions
from tidings.service.api.inquiries.inquiry_routes import QuestionsOf, refuses
from tidings.service.api.inquiries.inquiry_shapes import DaySeen
from tidings.service.api.inquiries.time_parameters import moment
from tidings.service.api.requests import V1, Calling, GatewayOf, answered
from tidings.service.api.shapes import Shape, read_body, says, takes
from tidings.service.door.guarded_route import GuardedRoute
from tidings.service.workers.composite_trial import TriedDetection, TriedEvent, WaitNow

router = APIRouter(prefix=V1, tags=["inquiries"], route_class=GuardedRoute)


class CompositeToTest(Shape, frozen=True):
    composite: str
    since: Annotated[str, Meta(max_length=100, description=f"Only events accepted at or after this time: {WHEN}")] = (
        "7d"
    )
    limit: Annotated[int, Meta(ge=0, le=100, description="How many of the newest detections to return")] = 10


class TriedEventSeen(Shape, frozen=True):
    """An event that takes part in a detection. `position` and `event` are null for a time event, and where the event
    was removed."""

    id: str
    source: str
    time: str
    position: int | None
    event: dict[str, Any] | None


class TriedDetectionSeen(Shape, frozen=True):
    """`key` has the values of `by`. `expired` is what a partial match waited for in vain."""

    time: str
    key: dict[str, int | float | str]
    events: list[TriedEventSeen]
    expired: str | msgspec.UnsetType = msgspec.UNSET


class CompositeTestSeen(Shape, frozen=True):
    composite: str
    warnings: list[str]
    detected: int
    scanned: int
    of_newest: int | None
    unreadable: int
    dropped: Annotated[int, Meta(description="Partial matches for which there was no room")]
    until: Annotated[str | None, Meta(description="How far time ran; null where there were no events")]
    per_day: list[DaySeen]
    newest: list[TriedDetectionSeen]
    complete_from: int


class WaitSeen(Shape, frozen=True):
    """Partial matches that wait `for` something, or, where `must_not`, for a time to pass without it."""

    awaited: Annotated[str, Meta(description="The part of the composite that must happen, or must not")]
    must_not: bool
    partial: int
    missing: Annotated[int, Meta(description="How many of it are missing at least")]
    expires: Annotated[str | None, Meta(description="When the oldest is over, or complete where `must_not`")]
    told: str


class WaitingSeen(Shape, frozen=True):
    subscription: str
    composite: str
    as_of: str
    waiting: list[WaitSeen]


@router.post(
    "/composites/test",
    openapi_extra=takes(CompositeToTest),
    responses=says(CompositeTestSeen, "What the composite would have detected"),
)
async def test(request: Request, gateway: GatewayOf, caller: Calling, questions: QuestionsOf) -> Response:
    """Try a composite before you subscribe: warnings about it, and what it would have detected in stored events.

    Events count in the order in which they happened. Time runs on after the last of them, until what it left open is
    over, but not beyond now. In a long period only the newest events are scanned.
    """
    body = await read_body(request, CompositeToTest)
    end = gateway.store.clock.now()
    begin = moment("since", body.since, end)
    tried = await questions.try_composite(caller.owner, body.composite, begin, end, body.limit)
    return answered(
        {
            "composite": tried.composite,
            "warnings": tried.warnings,
            "detected": tried.detected,
            "scanned": tried.scanned,
            "of_newest": tried.of_newest,
            "unreadable": tried.unreadable,
            "dropped": tried.dropped,
            "until": None if tried.until is None else str(tried.until),
            "per_day": [{"day": day, "count": count} for day, count in tried.per_day],
            "newest": [_detection(one) for one in tried.newest],
            "complete_from": await gateway.read(gateway.store.complete_from),
        }
    )


@router.get(
    "/subscriptions/{id}/waiting",
    responses={**says(WaitingSeen, "What the composite waits for"), **refuses(409, "The subscription has a filter")},
)
async def waiting(id: str, gateway: GatewayOf, caller: Calling, questions: QuestionsOf) -> Response:
    """Explain what a composite waits for: its partial matches, what is missing, and when the oldest expires.

    Read from the state of the query that detects it; until that has come to it, computed from stored events. A paused
    one waits for nothing.
    """
    standing = await subscriptions.own(gateway, caller.owner, id)
    found = await questions.waiting(caller.owner, standing)
    now = str(gateway.store.clock.now())
    waits = [_wait(one) for one in found]
    return answered({"subscription": id, "composite": standing.filter, "as_of": now, "waiting": waits})


def _wait(one: WaitNow) -> dict[str, Any]:
    return {
        "awaited": one.awaited,
        "must_not": one.must_not,
        "partial": one.partial,
        "missing": one.missing,
        "expires": None if one.expires is None else str(one.expires),
        "told": one.told,
    }


def _detection(one: TriedDetection) -> dict[str, Any]:
    found = {"time": str(one.time), "key": one.key, "events": [_constituent(event) for event in one.events]}
    return {**found, "expired": one.expired} if one.expired else found


def _constituent(one: TriedEvent) -> dict[str, Any]:
    stored = one.stored
    return {
        "id": one.key.id,
        "source": one.key.source,
        "time": str(Instant(one.key.time)),
        "position": None if stored is None else stored.position,
        "event": None if stored is None else msgspec.Raw(stored.payload.encode()),
    }
