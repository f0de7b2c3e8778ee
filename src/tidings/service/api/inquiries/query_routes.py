"""/v1/queries: searches that run in the background, how far they have come, and what they found."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.schema import Instant
from tidings.service.api.inquiries.inquiry_routes import QuestionsOf, refuses
from tidings.service.api.inquiries.inquiry_shapes import QueriesSeen, QueryEventsSeen, QuerySeen
from tidings.service.api.requests import V1, After, Calling, Limit, answered, page, part_of, read_cursor
from tidings.service.api.shapes import says, says_nothing
from tidings.service.door.guarded_route import GuardedRoute
from tidings.service.workers import query_files

router = APIRouter(prefix=V1, tags=["inquiries"], route_class=GuardedRoute)


@router.get("/queries", responses=says(QueriesSeen, "A page of queries"))
async def queries(
    request: Request, caller: Calling, questions: QuestionsOf, after: After = "", limit: Limit = 100
) -> Response:
    """List your queries of the last day, oldest first."""
    some, next = part_of(await questions.queries(caller.owner), after, limit)
    return page(request, [_query(one) for one in some], next)


@router.get("/queries/{id}", responses=says(QuerySeen, "The query"))
async def query(id: str, caller: Calling, questions: QuestionsOf) -> Response:
    """Get the state of a query and how far it has come."""
    return answered(_query(await questions.query(caller.owner, id)))


@router.get(
    "/queries/{id}/events",
    responses={**says(QueryEventsSeen, "A page of events"), **refuses(409, "The query is not finished")},
)
async def query_events(
    id: str, request: Request, caller: Calling, questions: QuestionsOf, after: After = "", limit: Limit = 100
) -> Response:
    """List the events that a finished query found, in journal order."""
    lines, next = await questions.query_events(caller.owner, id, read_cursor(after), limit)
    return page(request, [msgspec.Raw(line) for line in lines], None if next is None else str(next))


@router.delete("/queries/{id}", status_code=204, responses=says_nothing("Deleted"))
async def remove_query(id: str, caller: Calling, questions: QuestionsOf) -> Response:
    """Stop a query if it still runs, and delete its results."""
    await questions.remove_query(caller.owner, id)
    return Response(status_code=204)


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
