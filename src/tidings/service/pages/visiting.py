"""Who visits, and how a form proves that it came from our page.

A visitor is known by the token of kind 'session' in the cookie `tidings_session`. Every form carries a proof: the HMAC
under that token, which no other site can know. A guest has no session; a random cookie takes its place.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import replace
from hashlib import sha256
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from tidings.errors import ServiceError, TidingsError
from tidings.schema import Instant
from tidings.service.accounts import MOST_TOKENS, WrongPassword
from tidings.service.callers import Caller, UnknownToken, digest_of, new_token
from tidings.service.gateway import Gateway
from tidings.service.requests import CALLER, SESSION
from tidings.store.accounts import Account, Token
from tidings.store.clock import now

GUEST = "tidings_guest"  # the cookie that stands for a session while there is none
PROOF = "proof"  # the form's field
PROOF_HEADER = "x-form-proof"  # the same where a script asks
DAYS = 7  # that a session lasts
HOME = "/"
_DAY = 86_400_000_000
_PURPOSE = b"tidings form"
_HAVE_PAGES = frozenset({"edit", "channel", "deliveries", "why"})  # of one subscription


class ForgedForm(ServiceError):
    """A form that came from no page of ours, or from one of another session."""

    status = 403

    def __str__(self) -> str:
        return "this form does not belong to your session; go back, load its page again, and send it once more"


class LogInFirst(ServiceError):
    """(where to go afterwards)"""

    status = 401

    def __init__(self, next: str) -> None:
        super().__init__(next)

    def __str__(self) -> str:
        return "log in first"


def gateway_of(request: Request) -> Gateway:
    gateway: Gateway = request.app.state.gateway
    return gateway


def visitor(request: Request) -> Caller:
    """Whoever has a session, else the guest; raises ForeignOrigin. A session that has ended makes a guest."""
    found: Caller | TidingsError = request.scope[CALLER]
    if isinstance(found, UnknownToken):
        return gateway_of(request).guest
    if isinstance(found, TidingsError):
        raise found
    return found


def has_ended(request: Request) -> bool:
    """Whether the visitor had a session, which is over."""
    return isinstance(request.scope[CALLER], UnknownToken)


def member(request: Request, scope: str | None = None) -> Caller:
    """Somebody with an account, and with this scope; raises LogInFirst or OutOfScope."""
    caller = visitor(request)
    if not caller.username:
        raise LogInFirst(_back_to(request))
    if scope is not None:
        caller.need(scope)
    return caller


def allowed(request: Request, scope: str) -> Caller:
    """With or without an account, where guests may; raises LogInFirst or OutOfScope."""
    caller = visitor(request)
    if scope in caller.scopes:
        return caller
    return member(request, scope)


def secret_of(request: Request) -> str:
    """What the proofs of this visitor's forms are made with; '' where nothing was given out yet."""
    return request.cookies.get(SESSION if visitor(request).digest else GUEST, "")


def proof_of(secret: str) -> str:
    return hmac.new(secret.encode(), _PURPOSE, sha256).hexdigest()


def check_proof(request: Request, given: str) -> None:
    """Raises ForgedForm, or LogInFirst where the session that it belonged to is over."""
    secret = secret_of(request)
    if secret and _is_proof(secret, given):
        return
    if has_ended(request) and _is_proof(request.cookies.get(SESSION, ""), given):
        raise LogInFirst(_back_to(request))
    raise ForgedForm


def check_continues(request: Request) -> None:
    """For a piece that a page's script asks for: raises LogInFirst where the page is one of a session that is over."""
    given = request.headers.get(PROOF_HEADER, "")
    if given and not visitor(request).username and not _is_proof(secret_of(request), given):
        raise LogInFirst(HOME)


def is_from_our_page(request: Request) -> bool:
    """Every browser says where a form that changes something comes from."""
    origin = request.headers.get("origin")
    if origin is None:
        return request.headers.get("sec-fetch-site") == "same-origin"
    return urlsplit(origin).netloc == request.headers.get("host")


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


async def begin_session(request: Request, answer: Response, account: Account, by: Token | None = None) -> bytes:
    """A new session's digest, never an old one's, and the one that there was ends. `by`: the token that was shown
    instead of a password; the session may do no more and lasts no longer. Raises WrongPassword where the account has
    changed."""
    gateway = gateway_of(request)
    await end_session(request)
    secret = new_token()
    made = now()
    expires = Instant(made + DAYS * _DAY)
    token = Token(digest_of(secret), account.username, "session", "browser", account.scopes, made, expires)
    if by is not None:
        last = expires if by.expires is None else min(by.expires, expires)
        token = replace(token, scopes=by.scopes & account.scopes, expires=last)
    if not await gateway.write(gateway.store.add_token, token, proved=account, most=MOST_TOKENS):
        raise WrongPassword
    set_cookie(request, answer, SESSION, secret, DAYS * 86_400)
    answer.delete_cookie(GUEST, path="/")
    return token.digest


async def end_session(request: Request) -> None:
    """The token of the cookie, where it is a session's, works no more."""
    gateway = gateway_of(request)
    shown = request.cookies.get(SESSION)
    if not shown:
        return
    digest = digest_of(shown)
    known = await gateway.read(gateway.store.token, digest)
    if known is not None and known.kind == "session":
        await gateway.write(gateway.store.remove_token, digest)
        gateway.callers.forget(digest)


def safe_next(text: str) -> str:
    """An address of ours to go to, whatever somebody put into a link."""
    fine = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable() and len(text) < 2_000
    return quote(text, safe="/?&=%:,.-_~+") if fine else HOME


def _is_proof(secret: str, given: str) -> bool:
    return hmac.compare_digest(proof_of(secret).encode(), given.encode("utf-8", "replace"))


def _back_to(request: Request) -> str:
    """A page can be asked for again; what a form was sent to leads to the page it stands on."""
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
