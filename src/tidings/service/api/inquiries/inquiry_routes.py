"""Questions about filters and stored events: /v1/filters/explain, /v1/filters/test and /v1/events."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Depends, Header, Path, Query, Request
from msgspec import UNSET
from starlette.responses import Response

from tidings.schema.moments import WHEN
from tidings.service.actions.questions import PAGE, EventAsked, Questions, SearchAsked
from tidings.service.api.inquiries.inquiry_shapes import (
    LAST_POSITION,
    EventSeen,
    EventsSeen,
    EventToExplain,
    ExplanationSeen,
    FilterToTest,
    QueryAsked,
    SearchSeen,
    TestSeen,
)
from tidings.service.api.inquiries.time_parameters import moment
from tidings.service.api.problems import PROBLEM
from tidings.service.api.requests import (
    V1,
    After,
    Calling,
    GatewayOf,
    Limit,
    WrongCursor,
    answered,
    page,
    questions_of,
    read_cursor,
)
from tidings.service.api.shapes import WrongBody, read_body, says, takes
from tidings.service.door.guarded_route import GuardedRoute
from tidings.service.workers import query_files
from tidings.service.workers.event_search import Sought, Wanted
from tidings.service.workers.questions import StoredEvent

router = APIRouter(prefix=V1, tags=["inquiries"], route_class=GuardedRoute)
_PLACE = re.compile(r"[0-9]{1,18}:-?[0-9]{1,18}:[0-9]{1,18}", re.ASCII)  # of the next page of a search


def refuses(status: int, told: str) -> dict[int | str, dict[str, Any]]:
    """For what the OpenAPI document would not expect of such a route."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {status: {"description": told, "content": {PROBLEM: {"schema": schema}}}}


QuestionsOf = Annotated[Questions, Depends(questions_of)]
FilterText = Annotated[str, Query(description="Only events that match this filter")]
Since = Annotated[str, Query(max_length=100, description=f"Only events accepted at or after this time: {WHEN}")]
Until = Annotated[str, Query(max_length=100, description="Only events accepted before this time")]
PageSize = Annotated[int | None, Query(ge=1, le=1000, description=f"Maximum number of events; {PAGE} by default")]
TypeName = Annotated[str, Query(alias="type", max_length=200, description="Only events of this type")]
OccurredSince = Annotated[str, Query(max_length=100, description=f"Only events that happened at or after it: {WHEN}")]
OccurredUntil = Annotated[str, Query(max_length=100, description="Only events that happened before this time")]
Upto = Annotated[int | None, Query(ge=1, le=LAST_POSITION, description="Only events at positions up to this one")]
Order = Annotated[Literal["oldest", "newest"], Query(description="Oldest or newest first")]
Prefer = Annotated[str, Header(alias="Prefer", description="`respond-async` runs it as a query in the background")]


@router.post(
    "/filters/explain",
    openapi_extra=takes(EventToExplain),
    responses={**says(ExplanationSeen, "The explanation"), **refuses(404, "No such event")},
)
async def explain(request: Request, caller: Calling, questions: QuestionsOf) -> Response:
    """Explain why an event matches a filter or not: whether each predicate holds, with the values of the event."""
    body = await read_body(request, EventToExplain)
    given = [member is not UNSET for member in (body.event, body.position, body.id)]
    if sum(given) != 1 or (body.source is not UNSET and body.id is UNSET):
        raise WrongBody("give exactly one of 'event', 'position' and 'id' (the last perhaps with a 'source')")
    event = EventAsked(
        body.event if isinstance(body.event, dict) else None,
        body.position if isinstance(body.position, int) else None,
        body.source if isinstance(body.source, str) else "",
        body.id if isinstance(body.id, str) else None,
    )
    return answered(await questions.explain(caller.owner, body.filter, event))


@router.post(
    "/filters/test", openapi_extra=takes(FilterToTest), responses=says(TestSeen, "What the filter would have matched")
)
async def test(request: Request, gateway: GatewayOf, caller: Calling, questions: QuestionsOf) -> Response:
    """Try a filter before you subscribe: warnings about it, and which stored events it would have matched.

    In a long period only the newest events are scanned; `of_newest` is the number of journal positions scanned.
    `per_day` counts by the day on which events happened.
    """
    body = await read_body(request, FilterToTest)
    end = gateway.store.clock.now()
    begin = moment("since", body.since, end)
    tried = await questions.try_on_period(caller.owner, body.filter, begin, end, body.limit)
    return answered(
        {
            "filter": tried.filter,
            "warnings": tried.warnings,
            "never_matches": tried.never_matches,
            "matches_everything": tried.matches_everything,
            "covered_by": tried.covered_by,
            "matched": tried.matched,
            "scanned": tried.scanned,
            "of_newest": tried.of_newest,
            "unreadable": tried.unreadable,
            "per_day": [{"day": day, "count": count} for day, count in tried.per_day],
            "newest": [_event(event) for event in tried.newest],
            "complete_from": await gateway.read(gateway.store.complete_from),
        }
    )


