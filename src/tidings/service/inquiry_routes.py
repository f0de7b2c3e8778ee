"""What may be asked of filters and of stored events: /explain, /subscriptions/test, /events and /queries.

Questions that need the matchers go to processes beside the service (`inquiries`), large ones to a job (`jobs`).
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Depends, Header, Path, Query, Request
from msgspec import UNSET
from starlette.responses import Response

from tidings.schema import Instant
from tidings.schema.moments import WHEN
from tidings.service import query_files, questions
from tidings.service.bodies import WrongBody, read_body, says, says_nothing, takes
from tidings.service.callers import Caller
from tidings.service.gateway import Gateway
from tidings.service.inquiries import Inquiries
from tidings.service.inquiry_shapes import (
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
from tidings.service.jobs import Jobs
from tidings.service.moments import moment
from tidings.service.problems import PROBLEM
from tidings.service.questions import StoredEvent
from tidings.service.requests import After, Calling, GatewayOf, Limit, Subscriber, answered, read_cursor

router = APIRouter(tags=["inquiries"])

LARGE = 1_000_000  # positions; whoever asks for more of them without paging gets a job
_PAGE = 100
_NEW = "new"  # the id of an event to explain that has none; the gateway would give it one


async def inquiries_of(request: Request) -> Inquiries:
    """One for the life of the application, made when it is first needed."""
    state = request.app.state
    if not hasattr(state, "inquiries"):
        state.inquiries = Inquiries(state.gateway.store.url)
        state.closing.push_async_callback(state.inquiries.close)
    found: Inquiries = state.inquiries
    return found


async def jobs_of(request: Request) -> Jobs:
    """One for the life of the application, made when it is first needed."""
    state = request.app.state
    if not hasattr(state, "jobs"):
        gateway: Gateway = state.gateway
        settings = gateway.settings
        state.jobs = Jobs(settings.data / "queries", gateway.store.url, settings.spark_master, gateway.store.clock.now)
        state.closing.push_async_callback(asyncio.to_thread, state.jobs.close)
    found: Jobs = state.jobs
    return found


def _problem(status: int, told: str) -> dict[int | str, dict[str, Any]]:
    """For what the OpenAPI document would not expect of such a route."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {status: {"description": told, "content": {PROBLEM: {"schema": schema}}}}


InquiriesOf = Annotated[Inquiries, Depends(inquiries_of)]
JobsOf = Annotated[Jobs, Depends(jobs_of)]
FilterText = Annotated[str, Query(description="Only events that match; without it, all")]
Since = Annotated[str, Query(max_length=100, description=f"Accepted at or after it: {WHEN}")]
Until = Annotated[str, Query(max_length=100, description="Accepted before it")]
PageSize = Annotated[int | None, Query(ge=1, le=1000, description=f"How many at most; {_PAGE} unless said")]
Order = Annotated[Literal["oldest", "newest"], Query(description="Which come first")]
Prefer = Annotated[str, Header(description="`respond-async`: as a job, whose answer is 202")]


@router.post(
    "/explain",
    openapi_extra=takes(EventToExplain),
    responses={**says(ExplanationSeen, "Why, or why not"), **_problem(404, "There is no such event")},
)
async def explain(request: Request, caller: Subscriber, gateway: GatewayOf, inquiries: InquiriesOf) -> Response:
    """Why an event matches a filter, or why not: each predicate, true or false, with the event's values."""
    body = await read_body(request, EventToExplain)
    given = [member is not UNSET for member in (body.event, body.position, body.id)]
    if sum(given) != 1 or (body.source is not UNSET and body.id is UNSET):
        raise WrongBody("give exactly one of 'event', 'position' and 'id' (the last perhaps with a 'source')")
    if isinstance(body.event, dict):
        raw = {"id": _NEW, **body.event}
        most_values = gateway.settings.values_per_attribute
        return answered(await inquiries.ask(caller.owner, questions.explain, body.filter, raw, most_values))
    if isinstance(body.position, int):
        return answered(await inquiries.ask(caller.owner, questions.explain_stored, body.filter, body.position))
    source = body.source if isinstance(body.source, str) else ""
    assert isinstance(body.id, str)
    return answered(await inquiries.ask(caller.owner, questions.explain_published, body.filter, source, body.id))


