"""/v1/network: what operators ask of links and of the home, and a search of all servers; 404 where the server has no
name."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from tidings.service.api.network.network_shapes import (
    HomeTaken,
    Invitation,
    LinkMade,
    LinkRemoved,
    Links,
    NetworkEvents,
    NetworkSeen,
    NewLink,
    NewOrder,
    Ordered,
    network_of,
)
from tidings.service.api.requests import V1, After, Calling, GatewayOf, Limit, answered, page, part_of
from tidings.service.api.shapes import read_body, says, takes
from tidings.service.door.idempotency import IdempotencyKey, IdempotentRoute

router = APIRouter(prefix=f"{V1}/network", tags=["network"], route_class=IdempotentRoute)
_LONGEST_FILTER = 5_000  # characters: an address with more, percent-encoded, may be longer than servers take


@router.get("", responses=says(NetworkSeen, "The network as this server knows it"))
async def described(gateway: GatewayOf, caller: Calling) -> Response:
    """For operators: servers, links, the tree, interests, and how far behind each link is."""
    return answered(await network_of(gateway).describe())


@router.post("/invitations", status_code=201, responses=says(Invitation, "The token, and this server's address", 201))
async def invite(gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """For operators: get a token with which one other server can link to this one, within a week."""
    network = network_of(gateway)
    return answered({"token": await network.invite(caller.owner), "url": gateway.settings.links_lead_to}, 201)


@router.get("/links", responses=says(Links, "A page of links"))
async def links(
    request: Request, gateway: GatewayOf, caller: Calling, after: After = "", limit: Limit = 100
) -> Response:
    """For operators: list the servers that this one is linked to, by name."""
    network_of(gateway)
    some, next = part_of(await gateway.read(gateway.store.links), after, limit)
    return page(request, [{"name": one.name, "url": one.url, "joined": str(one.joined)} for one in some], next)


@router.post(
    "/links", status_code=201, openapi_extra=takes(NewLink), responses=says(LinkMade, "The other server's name", 201)
)
async def join(request: Request, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """For operators: link this server to the one at the address, with an invitation from that server."""
    network = network_of(gateway)
    asked = await read_body(request, NewLink)
    return answered({"name": await network.join(asked.url.rstrip("/"), asked.token)}, 201)


@router.delete("/links/{name}", responses=says(LinkRemoved, "Removed here"))
async def remove(name: str, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """For operators: remove the link to a server. The other end remains until it is removed there, but no longer
    works."""
    await network_of(gateway).remove(name)
    return answered({"removed": name})


@router.post("/home", responses=says(HomeTaken, "The home"))
async def take_home(gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """For operators: make this server the home, since the old one is lost. Do so only at the server with the longest
    schema."""
    return answered({"home": await network_of(gateway).take_home()})


@router.post(
    "/orders", status_code=201, openapi_extra=takes(NewOrder), responses=says(Ordered, "Ordered by the home", 201)
)
async def order(request: Request, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """For operators: ask the home to decide for all servers how events are distributed, which server is the next home,
    or which one is struck off."""
    network = network_of(gateway)
    asked = await read_body(request, NewOrder)
    await network.order(asked.kind.replace("-", " "), asked.value)
    return answered({"ordered": asked.kind}, 201)


@router.get("/events", responses=says(NetworkEvents, "Events, and which servers did not answer"))
async def search(
    gateway: GatewayOf,
    caller: Calling,
    filter: Annotated[str, Query(max_length=_LONGEST_FILTER, description="A filter")],
    limit: Annotated[int, Query(ge=1, le=1_000, description="Maximum number of items")] = 100,
) -> Response:
    """Search the stored events of all servers that can be reached, each event once."""
    return answered(await network_of(gateway).search(filter, limit))
