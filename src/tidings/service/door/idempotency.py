"""Idempotency-Key: a request that is sent again under the same key gets the answer of the first, for 24 hours.

`IdempotentRoute` is the class of routes that change something; `/v1/events` calls `once` itself. Only successes are
kept: what was refused is decided again. Answers may hold tokens and webhook secrets, so the store seals them. A caller
without a token has a key for each request: strangers share no keys, and only who sends the same password gets the
answer that it was given.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Annotated

import msgspec
from fastapi import Header, Request
from starlette.responses import Response

from tidings.errors import Explained, ServiceError, TidingsError
from tidings.service.actions.keys import IdempotencyKeyReused, digest
from tidings.service.door.callers import Caller
from tidings.service.door.guarded_route import GuardedRoute, Handler
from tidings.service.door.head import head_of
from tidings.service.door.scope_check import CALLER
from tidings.service.gateway import Gateway
from tidings.store.accounts.kept_responses import KeptResponse

HEADER = "idempotency-key"
SUBSCRIPTIONS = "/v1/subscriptions"  # of what may be repeated, only what is made here has an address
LONGEST = 255
_RAW_HEADER = HEADER.encode()
_WELL_FORMED = re.compile(rb"[!-~]{1,%d}" % LONGEST)
_LARGEST_KEPT = 1 << 20  # bytes of an answer; events of a larger one are recognized by their ids when repeated

# A parameter of every such route, so that it is in the OpenAPI document.
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[!-~]{1,255}$",
        description="Makes it safe to repeat the request for 24 hours",
    ),
]


class IdempotencyKeyInUse(Explained, ServiceError):
    seconds = 1
    template = "a request with this Idempotency-Key is in progress; wait for its answer, or retry in a second"


class InvalidIdempotencyKey(Explained, ServiceError):
    template = f"an Idempotency-Key has 1 to {LONGEST} printable ASCII characters, without spaces"


class IdempotentRoute(GuardedRoute):
    def handler_within(self) -> Handler:
        handle = super().handler_within()

        async def handle_once(request: Request) -> Response:
            key = request.headers.get(HEADER)
            if key is None or request.method == "GET" or len(key) > LONGEST:  # the route refuses a wrong one
                return await handle(request)
            return await once(request, key, await request.body(), lambda: handle(request))

        return handle_once


async def once(request: Request, key: str, body: bytes, act: Callable[[], Awaitable[Response]]) -> Response:
    """Raises IdempotencyKeyInUse or IdempotencyKeyReused."""
    caller: Caller | TidingsError = request.scope[CALLER]  # an error where somebody logs in with an expired token
    gateway: Gateway = request.app.state.gateway
    asked = digest(request.method, request.url.path, request.url.query, body)
    kept_under = digest("", key, asked)
    if isinstance(caller, Caller) and caller.digest:
        kept_under = digest(caller.owner, key)
    under_way: set[bytes] = request.app.state.under_way
    if kept_under in under_way:
        raise IdempotencyKeyInUse
    under_way.add(kept_under)
    try:
        before = await gateway.read(gateway.store.kept_response, kept_under)
        if before is not None:
            return _again(before, asked, request.url.path)
        answer = await act()
        if 200 <= answer.status_code < 300 and len(answer.body) <= _LARGEST_KEPT:
            text = bytes(answer.body).decode()
            kept = KeptResponse(kept_under, asked, answer.status_code, text, gateway.store.clock.now())
            await gateway.write(gateway.store.keep_response, kept)
        return answer
    finally:
        under_way.discard(kept_under)


def subscription_address(id: str) -> str:
    """As the header Location has it."""
    return f"{SUBSCRIPTIONS}/{id}"


def key_of(request: Request) -> str | None:
    """None where there is none; raises InvalidIdempotencyKey. For what is called without the route that checks it."""
    value = head_of(request).get(_RAW_HEADER)
    if value is None:
        return None
    if not _WELL_FORMED.fullmatch(value):
        raise InvalidIdempotencyKey
    return str(value, "ascii")


def _again(before: KeptResponse, asked: bytes, path: str) -> Response:
    if before.request != asked:
        raise IdempotencyKeyReused
    headers = {"Idempotency-Replayed": "true"}
    if before.status == 201 and path == SUBSCRIPTIONS:
        headers["Location"] = subscription_address(msgspec.json.decode(before.body)["id"])
    if not before.body:
        return Response(status_code=before.status, headers=headers)
    return Response(before.body, before.status, headers, "application/json")
