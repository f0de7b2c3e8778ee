"""/v1/network/tickets and /v1/network/moves: subscriptions move to another server of the network.

ticket there ──> move here ──> the servers do the rest; what is still on its way is listed
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.service.api.network.network_shapes import Moves, MoveStarted, NewMove, Ticket, network_of
from tidings.service.api.requests import V1, After, Calling, GatewayOf, Limit, answered, page, part_of
from tidings.service.api.shapes import read_body, says, takes
from tidings.service.door.idempotency import IdempotencyKey, IdempotentRoute

router = APIRouter(prefix=f"{V1}/network", tags=["network"], route_class=IdempotentRoute)


@router.post("/tickets", status_code=201, responses=says(Ticket, "The ticket", 201))
async def ticket(gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """Get a ticket with which subscriptions of another server can move here for your account, within a day."""
    network = network_of(gateway)
    return answered({"ticket": await network.ticket(caller.owner), "server": network.name}, 201)


@router.post(
    "/moves", status_code=202, openapi_extra=takes(NewMove), responses=says(MoveStarted, "The ids of those", 202)
)
async def move(request: Request, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """Move subscriptions to another server, with a ticket from there: all of yours, unless you name some. They are
    withdrawn here once the other server has them."""
    network = network_of(gateway)
    asked = await read_body(request, NewMove)
    moving = await network.move(caller.owner, asked.to, asked.ticket, asked.subscriptions)
    return answered({"moving": moving}, 202)


@router.get("/moves", responses=says(Moves, "A page of moves"))
async def moves(
    request: Request, gateway: GatewayOf, caller: Calling, after: After = "", limit: Limit = 100
) -> Response:
    """List your subscriptions that are still on their way to another server, and what holds them up."""
    some, next = part_of(await network_of(gateway).moves(caller.owner), after, limit)
    return page(request, some, next)
