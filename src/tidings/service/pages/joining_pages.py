"""/pages/register, /pages/login, /pages/logout."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.errors import TidingsError
from tidings.service.accounts import SHORTEST_PASSWORD, Accounts, IllegalPassword, IllegalUsername, WrongPassword
from tidings.service.callers import UnknownToken, digest_of
from tidings.service.pages.form import Form, read_form
from tidings.service.pages.kept_form import carried_form
from tidings.service.pages.login_page import login_page
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.refilling import kept_forms_of
from tidings.service.pages.rendering import render
from tidings.service.pages.visiting import (
    HOME,
    begin_session,
    end_session,
    gateway_of,
    has_ended,
    safe_next,
    visitor,
)
from tidings.service.problems import status_of
from tidings.service.requests import SESSION
from tidings.service.throttling import Throttle
from tidings.store.errors import AccountExists

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_FIRST_PAGE = "/pages/subscriptions/new"


def accounts_of(request: Request) -> Accounts:
    accounts: Accounts = request.app.state.accounts
    return accounts


def address_of(request: Request) -> str:
    return request.client.host if request.client else ""


@router.get("/pages/register")
async def registering(request: Request) -> Response:
    if visitor(request).username:
        return RedirectResponse(HOME, 303)
    return _register_page(request, "", {})


@router.post("/pages/register")
async def register(request: Request) -> Response:
    form = await read_form(request)
    username, password = form.one("username"), form.exactly("password")
    if password != form.exactly("again"):
        return _register_page(request, username, {"again": "the two passwords differ"}, 422)
    gateway = gateway_of(request)
    try:
        _, token = await accounts_of(request).register(username, password, address_of(request))
    except (IllegalUsername, AccountExists) as error:
        return _register_page(request, username, {"username": str(error)}, status_of(error))
    except IllegalPassword as error:
        return _register_page(request, username, {"password": str(error)}, status_of(error))
    except TidingsError as error:
        return _register_page(request, username, {"": str(error)}, status_of(error))
    account = await gateway.read(gateway.store.account, username)
    assert account is not None
    await gateway.write(gateway.store.remove_token, token.digest)  # a browser needs none that lasts for ever
    answer = RedirectResponse(_FIRST_PAGE, 303)
    await begin_session(request, answer, account)
    return answer


@router.get("/pages/login")
async def logging_in(request: Request, next: str = HOME, ended: str = "") -> Response:
    if visitor(request).username:
        return RedirectResponse(safe_next(next), 303)
    return login_page(request, next, ended=bool(ended) or has_ended(request))


@router.post("/pages/login")
async def log_in(request: Request) -> Response:
    """By name and password, or by a token, as the first operator has one and no password."""
    form = await read_form(request)
    next, kept = form.one("next"), carried_form(form)
    answer = RedirectResponse(safe_next(next), 303)
    try:
        if form.one("token"):
            session = await _by_token(request, form, answer)
        else:
            account = await accounts_of(request).prove(
                form.one("username"), form.exactly("password"), address_of(request)
            )
            session = await begin_session(request, answer, account)
    except UnknownToken as error:
        return login_page(request, next, errors={"token": str(error)}, kept=kept, status=401)
    except TidingsError as error:
        errors = {"password" if isinstance(error, WrongPassword) else "": str(error)}
        return login_page(request, next, form.one("username"), errors, kept=kept, status=status_of(error))
    if kept is not None:
        kept_forms_of(request).keep(session, kept)
    return answer


@router.post("/pages/logout")
async def log_out(request: Request) -> Response:
    if has_ended(request):
        return RedirectResponse(HOME, 303)
    await read_form(request)
    await end_session(request)
    answer = RedirectResponse(HOME, 303)
    answer.delete_cookie(SESSION, path="/")
    return answer


async def _by_token(request: Request, form: Form, answer: Response) -> bytes:
    """A token cannot be guessed, but asking costs a read: so many a second from one address."""
    gateway = gateway_of(request)
    state = request.app.state
    if not hasattr(state, "token_log_ins"):
        state.token_log_ins = Throttle(2.0, burst=20)
    state.token_log_ins.take(address_of(request))
    token = await gateway.read(gateway.store.token, digest_of(form.one("token")))
    account = None if token is None else await gateway.read(gateway.store.account, token.username)
    if token is None or account is None:
        raise UnknownToken
    return await begin_session(request, answer, account, token)


def _register_page(request: Request, username: str, errors: dict[str, str], status: int = 200) -> Response:
    return render(
        request, "register.html", status, username=username, errors=errors, shortest=SHORTEST_PASSWORD, wide=False
    )
