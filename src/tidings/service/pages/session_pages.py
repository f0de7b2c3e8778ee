"""/pages/register, /pages/login, /pages/logout."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.errors import TidingsError
from tidings.service.actions.account_errors import SHORTEST_PASSWORD, IllegalPassword, IllegalUsername, WrongPassword
from tidings.service.api.problems import status_of
from tidings.service.api.requests import SESSION, accounts_of, address_of
from tidings.service.door.callers import UnknownToken
from tidings.service.pages.forms.csrf import StaleForm
from tidings.service.pages.forms.form import Form, read_form, read_unproved
from tidings.service.pages.forms.kept_form import KeptForm, carried_form
from tidings.service.pages.forms.waiting_form import keep_for_session
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.login_page import login_page
from tidings.service.pages.parts.render import render
from tidings.service.pages.visitors import (
    HOME,
    begin_session,
    end_session,
    has_ended,
    safe_next,
    visitor,
)
from tidings.store.accounts.accounts import Token
from tidings.store.errors import AccountExists

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_FIRST_PAGE = "/pages/subscriptions/new"
ASKED = "asked"  # the button that leads from one of the two pages to the other
_WAITED = "this page was open for too long, so nothing was sent; send it again"


@router.get("/pages/register")
async def registering(request: Request, next: str = HOME) -> Response:
    if visitor(request).username:
        return RedirectResponse(safe_next(next), 303)
    return _register_page(request, next)


@router.post("/pages/register")
async def register(request: Request) -> Response:
    """A visitor who comes from the log-in, `asked`, brings along the next page and what was typed there."""
    form, is_stale = await _read(request)
    next, kept = form.one("next"), carried_form(form)
    if is_stale and visitor(request).username:
        return RedirectResponse(safe_next(next), 303)
    username, password = form.one("username"), form.exactly("password")

    def wrong(field: str, told: str, status: int) -> Response:
        return _register_page(request, next, username, {field: told}, kept, status)

    if form.has(ASKED):
        return _register_page(request, next, kept=kept)
    if is_stale:
        return wrong("", _WAITED, status_of(StaleForm))
    if password != form.exactly("again"):
        return wrong("again", "the two passwords differ", 422)
    try:
        account = await accounts_of(request).add(username, password, address_of(request))
    except (IllegalUsername, AccountExists) as error:
        return wrong("username", str(error), status_of(error))
    except IllegalPassword as error:
        return wrong("password", str(error), status_of(error))
    except TidingsError as error:
        return wrong("", str(error), status_of(error))
    place = safe_next(next)
    answer = RedirectResponse(_FIRST_PAGE if place == HOME else place, 303)
    _give_back(request, answer, await begin_session(request, answer, account), kept)
    return answer


@router.get("/pages/login")
async def logging_in(request: Request, next: str = HOME, ended: str = "") -> Response:
    if visitor(request).username:
        return RedirectResponse(safe_next(next), 303)
    return login_page(request, next, ended=bool(ended) or has_ended(request))


@router.post("/pages/login")
async def log_in(request: Request) -> Response:
    """By name and password, or by a token, as the first operator has one and no password."""
    form, is_stale = await _read(request)
    next, kept = form.one("next"), carried_form(form)
    answer = RedirectResponse(safe_next(next), 303)
    if is_stale and visitor(request).username:  # they did so in another tab
        return answer
    if form.has(ASKED):
        return login_page(request, next, kept=kept)
    if is_stale:
        return login_page(request, next, form.one("username"), {"": _WAITED}, kept=kept, status=status_of(StaleForm))
    try:
        accounts, address = accounts_of(request), address_of(request)
        if form.one("token"):
            session = await begin_session(request, answer, *await accounts.show_token(form.one("token"), address))
        else:
            account = await accounts.prove(form.one("username"), form.exactly("password"), address)
            session = await begin_session(request, answer, account)
    except UnknownToken as error:
        return login_page(request, next, errors={"token": str(error)}, kept=kept, status=401)
    except TidingsError as error:
        errors = {"password" if isinstance(error, WrongPassword) else "": str(error)}
        return login_page(request, next, form.one("username"), errors, kept=kept, status=status_of(error))
    _give_back(request, answer, session, kept)
    return answer


@router.post("/pages/logout")
async def log_out(request: Request) -> Response:
    username = visitor(request).username
    answer = RedirectResponse(HOME, 303)
    if SESSION in request.cookies:  # another site's form comes without it, and must not take it away
        answer.delete_cookie(SESSION, path="/")
    if not username:  # they are out already
        return answer
    try:
        await read_form(request)
    except StaleForm as stale:
        if stale.args[0] != username:
            raise
        # Their own page of ours, older than their session, asks for what they can only have meant.
    await end_session(request)
    return answer


async def _read(request: Request) -> tuple[Form, bool]:
    """A form of a guest's page, and whether the page is older than the visitor's session or cookie, so that only who
    visits may be seen from it. Raises as `read_form` does."""
    try:
        return await read_form(request), False
    except StaleForm as stale:
        if stale.is_others:
            raise
        return await read_unproved(request), True


def _give_back(request: Request, answer: Response, session: Token, kept: KeptForm | None) -> None:
    """What was typed to its owner; anybody else begins at home."""
    if kept is not None and kept.is_for(session.username):
        keep_for_session(request, session.digest, kept)
    elif kept is not None:
        answer.headers["location"] = HOME


def _register_page(
    request: Request,
    next: str,
    username: str = "",
    errors: Mapping[str, str] | None = None,
    kept: KeptForm | None = None,
    status: int = 200,
) -> Response:
    shown = {"next": safe_next(next), "username": username, "errors": errors or {}, "kept": kept}
    return render(request, "register.html", status, **shown, shortest=SHORTEST_PASSWORD)