@router.get(
    "/events",
    responses={
        **says(EventsSeen, "A page of events"),
        **says(QueryAsked, "A query was started; `Location` is its address", 202),
    },
)
async def events(
    request: Request,
    gateway: GatewayOf,
    caller: Calling,
    questions: QuestionsOf,
    filter: FilterText = "",
    since: Since = "",
    until: Until = "",
    after: After = "",
    limit: PageSize = None,
    order: Order = "oldest",
    prefer: Prefer = "",
) -> Response:
    """Search the stored events with a filter. Every account can read all of them.

    One request scans at most about 200,000 events, so a page may be short or even empty; continue until `next` is null.
    A search over more than a million positions without `limit` and `after` runs as a query in the background.
    """
    now = gateway.store.clock.now()
    wanted = "respond-async" in prefer.lower()
    asked = SearchAsked(
        filter,
        moment("since", since, now) if since else None,
        moment("until", until, now) if until else None,
        read_cursor(after),
        limit,
        order == "newest",
        wanted,
    )
    found = await questions.search(caller.owner, asked)
    if isinstance(found, query_files.Query):
        headers = {"Location": f"/v1/queries/{found.id}"} | ({"Preference-Applied": "respond-async"} if wanted else {})
        return answered({"query": found.id, "state": found.state}, 202, headers)
    return page(
        request,
        [_event(event) for event in found.events],
        None if found.next is None else str(found.next),
        scanned=found.scanned,
        unreadable=found.unreadable,
        complete_from=await gateway.read(gateway.store.complete_from),
    )


@router.get("/events/search", responses=says(SearchSeen, "A page of events, and how many match"))
async def search(
    request: Request,
    gateway: GatewayOf,
    caller: Calling,
    questions: QuestionsOf,
    filter: FilterText = "",
    type: TypeName = "",
    occurred_since: OccurredSince = "",
    occurred_until: OccurredUntil = "",
    upto: Upto = None,
    after: After = "",
    limit: Limit = 100,
) -> Response:
    """Search the stored events by when they happened, the latest first, and count the matches over that time.

    An event without a time happened when it was accepted. One request scans the newest 200,000 events at most; where
    there are more, `reached` says how far it came: send it as `upto` to search further back.
    """
    now = gateway.store.clock.now()
    begin = moment("occurred_since", occurred_since, now) if occurred_since else None
    end = moment("occurred_until", occurred_until, now) if occurred_until else None
    start, before = read_place(after)
    wanted = Wanted(filter, type, begin, end, before, start or upto, limit)
    found = await questions.find(caller.owner, wanted)
    return page(
        request,
        [_event(one.stored) | {"occurred": str(one.occurred)} for one in found.events],
        next_place(found),
        filter=found.filter,
        warnings=found.warnings,
        matched=found.matched,
        scanned=found.looked,
        unreadable=found.unreadable,
        bars=[{"start": str(bar.start), "end": str(bar.end), "count": bar.count} for bar in found.bars],
        reached=found.reached,
        complete_from=await gateway.read(gateway.store.complete_from),
    )


def next_place(found: Sought) -> str | None:
    """The cursor of the next page."""
    return None if found.next is None else ":".join(map(str, (found.upto, *found.next)))


def read_place(cursor: str) -> tuple[int | None, tuple[int, int] | None]:
    """The position at which the search began, and time and position of the last event seen. Raises WrongCursor."""
    if not cursor:
        return None, None
    if _PLACE.fullmatch(cursor) is None:
        raise WrongCursor(cursor)
    upto, occurred, position = map(int, cursor.split(":"))
    return upto, (occurred, position)


@router.get("/events/{position}", responses=says(EventSeen, "The event"))
async def event(
    position: Annotated[int, Path(ge=1, le=LAST_POSITION)], questions: QuestionsOf, caller: Calling
) -> Response:
    """Get an event by its position in the journal. Every account can read it."""
    return answered(_event(await questions.stored(position)))


def _event(event: StoredEvent) -> dict[str, Any]:
    raw = msgspec.Raw(event.payload.encode())
    return {"position": event.position, "accepted": str(event.accepted), "event": raw}
