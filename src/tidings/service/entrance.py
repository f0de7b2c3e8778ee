"""The entrance: what every HTTP request passes before its handler, and every answer after it.

It finds out who calls, sends away who calls too often or sends too much, counts and times, adds the headers that
keep browsers careful, and turns what nobody foresaw into an answer that tells nothing of the inside.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from time import perf_counter
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request, cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tidings.errors import ServiceError, TidingsError
from tidings.logs import REQUEST_ID
from tidings.service import problems
from tidings.service.callers import Caller, UnknownToken
from tidings.service.gateway import Gateway
from tidings.service.operations import Metrics
from tidings.service.request_id import HEADER, logged_path, request_id
from tidings.service.requests import CALLER, SESSION
from tidings.service.throttling import Throttle

log = logging.getLogger("tidings.service")

Handler = Callable[[Request], Awaitable[Response]]
Refusing = Callable[[Scope, TidingsError | HTTPException], Response]  # what went wrong, as whoever asked can read it
TOLD = "tidings.told"  # in the scope when an error that comes out of the web framework was noted and answered
STREAMED = ("application/x-ndjson", "application/jsonl", "application/ndjson")
_ABOUT_ACCOUNTS = ("/accounts", "/tokens")  # and what stands below them
_LARGEST_ABOUT_ACCOUNTS = 1 << 16  # bytes of a body: whoever is unknown may send one there
GONE = 499  # as others count it: nobody is there to hear an answer
_SAFE = ("GET", "HEAD", "OPTIONS")
_NEVER_REFUSED = "/healthz"
_ALWAYS = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]
_UNLESS_SAID = [
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
]
_NO_ROUTE = "none"


class BodyTooLarge(HTTPException):
    """Raised while a body is read, inside the web framework, which lets no other kind of error through there."""

    def __init__(self, largest: int) -> None:
        detail = f"the body is larger than {largest:,} bytes; send it in several requests"
        super().__init__(413, detail, {"Connection": "close"})


class ForeignOrigin(ServiceError):
    status = 403

    def __str__(self) -> str:
        return "a page of another site may change nothing here in your name; send the token as a bearer instead"


class Entrance:
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
        self._known = Throttle(gateway.settings.requests_per_second)
        self._unknown = Throttle(gateway.settings.guest_requests_per_second)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = perf_counter()
        status = 0
        handle: Handler | None = None
        id = request_id(scope["headers"])
        REQUEST_ID.set(id)

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message["headers"] = list(message.get("headers", ()))
                headers += _ALWAYS
                headers.append((HEADER, id.encode()))
                said = {name for name, _ in headers}
                headers += [header for header in _UNLESS_SAID if header[0] not in said]
            await send(message)

        try:
            receive = self._limited(scope, receive)
            await self._admit(scope)
            handle = self._direct.get((scope["method"], scope["path"]))
            if handle is None:
                await self._app(scope, receive, sending)
            else:
                answer = await handle(Request(scope, receive))
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
            route = scope["path"] if handle is not None else getattr(scope.get("route"), "path", _NO_ROUTE)
            self._metrics.observe(scope["method"], route, status, perf_counter() - began)

    async def _admit(self, scope: Scope) -> None:
        """Leaves the caller in the scope; raises TooManyRequests."""
        token, by_cookie = _token(scope["headers"])
        address = scope["client"][0] if scope.get("client") else ""
        if not token:
            caller: Caller | TidingsError = self._gateway.guest
            if scope["path"] != _NEVER_REFUSED:
                self._unknown.take(address)
        else:
            try:
                caller = await self._gateway.caller(token)
                self._known.take(caller.username)
            except UnknownToken as unknown:
                self._unknown.take(address)
                caller = unknown
            if by_cookie and scope["method"] not in _SAFE and not _same_origin(scope["headers"]):
                caller = ForeignOrigin()
        scope[CALLER] = caller

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        """Raises BodyTooLarge now or while the body is read, whichever is possible first."""
        length = chunked = None
        kind = b""
        for name, value in scope["headers"]:
            if name == b"content-length":
                length = value
            elif name == b"transfer-encoding":
                chunked = value
            elif name == b"content-type":
                kind = value
        if length is None and chunked is None:
            return receive
        settings = self._gateway.settings
        streamed = kind.partition(b";")[0].strip().lower().decode("latin-1") in STREAMED
        largest = settings.largest_stream if streamed and scope["path"] == "/events" else settings.largest_body
        if scope["path"].startswith(_ABOUT_ACCOUNTS):
            largest = min(largest, _LARGEST_ABOUT_ACCOUNTS)
        if length is not None and length.isdigit() and chunked is None:
            if len(length) > 18 or int(length) > largest:
                raise BodyTooLarge(largest)
            return receive  # the server reads no more than was announced
        received = 0

        async def receiving() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > largest:
                raise BodyTooLarge(largest)
            return message

        return receiving


def _token(headers: Iterable[tuple[bytes, bytes]]) -> tuple[str, bool]:
    """The bearer's token, else the session's, and whether it came by cookie."""
    session = ""
    for name, value in headers:
        if name == b"authorization":
            scheme, _, token = value.partition(b" ")
            if scheme.lower() == b"bearer":
                return token.strip().decode("latin-1"), False
        elif name == b"cookie":
            session = cookie_parser(value.decode("latin-1")).get(SESSION, "")
    return session, True


def _same_origin(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """A browser says where a request comes from; what says nothing is no browser, and has no business with cookies."""
    found = {name: value.decode("latin-1") for name, value in headers}
    origin = found.get(b"origin")
    if origin is None:
        return found.get(b"sec-fetch-site") == "same-origin"
    return urlsplit(origin).netloc == found.get(b"host")
