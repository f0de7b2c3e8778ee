"""Who visits, and the sessions by which visitors are known.

A visitor is known by the token of kind 'session' in the cookie `tidings_session`. A guest has no session; a random
cookie takes its place. Both are secrets, under which `csrf` makes the proofs that forms carry.
"""

from __future__ import annotations

import secrets
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from tidings.errors import Explained, ServiceError, TidingsError
from tidings.service.actions.accounts import SESSION_DAYS
from tidings.service.api.requests import SESSION, accounts_of
from tidings.service.door.callers import Caller, UnknownToken
from tidings.service.door.scope_check import CALLER
from tidings.service.gateway import Gateway
from tidings.store.accounts.accounts import Account, Token

GUEST = "tidings_guest"  # the cookie of a visitor without a session
HOME = "/"
_HAVE_PAGES = frozenset({"edit", "channel", "deliveries", "why"})  # of one subscription


class LogInFirst(Explained, ServiceError):
    """Where to go afterwards."""

    next: str
    template = "log in first"


def gateway_of(request: Request) -> Gateway:
    gateway: Gateway = request.app.state.gateway
    return gateway


def visitor(request: Request) -> Caller:
    """The owner of the session, or the guest; raises ForeignOrigin. After a session has ended, it is the guest."""
    found: Caller | TidingsError = request.scope[CALLER]
    if isinstance(found, UnknownToken):
        return gateway_of(request).guest
    if isinstance(found, TidingsError):
        raise found
    return found


def has_ended(request: Request) -> bool:
    """Whether the visitor had a session, which is over."""
    return isinstance(request.scope[CALLER], UnknownToken)


def member(request: Request) -> Caller:
    """Somebody with an account; raises LogInFirst."""
    caller = visitor(request)
    if not caller.username:
        raise LogInFirst(back_to(request))
    return caller


def secret_of(request: Request) -> str:
    """What the proofs of this visitor's forms are made with; '' where nothing was given out yet."""
    return request.cookies.get(SESSION if visitor(request).digest else GUEST, "")


def set_cookie(request: Request, answer: Response, name: str, value: str, seconds: int | None) -> None:
    """Never readable by a script, and never sent in the clear where the service is behind TLS."""
    over_tls = request.url.scheme == "https" or gateway_of(request).settings.public_url.startswith("https:")
    answer.set_cookie(name, value, max_age=seconds, path="/", secure=over_tls, httponly=True, samesite="lax")


def ensure_secret(request: Request, answer_cookies: dict[str, str]) -> str:
    """The secret of this visitor, a new one for a guest who has none: it is left to be set as a cookie."""
    secret = secret_of(request)
    if not secret:
        secret = answer_cookies[GUEST] = secrets.token_urlsafe(24)
    return secret


async def begin_session(request: Request, answer: Response, account: Account, by: Token | None = None) -> Token:
    """A new session, never an old one, and the one that there was ends. Raises as `Accounts.begin_session`."""
    await end_session(request)
    secret, token = await accounts_of(request).begin_session(account, by)
    set_cookie(request, answer, SESSION, secret, SESSION_DAYS * 86_400)
    answer.delete_cookie(GUEST, path="/")
    return token


async def end_session(request: Request) -> None:
    """The token of the cookie, where it is a session's, works no more."""
    if shown := request.cookies.get(SESSION):
        await accounts_of(request).end_session(shown)


def safe_next(text: str) -> str:
    """An address of ours to go to, whatever somebody put into a link."""
    fine = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable() and len(text) < 2_000
    return quote(text, safe="/?&=%:,.-_~+") if fine else HOME


def back_to(request: Request) -> str:
    """A page can be requested again; the address of a form leads to the page with the form."""
    path, query = request.url.path, request.url.query
    if request.method == "GET":
        return f"{path}?{query}" if query else path
    came = urlsplit(request.headers.get("referer", ""))
    if came.netloc == request.headers.get("host") and came.path.startswith("/pages/"):
        path, query = came.path, came.query
    standing = _page_at(path)
    return f"{standing}?{query}" if query and standing == path else standing


def _page_at(path: str) -> str:
    """Some forms go to addresses that have no page: theirs is the one above."""
    if path.startswith("/pages/account/"):
        return "/pages/account"
    parts = path.split("/")  # '', 'pages', 'subscriptions', id, what is done with it
    if parts[1:3] == ["pages", "subscriptions"] and len(parts) > 4 and parts[4] not in _HAVE_PAGES:
        return "/".join(parts[:4])
    return HOME if path == "/pages/logout" else path
