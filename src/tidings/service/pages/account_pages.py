"""/pages/account: who you are, your tokens and sessions, your password, and deleting the account."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.errors import TidingsError
from tidings.service.actions.account_errors import IllegalPassword, WrongPassword
from tidings.service.actions.accounts import token_id
from tidings.service.actions.times import WrongTime, read_future_time
from tidings.service.api.problems import status_of
from tidings.service.api.requests import SESSION, accounts_of, address_of
from tidings.service.pages.forms.form import Form, read_form
from tidings.service.pages.forms.waiting_form import typed
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.render import render
from tidings.service.pages.visitors import HOME, begin_session, gateway_of, member
from tidings.settings import SCOPES
from tidings.store.pages import owned

router = APIRouter(route_class=PageRoute, include_in_schema=False)
ACCOUNT = "/pages/account"
_LONGEST_NAME = 200
_WEBHOOKS = 20  # on one page
_DONE = {"removed": "Token removed.", "password": "Password changed. All other sessions and tokens have ended."}


@router.get(ACCOUNT)
async def account(request: Request, done: str = "", webhooks: str = "") -> Response:
    form = typed(request, f"{ACCOUNT}/tokens")
    return await _page(request, form, done=_DONE.get(done, ""), after=webhooks[:_LONGEST_NAME].replace("\0", ""))


@router.post(f"{ACCOUNT}/tokens")
async def make_token(request: Request) -> Response:
    """For programs. The password is asked for once more: a session alone must not outlive itself."""
    caller = member(request)
    form = await read_form(request)
    name = form.one("name")
    if len(name) > _LONGEST_NAME or not name.isprintable():
        return await _page(
            request, form, {"name": f"a name has at most {_LONGEST_NAME} printable characters"}, status=422
        )
    if caller.scopes and not form.filled("scope"):
        return await _page(request, form, {"scope": "choose at least one"}, status=422)
    try:
        expires = read_future_time("expires", form.one("expires")) if form.one("expires") else None
        secret, _ = await accounts_of(request).log_in(
            caller.owner,
            form.exactly("password"),
            address_of(request),
            name,
            frozenset(form.filled("scope")),
            expires,
        )
    except TidingsError as error:
        places: dict[type[TidingsError], str] = {WrongPassword: "token_password", WrongTime: "expires"}
        return await _page(request, form, {places.get(type(error), "token"): _said(error)}, status=status_of(error))
    return await _page(request, secret=secret)


@router.post(f"{ACCOUNT}/tokens/{{id}}/remove")
async def remove_token(id: str, request: Request) -> Response:
    """Raises NoSuchToken, also for another's."""
    caller = member(request)
    await read_form(request)
    await accounts_of(request).remove_token(caller, id)
    return RedirectResponse(f"{ACCOUNT}?done=removed", 303)


@router.post(f"{ACCOUNT}/password")
async def change_password(request: Request) -> Response:
    """All other sessions and tokens end, and this session is changed for a new one."""
    caller = member(request)
    form = await read_form(request)
    new = form.exactly("new")
    if new != form.exactly("again"):
        return await _page(request, form, {"again": "the two passwords differ"}, status=422)
    accounts = accounts_of(request)
    try:
        await accounts.change_password(caller, form.exactly("old"), new, address_of(request))
    except TidingsError as error:
        places: dict[type[TidingsError], str] = {WrongPassword: "old", IllegalPassword: "new"}
        return await _page(request, form, {places.get(type(error), "old"): _said(error)}, status=status_of(error))
    answer = RedirectResponse(f"{ACCOUNT}?done=password", 303)
    await begin_session(request, answer, await accounts.account(caller.owner))
    return answer


@router.post(f"{ACCOUNT}/delete")
async def delete(request: Request) -> Response:
    caller = member(request)
    form = await read_form(request)
    try:
        await accounts_of(request).delete(caller, form.exactly("password"), address_of(request))
    except TidingsError as error:
        status = 422 if isinstance(error, WrongPassword) else status_of(error)  # 401 would mean: log in
        return await _page(request, form, {"delete_password": _said(error)}, status=status)
    answer = RedirectResponse(f"{HOME}?done=deleted", 303)
    answer.delete_cookie(SESSION, path="/")
    return answer


def _said(error: TidingsError) -> str:
    """In the words of the page: it knows the account, and the field is above."""
    match error:
        case WrongPassword():
            return "this is not your current password"
        case WrongTime():
            return f"this {error.what}"
    return str(error)


async def _page(
    request: Request,
    form: Form | None = None,
    errors: dict[str, str] | None = None,
    secret: str = "",
    done: str = "",
    after: str = "",
    status: int = 200,
) -> Response:
    caller, gateway, moment = member(request), gateway_of(request), gateway_of(request).store.clock.now()
    signed = await gateway.read(owned.signed, gateway.store, caller.owner, after, _WEBHOOKS + 1)
    shown = signed[:_WEBHOOKS]
    channels = await gateway.read(gateway.store.channels_of, caller.owner, [one.id for one in shown])
    tokens = await accounts_of(request).tokens(caller)
    found = await accounts_of(request).account(caller.owner)
    dropped = await gateway.read(gateway.store.dropped_of, caller.owner)
    return render(
        request,
        "account.html",
        status,
        account=found,
        dropped=dropped,
        has_password=bool(found.password),
        tokens=[(token_id(token), token, token.digest == caller.digest) for token in reversed(tokens)],
        all_scopes=[scope for scope in SCOPES if scope in found.scopes],
        webhooks=[
            (one, channels[one.id], channels[one.id].old_secret_until(moment)) for one in shown if one.id in channels
        ],
        more_webhooks=urlencode({"webhooks": shown[-1].id}) if len(signed) > _WEBHOOKS else "",
        server_name="" if gateway.network is None else gateway.network.name,
        subscriptions=await gateway.read(gateway.store.count_subscriptions, caller.owner),
        may_subscribe="subscribe" in caller.scopes,
        form=form or Form([]),
        errors=errors or {},
        secret=secret,
        done=done,
    )
