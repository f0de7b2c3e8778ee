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

from tidings.errors import Explained, ServiceError, TidingsError
from tidings.logs import REQUEST_ID
from tidings.service.api import problems
from tidings.service.door.guarded_route import route_need
from tidings.service.door.request_id import logged_path
from tidings.service.door.scope_check import allow
from tidings.service.door.scopes import NOTHING
from tidings.service.pages.forms.csrf import PROOF, StaleForm, owner_of
from tidings.service.pages.forms.form import read_unproved
from tidings.service.pages.forms.kept_form import refused_form
from tidings.service.pages.forms.waiting_form import keep, take
from tidings.service.pages.parts.login_page import login_page
from tidings.service.pages.parts.render import render
from tidings.service.pages.parts.unread_notices import count_unread
from tidings.service.pages.visitors import LogInFirst, back_to, has_ended, member, visitor

log = logging.getLogger("tidings.service")
_TITLES = {404: "Not found", 403: "Not allowed", 500: "Something went wrong", 503: "Temporarily unavailable"}


class NoSuchPage(Explained, ServiceError):
    """Or none for this visitor, who is not told what there would be for others."""

    template = "there is no page at this address"


def _check_need(request: Request, need: str) -> None:
    """Raises LogInFirst, OutOfScope, or NoSuchPage where only an operator may know of the page."""
    if need == NOTHING or need in visitor(request).scopes:  # guests have some
        return
    caller = member(request)
    if need == "operate":
        raise NoSuchPage
    allow(caller, need)


class PageRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle, need = super().get_route_handler(), route_need(self)

        async def shown(request: Request) -> Response:
            try:
                _check_need(request, need)
                await count_unread(request)
                take(request)
                return await handle(request)
            except LogInFirst as first:
                return await _log_in_first(request, first.args[0])
            except RequestValidationError:
                return problem_page(request, NoSuchPage())
            except HTTPException as refused:
                told = str(refused.detail)
                said = {"title": "Request failed", "told": told, "request_id": ""}
                return render(request, "problem.html", refused.status_code, **said)
            except StaleForm as stale:
                return await _come_back(request, stale)
            except TidingsError as error:
                return problem_page(request, await _others_form(request) or error)

        return shown


async def _log_in_first(request: Request, page: str) -> Response:
    """To the log-in; a form that was sent takes what was typed along."""
    kept = await refused_form(request, page)
    if kept is not None:
        return login_page(request, kept.page, kept=kept, ended=True, status=401)
    query = {"next": page} | ({"ended": "1"} if has_ended(request) else {})
    return RedirectResponse(f"/pages/login?{urlencode(query)}", 303)


async def _come_back(request: Request, stale: StaleForm) -> Response:
    """To the form's page, filled in as it was, where it is the visitor's own and no script asks."""
    is_sent = not stale.is_others and "text/html" in request.headers.get("accept", "")
    kept = await refused_form(request, back_to(request)) if is_sent else None
    if kept is None:
        return problem_page(request, stale)
    answer = RedirectResponse(kept.page, 303)
    keep(request, answer, kept)
    return answer


async def _others_form(request: Request) -> StaleForm | None:
    """What is another's may have been refused before its form was read: that somebody else visits now says more."""
    if request.method != "POST":
        return None
    try:
        owner, username = owner_of((await read_unproved(request)).one(PROOF)), visitor(request).username
    except TidingsError:
        return None
    stale = StaleForm(owner or "", username)
    return stale if username and stale.is_others else None


def problem_page(request: Request, error: TidingsError) -> Response:
    problem = problems.problem_of(error)
    status = int(problem["status"])
    if status >= 500:
        log.warning("%s %s: %s", request.method, logged_path(request.scope), error)
    title = _TITLES.get(status, str(problem["title"])) if not isinstance(error, StaleForm) else "Not sent"
    answer = render(
        request,
        "problem.html",
        status,
        title=title,
        told=problem["detail"],
        request_id=REQUEST_ID.get() if status >= 500 else "",
    )
    for name, value in problems.headers_of(error).items():
        answer.headers[name] = value
    return answer
