"""/problems/{type}: what the `type` of a problem answer leads to; for people as a page, for programs as JSON."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.errors import Explained, ServiceError
from tidings.service.api import problems
from tidings.service.api.problem_types import TYPES, ProblemType
from tidings.service.api.requests import answered
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.render import render

router = APIRouter(route_class=PageRoute, include_in_schema=False)


class NoSuchProblemType(Explained, ServiceError):
    name: str
    template = "no problem type {name!v}; GET /problems lists them"


@router.get("/problems")
async def listed(request: Request) -> Response:
    if _is_program(request):
        return answered({"items": [_seen(kind) for kind in TYPES.values()], "next": None})
    return render(request, "problem_types.html", title="Problems", kinds=list(TYPES.values()))


@router.get("/problems/{name}")
async def one(name: str, request: Request) -> Response:
    kind = TYPES.get(name)
    if kind is None:
        if _is_program(request):
            return problems.answer(NoSuchProblemType(name))
        raise NoSuchProblemType(name)
    if _is_program(request):
        return answered(_seen(kind))
    return render(request, "problem_types.html", title=kind.title, kinds=[kind])


def _is_program(request: Request) -> bool:
    return "text/html" not in request.headers.get("accept", "")


def _seen(kind: ProblemType) -> dict[str, object]:
    seen = {"type": kind.uri, "title": kind.title, "status": kind.status}
    return seen | {"meaning": kind.meaning, "remedy": kind.remedy}
