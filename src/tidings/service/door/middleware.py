"""The middleware: what every HTTP request passes before its handler, and every answer after it.

    connection limits ──> rate limit by address ──> authentication ──> scope ──> body ──> idempotency ──> action

`connection_limits` and `slow_peers` do the first, `admission` the next two, then `scopes`, `in_flight` and
`idempotency`. Each guard protects the more expensive ones behind it. This module runs them up to the body, with metrics
and timing, adds security headers for browsers, and answers unexpected errors without revealing internals.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request, cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tidings.errors import Explained, ServiceError, TidingsError
from tidings.logs import REQUEST_ID
from tidings.service.api import problems
from tidings.service.api.requests import SESSION
from tidings.service.door.addresses import Proxies, network_of
from tidings.service.door.callers import Caller, UnknownToken
from tidings.service.door.head import Head, make_head
from tidings.service.door.in_flight import SMALL, BoundedBody, InFlight
from tidings.service.door.request_id import HEADER, logged_path, request_id
from tidings.service.door.scope_check import CALLER
from tidings.service.door.secure_cookies import from_browser, to_browser
from tidings.service.gateway import Gateway
from tidings.service.metrics import Metrics

log = logging.getLogger("tidings.service")

Handler = Callable[[Request], Awaitable[Response]]
Refusing = Callable[[Scope, TidingsError | HTTPException], Response]  # the problem, in a form that the caller can read
TOLD = "tidings.told"  # in the scope when an error that comes out of the web framework was noted and answered
STREAMED = ("application/x-ndjson", "application/jsonl", "application/ndjson")
_ABOUT_ACCOUNTS = ("/v1/accounts", "/v1/tokens", "/confirm/", "/unsubscribe/")  # where strangers may send a body
_LARGEST_FORM = 1 << 20  # bytes
GONE = 499  # as others count it: nobody is there to hear an answer
_SAFE = ("GET", "HEAD", "OPTIONS")
_NEVER_REFUSED = "/healthz"
_ALWAYS = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]
_UNLESS_SAID = [
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
]
_NO_ROUTE = "none"
_BEARER = b"Bearer "


class ForeignOrigin(Explained, ServiceError):
    template = "pages of other sites cannot use your session to change anything; send the token as a bearer token"


class DirectRequest(Request):
    """For handlers that are called without the web framework: reads a body in a third of the time."""

    async def body(self) -> bytes:
        if not hasattr(self, "_body"):
            parts: list[bytes] = []
            more = True
            while more:
                message = await self._receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                parts.append(message.get("body", b""))
                more = message.get("more_body", False)
            self._body = parts[0] if len(parts) == 1 else b"".join(parts)
        return self._body


class DoorMiddleware:
    """An ASGI application around another one.

    What is asked for most (`direct`, by method and path) is handed straight to its handler: the web framework's own
    way there, with routes to try and dependencies to solve, takes longer than publishing an event does.
    """

    def __init__(
        self,
        app: ASGIApp,
        gateway: Gateway,
        metrics: Metrics,
        direct: Mapping[tuple[str, str], Handler],
        refusing: Refusing,
    ) -> None:
        self._app = app
        self._gateway = gateway
        self._metrics = metrics
        self._direct = direct
        self._refusing = refusing
        self._proxies = Proxies(gateway.settings.trusted_proxies)
        self._in_flight = InFlight(gateway.settings)
        self._over_tls = gateway.settings.public_url.startswith("https:")
        self._always = list(_ALWAYS)
        if self._over_tls and (seconds := gateway.settings.hsts_seconds):
            self._always.append((b"strict-transport-security", f"max-age={seconds}".encode()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = perf_counter()
        status = 0
        if self._over_tls:
            scope["headers"] = from_browser(scope["headers"])
        handle: Handler | None = None
        head = make_head(scope)
        id = request_id(head)
        REQUEST_ID.set(id)
        problems.INSTANCE.set(scope["path"])

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message.get("headers", ())
                said = [name for name, _ in headers]
                if self._over_tls:
                    headers = to_browser(headers)
                unless_said = [header for header in _UNLESS_SAID if header[0] not in said]
                message["headers"] = [*headers, *self._always, (HEADER, id.encode()), *unless_said]
            await send(message)

        account, body = "", None
        try:
            caller = self._admit_at_once(scope, head) or await self._admit(scope, head)
            if caller.username:
                self._in_flight.enter(caller.username)
                account = caller.username
            body = self._bounded(scope, head, receive)
            if body is not None:
                who = account or network_of(scope["client"][0] if scope.get("client") else "")
                body.count_in(self._in_flight, who, not account)
                receive = body
            handle = self._direct.get((scope["method"], scope["path"]))
            if handle is None:
                await self._app(scope, receive, sending)
            else:
                answer = await handle(DirectRequest(scope, receive))
                await answer(scope, receive, sending)
        except ClientDisconnect:
            status = status or GONE
        except (TidingsError, HTTPException) as refused:
            if problems.status_of(refused) >= 500:
                log.warning("%s %s: %s", scope["method"], logged_path(scope), refused)
            await self._refusing(scope, refused)(scope, receive, sending)
        except Exception:
            if TOLD not in scope:
                log.exception("%s %s failed", scope["method"], logged_path(scope))
                if status:
                    raise  # the answer has begun: all that is left is to break it off
                await self._refusing(scope, problems.Failed())(scope, receive, sending)
        finally:
            if account:
                self._in_flight.leave(account)
            if body is not None:
                body.end()
            route = scope["path"] if handle is not None else getattr(scope.get("route"), "path", _NO_ROUTE)
            self._metrics.observe(scope["method"], route, status, perf_counter() - began)

    def _admit_at_once(self, scope: Scope, head: Head) -> Caller | None:
        """The same as `_admit` for most requests: a bearer token that was valid a moment ago."""
        said = head.get(b"authorization")
        if self._proxies or said is None or not said.startswith(_BEARER):
            return None
        caller = self._gateway.admission.at_once(said[len(_BEARER) :].strip().decode("latin-1"))
        if caller is not None:
            scope[CALLER] = caller
        return caller

    async def _admit(self, scope: Scope, head: Head) -> Caller:
        """Leaves the caller in the scope, or why there is none; raises TooManyRequests."""
        if self._proxies:
            peer = scope["client"][0] if scope.get("client") else ""
            scope["client"] = (self._proxies.client(peer, scope["headers"]), 0)
        address = scope["client"][0] if scope.get("client") else ""
        token, by_cookie = _token(head)
        caller = self._gateway.guest
        found: Caller | TidingsError = caller
        if token or scope["path"] != _NEVER_REFUSED:
            try:
                found = caller = await self._gateway.admission.admit(token, address)
            except UnknownToken as unknown:
                found = unknown
        if token and by_cookie and scope["method"] not in _SAFE and not _same_origin(head):
            found, caller = ForeignOrigin(), self._gateway.guest
        scope[CALLER] = found
        return caller

    def _bounded(self, scope: Scope, head: Head, receive: Receive) -> BoundedBody | None:
        """None where the body is small, or there is none."""
        length, chunked = head.get(b"content-length"), b"transfer-encoding" in head
        if length is None and not chunked:
            return None
        announced = int(length[:19]) if length is not None and length.isdigit() and not chunked else None
        if announced is not None and announced <= SMALL and announced <= self._gateway.settings.largest_body:
            return None
        media = head.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
        streamed = media in STREAMED and scope["path"] == "/v1/events"
        line = self._gateway.settings.largest_event if streamed else None
        return BoundedBody(receive, self._largest(scope["path"], streamed), announced, line)

    def _largest(self, path: str, streamed: bool) -> int:
        settings = self._gateway.settings
        if streamed:
            return settings.largest_stream
        if path.startswith(_ABOUT_ACCOUNTS):
            return min(settings.largest_body, SMALL)
        return min(settings.largest_body, _LARGEST_FORM) if path.startswith("/pages/") else settings.largest_body


def _token(head: Head) -> tuple[str, bool]:
    """The bearer's token, else the session's, and whether it came by cookie."""
    scheme, _, token = head.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"bearer":
        return token.strip().decode("latin-1"), False
    cookies = head.get(b"cookie")
    return "" if cookies is None else cookie_parser(cookies.decode("latin-1")).get(SESSION, ""), True


def _same_origin(head: Head) -> bool:
    """Browsers name the origin of a request. A client that names none is not a browser and must not use cookies."""
    origin = head.get(b"origin")
    if origin is None:
        return head.get(b"sec-fetch-site") == b"same-origin"
    return urlsplit(origin.decode("latin-1")).netloc == head.get(b"host", b"").decode("latin-1")
