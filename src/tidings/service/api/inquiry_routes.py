"""Questions about filters and stored events: /v1/filters/explain, /v1/filters/test, /v1/events and /v1/queries."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Depends, Header, Path, Query, Request
from msgspec import UNSET
from starlette.responses import Response

from tidings.schema import Instant
from tidings.schema.moments import WHEN
from tidings.service.actions.questions import PAGE, EventAsked, Questions, SearchAsked
from tidings.service.api.inquiry_shapes import (
    LAST_POSITION,
    EventSeen,
    EventsSeen,
    EventToExplain,
    ExplanationSeen,
    FilterToTest,
    QueriesSeen,
    QueryAsked,
    QueryEventsSeen,
    QuerySeen,
    TestSeen,
)
from tidings.service.api.problems import PROBLEM
from tidings.service.api.requests import V1, After, Calling, GatewayOf, Limit, answered, page, part_of, read_cursor
from tidings.service.api.shapes import WrongBody, read_body, says, says_nothing, takes
from tidings.service.api.times_asked import moment
from tidings.service.door.guarded_route import GuardedRoute
from tidings.service.workers import query_files
from tidings.service.workers.questions import StoredEvent

router = APIRouter(prefix=V1, tags=["inquiries"], route_class=GuardedRoute)


async def questions_of(request: Request) -> Questions:
    found: Questions = request.app.state.questions
    return found


def _problem(status: int, told: str) -> dict[int | str, dict[str, Any]]:
    """For what the OpenAPI document would not expect of such a route."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {status: {"description": told, "content": {PROBLEM: {"schema": schema}}}}


QuestionsOf = Annotated[Questions, Depends(questions_of)]
FilterText = Annotated[str, Query(description="Only events that match; without it, all")]
Since = Annotated[str, Query(max_length=100, description=f"Accepted at or after it: {WHEN}")]
Until = Annotated[str, Query(max_length=100, description="Accepted before it")]
PageSize = Annotated[int | None, Query(ge=1, le=1000, description=f"How many at most; {PAGE} unless said")]
Order = Annotated[Literal["oldest", "newest"], Query(description="Which come first")]
Prefer = Annotated[str, Header(alias="Prefer", description="`respond-async`: run as a query in the background")]


@router.post(
    "/filters/explain",
    openapi_extra=takes(EventToExplain),
    responses={**says(ExplanationSeen, "Why, or why not"), **_problem(404, "There is no such event")},
)
async def explain(request: Request, caller: Calling, questions: QuestionsOf) -> Response:
    """Why an event matches a filter, or why not: each predicate, true or false, with the event's values."""
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


@router.post("/filters/test", openapi_extra=takes(FilterToTest), responses=says(TestSeen, "What it would have matched"))
async def test(request: Request, gateway: GatewayOf, caller: Calling, questions: QuestionsOf) -> Response:
    """Try a filter before it is left standing: what is odd about it, and what of the stored events it matches.

    Of a long period only the newest events are looked at; `of_newest` says how many positions of the journal.
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


@router.get("/events", responses={**says(EventsSeen, "A page"), **says(QueryAsked, "It is a job: see Location", 202)})
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
    """The stored events that match a filter. All accounts may read them.

    One answer goes through some 200,000 events at most, so a page may be short, even empty; `next` is null when there
    is no more. A filter over more than a million positions, asked without `limit` and `after`, becomes a job.
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


@router.get("/events/{position}", responses=says(EventSeen, "It is there"))
async def event(
    position: Annotated[int, Path(ge=1, le=LAST_POSITION)], questions: QuestionsOf, caller: Calling
) -> Response:
    """One stored event. All accounts may read it."""
    return answered(_event(await questions.stored(position)))


@router.get("/queries", responses=says(QueriesSeen, "A page of those that are kept, by age"))
async def queries(
    request: Request, caller: Calling, questions: QuestionsOf, after: After = "", limit: Limit = 100
) -> Response:
    """Your large queries of the last day."""
    some, next = part_of(await questions.queries(caller.owner), after, limit)
    return page(request, [_query(one) for one in some], next)


@router.get("/queries/{id}", responses=says(QuerySeen, "How far it is"))
async def query(id: str, caller: Calling, questions: QuestionsOf) -> Response:
    """One of your large queries."""
    return answered(_query(await questions.query(caller.owner, id)))


@router.get(
    "/queries/{id}/events",
    responses={**says(QueryEventsSeen, "A page of what it found"), **_problem(409, "It is not done")},
)
async def query_events(
    id: str, request: Request, caller: Calling, questions: QuestionsOf, after: After = "", limit: Limit = 100
) -> Response:
    """What a query found, in the order of the journal, once it is done."""
    lines, next = await questions.query_events(caller.owner, id, read_cursor(after), limit)
    return page(request, [msgspec.Raw(line) for line in lines], None if next is None else str(next))


@router.delete("/queries/{id}", status_code=204, responses=says_nothing("It is gone"))
async def remove_query(id: str, caller: Calling, questions: QuestionsOf) -> Response:
    """End one of your queries where it runs, and forget what it found."""
    await questions.remove_query(caller.owner, id)
    return Response(status_code=204)


def _event(event: StoredEvent) -> dict[str, Any]:
    raw = msgspec.Raw(event.payload.encode())
    return {"position": event.position, "accepted": str(event.accepted), "event": raw}


def _query(query: query_files.Query) -> dict[str, Any]:
    return {
        "id": query.id,
        "state": query.state,
        "filter": query.filter,
        "after": query.after,
        "upto": query.upto,
        "matched": query.matched,
        "reached": query.reached,
        "complete": query.complete,
        "unreadable": query.unreadable,
        "problem": query.problem or None,
        "asked": str(Instant(query.asked)),
        "ended": None if query.ended is None else str(Instant(query.ended)),
    }
