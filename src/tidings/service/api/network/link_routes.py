"""/v1/network/join and /v1/network/messages: what servers send each other over a link.

No part of the API: only a token of another server opens them, bodies are of the servers' own protocol, and a server
that repeats a request does no harm, so they take no Idempotency-Key.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.network.wire import LARGEST
from tidings.service.api.network.network_shapes import Name, Secret, Url, network_of
from tidings.service.api.requests import V1, Calling, GatewayOf, answered
from tidings.service.api.shapes import read_body
from tidings.service.door.guarded_route import GuardedRoute
from tidings.service.network import Joining
from tidings.service.network_errors import NoSuchLink

router = APIRouter(prefix=f"{V1}/network", route_class=GuardedRoute, include_in_schema=False)


class JoinAsked(msgspec.Struct, forbid_unknown_fields=True):
    name: Name
    identity: Annotated[str, msgspec.Meta(min_length=8, max_length=100)]
    url: Url
    token: Secret


@router.post("/join")
async def joined(request: Request, gateway: GatewayOf, caller: Calling) -> Response:
    network = network_of(gateway)
    asked = await read_body(request, JoinAsked)
    me = await network.joined_by(caller.digest, Joining(asked.name, asked.identity, asked.url.rstrip("/"), asked.token))
    return answered(me)


@router.post("/messages")
async def messages(request: Request, gateway: GatewayOf, caller: Calling) -> Response:
    """What a neighbour sends to this server's node."""
    network = network_of(gateway)
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > LARGEST:
            return Response(status_code=413)
        pieces.append(piece)
    try:
        await network.hear(caller.digest, b"".join(pieces))
    except NoSuchLink:
        await asyncio.sleep(1)  # it will try again, and again
        raise
    return Response(status_code=204)
