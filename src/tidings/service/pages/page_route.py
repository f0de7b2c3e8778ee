"""The class of every page's route: what goes wrong becomes a page too, and who must log in is led there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from tidings.errors import ServiceError, TidingsError
from tidings.service import problems
from tidings.service.pages.kept_form import refused_form
from tidings.service.pages.login_page import login_page
from tidings.service.pages.noticed import count_unread
from tidings.service.pages.refilling import refilled
from tidings.service.pages.rendering import render
from tidings.service.pages.visiting import LogInFirst, has_ended

log = logging.getLogger("tidings.service")


class NoSuchPage(ServiceError):
    """Or none for this visitor, who is not told what there would be for others."""

    status = 404

    def __str__(self) -> str:
        return "there is no such page; the links above lead to all there are"


class PageRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def shown(request: Request) -> Response:
            try:
                await count_unread(request)
                return refilled(request, await handle(request))
            except LogInFirst as first:
                return await _log_in_first(request, first.args[0])
            except RequestValidationError:
                return render(request, "problem.html", 404, title="Not found", told="there is nothing at this address")
            except HTTPException as refused:
                told = str(refused.detail)
                return render(request, "problem.html", refused.status_code, title="That did not work", told=told)
            except TidingsError as error:
                return problem_page(request, error)

        return shown


async def _log_in_first(request: Request, page: str) -> Response:
    """To the log-in; a form that was sent takes what was typed along."""
    kept = await refused_form(request, page)
    if kept is not None:
        return login_page(request, kept.page, kept=kept, ended=True, status=401)
    query = {"next": page} | ({"ended": "1"} if has_ended(request) else {})
    return RedirectResponse(f"/pages/login?{urlencode(query)}", 303)


def problem_page(request: Request, error: TidingsError) -> Response:
    problem = problems.problem_of(error)
    status = int(problem["status"])
    if status >= 500:
        log.warning("%s %s: %s", request.method, request.url.path, error)
    title = {404: "Not found", 403: "Not allowed"}.get(status, str(problem["title"]))
    answer = render(request, "problem.html", status, title=title, told=problem["detail"])
    for name, value in problems.headers_of(error).items():
        answer.headers[name] = value
    return answer
