"""/v1/subscriptions/import and …/export: many subscriptions as lines of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from tidings.service.actions.subscription_files import export_lines, read_items, read_lines
from tidings.service.actions.subscription_import import MOST_LINES, import_lines
from tidings.service.actions.subscription_lines import LineResult, SubscriptionLine
from tidings.service.api import problems
from tidings.service.api.requests import V1, Calling, GatewayOf, answered
from tidings.service.api.shapes import (
    JSON,
    Shape,
    WrongContentType,
    check_unpacked,
    media_type,
    says,
    schema_of,
)
from tidings.service.door.idempotency import IdempotencyKey, IdempotentRoute
from tidings.service.door.middleware import STREAMED

router = APIRouter(prefix=V1, tags=["subscriptions"], route_class=IdempotentRoute)

LINES = STREAMED[0]


class Why(Shape, frozen=True):
    type: str
    detail: str


class ImportedLine(Shape, frozen=True):
    """`line` also numbers the items of an array, from 1. `duplicate`: you have this subscription already."""

    line: int
    status: Literal["accepted", "duplicate", "refused"]
    id: str | None
    position: int | msgspec.UnsetType = msgspec.UNSET
    problem: Why | msgspec.UnsetType = msgspec.UNSET


class Imported(Shape, frozen=True):
    accepted: int
    duplicates: int
    refused: int
    results: list[ImportedLine]


def _body() -> dict[str, Any]:
    lines = {"schema": {"type": "string", "description": "One JSON object per line"}}
    many = {"schema": {"type": "array", "items": schema_of(SubscriptionLine), "maxItems": MOST_LINES}}
    content = {JSON[0]: many, **dict.fromkeys(STREAMED, lines)}
    return {"requestBody": {"content": content, "required": True, "description": "Subscriptions, as export gives them"}}


Check = Annotated[bool, Query(description="Store nothing; say what would be done")]
_ANSWERS = (
    says(Imported, "What would be done", 200)
    | says(Imported, "None was refused", 202)
    | says(Imported, "Some were refused", 207)
)


@router.post("/subscriptions/import", status_code=202, openapi_extra=_body(), responses=_ANSWERS)
async def import_(
    request: Request, gateway: GatewayOf, caller: Calling, check: Check = False, key: IdempotencyKey = None
) -> Response:
    """Import up to 10,000 subscriptions, as lines or as an array. The answer has a result for each: 202 if none was
    refused, 207 if some were, 422 if all were. A refused one does not hold up the others. With `check` nothing is
    stored, and the answer is 200.

    An `id` that is not yours becomes a new one that follows from it, so importing a file twice makes everything once. A
    channel must go where one of your active channels goes already; it signs with the same secret."""
    kind = media_type(request)
    check_unpacked(request, (*JSON, *STREAMED))
    if kind not in (*JSON, *STREAMED):
        raise WrongContentType(request.headers.get("content-type", ""), (*JSON, *STREAMED))
    lines = await gateway.read(read_items if kind in JSON else read_lines, await request.body())
    return _answered(await import_lines(gateway, caller.owner, lines, key, check), check)


@router.get(
    "/subscriptions/export",
    responses={200: {"description": "One JSON object per line", "content": {LINES: {"schema": {"type": "string"}}}}},
    response_class=Response,
)
async def export(gateway: GatewayOf, caller: Calling) -> Response:
    """Export your subscriptions as lines of JSON, ordered by id; `POST /v1/subscriptions/import` reads them. Webhook
    secrets are not included, and an Apprise URL only by scheme and host."""
    return StreamingResponse(export_lines(gateway, caller.owner), media_type=LINES)


def _answered(found: Sequence[LineResult], check: bool) -> Response:
    counts = {
        name: sum(one.status == status for one in found)
        for name, status in (("accepted", "accepted"), ("duplicates", "duplicate"), ("refused", "refused"))
    }
    body = {**counts, "results": [_seen(one) for one in found]}
    if check:
        return answered(body)
    if counts["refused"] and counts["refused"] == len(found):
        told = f"no subscription of this request was accepted ({len(found):,} refused); see `results`"
        return problems.typed_answer("nothing-accepted", told, **body)
    return answered(body, 207 if counts["refused"] else 202)


def _seen(one: LineResult) -> dict[str, Any]:
    made: dict[str, Any] = {"line": one.line, "status": one.status, "id": one.id}
    if one.position is not None:
        made["position"] = one.position
    if one.error is not None:
        problem = problems.problem_of(one.error)
        made["problem"] = {"type": problem["type"], "detail": problem["detail"]}
    return made
