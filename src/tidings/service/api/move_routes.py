"""/v1/network/tickets and /v1/network/moves: subscriptions move to another server of the network.

ticket there ──> move here ──> the servers do the rest; what is still on its way is listed
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.service.api.network_routes import Name, Secret, network_of
from tidings.service.api.requests import V1, Calling, GatewayOf, answered
from tidings.service.api.shapes import read_body
from tidings.service.door.guarded_route import GuardedRoute

router = APIRouter(prefix=f"{V1}/network", route_class=GuardedRoute, include_in_schema=False)
_Id = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class NewMove(msgspec.Struct, forbid_unknown_fields=True):
    """All subscriptions of the account, unless some are named."""

    to: Name
    ticket: Secret
    subscriptions: Annotated[list[_Id], msgspec.Meta(max_length=10_000)] | None = None


@router.post("/tickets", status_code=201)
async def ticket(gateway: GatewayOf, caller: Calling) -> Response:
    """Lets subscriptions of another server move in for the account, within a day."""
    network = network_of(gateway)
    return answered({"ticket": await network.ticket(caller.owner), "server": network.name}, 201)


@router.post("/moves", status_code=202)
async def move(request: Request, gateway: GatewayOf, caller: Calling) -> Response:
    """Subscriptions are to move to another server; they are withdrawn here once it has them."""
    network = network_of(gateway)
    asked = await read_body(request, NewMove)
    moving = await network.move(caller.owner, asked.to, asked.ticket, asked.subscriptions)
    return answered({"moving": moving}, 202)


@router.get("/moves")
async def moves(gateway: GatewayOf, caller: Calling) -> Response:
    """What is still on its way, and what holds it up."""
    return answered({"items": await network_of(gateway).moves(caller.owner), "next": None})