@router.post(
    "/subscriptions/test", openapi_extra=takes(FilterToTest), responses=says(TestSeen, "What it would have matched")
)
async def test(request: Request, gateway: GatewayOf, caller: Subscriber, inquiries: InquiriesOf) -> Response:
    """Try a filter before it is left standing: what is odd about it, and what of the stored events it matches.

    Of a long period only the newest events are looked at; `of_newest` says how many positions of the journal.
    """
    body = await read_body(request, FilterToTest)
    end = gateway.store.clock.now()
    begin = moment("since", body.since, end)
    tried = await inquiries.ask(caller.owner, questions.test, caller.owner, body.filter, begin, end, body.limit)
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
    gateway: GatewayOf,
    caller: Calling,
    inquiries: InquiriesOf,
    jobs: JobsOf,
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
    caller.owner  # noqa: B018  raises NoToken
    start = read_cursor(after)
    asked = gateway.store.clock.now()
    begin = moment("since", since, asked) if since else None
    end = moment("until", until, asked) if until else None
    first, upto = await gateway.read(questions.scope, gateway.store, begin, end)
    wanted = "respond-async" in prefer.lower()
    if wanted or (filter and limit is None and not after and upto - first > LARGE):
        return await _job(caller, gateway, inquiries, jobs, filter, max(first, start), max(first, start, upto), wanted)
    if order == "newest":
        upto = min(upto, start - 1) if start else upto
    else:
        first = max(first, start)
    bounds = (first, upto, limit or _PAGE, order == "newest")
    found = await inquiries.ask(caller.owner, questions.search, filter, *bounds)
    return answered(
        {
            "events": [_event(event) for event in found.events],
            "next": None if found.next is None else str(found.next),
            "scanned": found.scanned,
            "unreadable": found.unreadable,
            "complete_from": await gateway.read(gateway.store.complete_from),
        }
    )


@router.get("/events/{position}", responses=says(EventSeen, "It is there"))
async def event(
    position: Annotated[int, Path(ge=1, le=LAST_POSITION)], gateway: GatewayOf, caller: Calling
) -> Response:
    """One stored event. All accounts may read it."""
    caller.owner  # noqa: B018  raises NoToken
    return answered(_event(await gateway.read(questions.stored, gateway.store, position)))


@router.get("/queries", responses=says(QueriesSeen, "Those that are kept, by age"))
async def queries(gateway: GatewayOf, caller: Calling, jobs: JobsOf) -> Response:
    """Your large queries of the last day."""
    found = await gateway.read(jobs.queries, caller.owner)
    return answered({"queries": [_query(one) for one in found], "next": None})


@router.get("/queries/{id}", responses=says(QuerySeen, "How far it is"))
async def query(id: str, gateway: GatewayOf, caller: Calling, jobs: JobsOf) -> Response:
    """One of your large queries."""
    return answered(_query(await gateway.read(jobs.query, caller.owner, id)))


@router.get(
    "/queries/{id}/events",
    responses={**says(QueryEventsSeen, "A page of what it found"), **_problem(409, "It is not done")},
)
async def query_events(
    id: str, gateway: GatewayOf, caller: Calling, jobs: JobsOf, after: After = "", limit: Limit = 100
) -> Response:
    """What a query found, in the order of the journal, once it is done."""
    lines, next = await gateway.read(jobs.page, caller.owner, id, read_cursor(after), limit)
    return answered({"events": [msgspec.Raw(line) for line in lines], "next": None if next is None else str(next)})


@router.delete("/queries/{id}", status_code=204, responses=says_nothing("It is gone"))
async def remove_query(id: str, gateway: GatewayOf, caller: Calling, jobs: JobsOf) -> Response:
    """End one of your queries where it runs, and forget what it found."""
    await gateway.read(jobs.remove, caller.owner, id)
    return Response(status_code=204)


async def _job(
    caller: Caller, gateway: Gateway, inquiries: Inquiries, jobs: Jobs, filter: str, after: int, upto: int, wanted: bool
) -> Response:
    text = await inquiries.ask(caller.owner, questions.canonical, filter or questions.EVERYTHING)
    query = await gateway.read(jobs.submit, caller.owner, text, after, upto)
    headers = {"Location": f"/queries/{query.id}"} | ({"Preference-Applied": "respond-async"} if wanted else {})
    return answered({"query": query.id, "state": query.state}, 202, headers)


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
