"""Idempotency-Key: a request that is sent again under the same key gets the answer of the first, for 24 hours.

`IdempotentRoute` is the class of routes that change something and give away no token (`/v1/events` has ids of its own;
answers with tokens are never kept; a webhook's secret stands in the store anyway). Only what succeeded is kept: what
was refused is decided again.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Request
from starlette.responses import Response

from tidings.errors import ServiceError
from tidings.service.actions.keys import IdempotencyKeyReused, digest
from tidings.service.door.guarded_route import GuardedRoute, Handler
from tidings.service.door.scopes import caller_of
from tidings.service.gateway import Gateway
from tidings.store.accounts.kept_responses import KeptResponse

HEADER = "idempotency-key"
LONGEST = 255

# A parameter of every such route, so that it is in the OpenAPI document.
IdempotencyKey = Annotated[
    str | None, Header(alias="Idempotency-Key", pattern=r"^[!-~]{1,255}$", description="So that it can be sent again")
]


class IdempotencyKeyInUse(ServiceError):
    seconds = 1

    def __str__(self) -> str:
        return "a request with this Idempotency-Key is under way; wait for its answer, or ask again in a second"


class IdempotentRoute(GuardedRoute):
    def handler_within(self) -> Handler:
        handle = super().handler_within()

        async def once(request: Request) -> Response:
            key = request.headers.get(HEADER)
            if key is None or request.method == "GET" or len(key) > LONGEST:
                return await handle(request)
            caller = caller_of(request)
            gateway: Gateway = request.app.state.gateway
            kept_under = digest(caller.owner if caller.digest else "", key)
            asked = digest(request.method, request.url.path, request.url.query, await request.body())
            under_way: set[bytes] = request.app.state.under_way
            if kept_under in under_way:
                raise IdempotencyKeyInUse
            under_way.add(kept_under)
            try:
                before = await gateway.read(gateway.store.kept_response, kept_under)
                if before is not None:
                    return _again(before, asked)
                answer = await handle(request)
                if 200 <= answer.status_code < 300:
                    body = bytes(answer.body).decode()
                    kept = KeptResponse(kept_under, asked, answer.status_code, body, gateway.store.clock.now())
                    await gateway.write(gateway.store.keep_response, kept)
                return answer
            finally:
                under_way.discard(kept_under)

        return once


def _again(before: KeptResponse, asked: bytes) -> Response:
    if before.request != asked:
        raise IdempotencyKeyReused
    headers = {"Idempotency-Replayed": "true"}
    if not before.body:
        return Response(status_code=before.status, headers=headers)
    return Response(before.body, before.status, headers, "application/json")
