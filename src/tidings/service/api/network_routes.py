"""/v1/network: what other servers send, and what operators ask of links; 404 where the server has no name."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from tidings.network.wire import LARGEST
from tidings.service.api.requests import V1, Calling, GatewayOf, answered
from tidings.service.api.shapes import read_body
from tidings.service.door.guarded_route import GuardedRoute
from tidings.service.gateway import Gateway
from tidings.service.network import Joining, Network
from tidings.service.network_errors import NoNetwork, NoSuchLink

router = APIRouter(prefix=f"{V1}/network", route_class=GuardedRoute, include_in_schema=False)

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9.-]+$")]
Url = Annotated[str, msgspec.Meta(max_length=1_000, pattern=r"^https?://[^\s<>\"]+$")]
Secret = Annotated[str, msgspec.Meta(min_length=20, max_length=200)]


class NewLink(msgspec.Struct, forbid_unknown_fields=True):
    url: Url
    token: Secret


class NewOrder(msgspec.Struct, forbid_unknown_fields=True):
    """`distribute` takes events, subscriptions or advertisements, the others a server's name."""

    kind: Literal["distribute", "succeed", "strike-off"]
    value: Name


class JoinAsked(msgspec.Struct, forbid_unknown_fields=True):
    name: Name
    identity: Annotated[str, msgspec.Meta(min_length=8, max_length=100)]
    url: Url
    token: Secret


def network_of(gateway: Gateway) -> Network:
    """Raises NoNetwork."""
    if gateway.network is None:
        raise NoNetwork
    return gateway.network


@router.get("")
async def described(gateway: GatewayOf, caller: Calling) -> Response:
    """Servers, links, tree, interests, and how far behind each link is."""
    return answered(await network_of(gateway).describe())


@router.post("/invitations", status_code=201)
async def invite(gateway: GatewayOf, caller: Calling) -> Response:
    network = network_of(gateway)
    return answered({"token": await network.invite(), "url": gateway.settings.links_lead_to}, 201)


@router.get("/links")
async def links(gateway: GatewayOf, caller: Calling) -> Response:
    network_of(gateway)
    found = await gateway.read(gateway.store.links)
    items = [{"name": one.name, "url": one.url, "joined": str(one.joined)} for one in found]
    return answered({"items": items, "next": None})


@router.post("/links", status_code=201)
async def join(request: Request, gateway: GatewayOf, caller: Calling) -> Response:
    network = network_of(gateway)
    asked = await read_body(request, NewLink)
    return answered({"name": await network.join(asked.url.rstrip("/"), asked.token)}, 201)


@router.delete("/links/{name}")
async def remove(name: str, gateway: GatewayOf, caller: Calling) -> Response:
    network = network_of(gateway)
    await network.remove(name)
    return answered({"removed": name})


@router.post("/home")
async def take_home(gateway: GatewayOf, caller: Calling) -> Response:
    """The home is lost: this server orders from now on."""
    return answered({"home": await network_of(gateway).take_home()})


@router.get("/events")
async def search(
    gateway: GatewayOf,
    caller: Calling,
    filter: Annotated[str, Query(max_length=64_000)],
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> Response:
    """Stored events that match, of all servers in reach. `missing` are those that did not answer in time."""
    return answered(await network_of(gateway).search(filter, limit))


@router.post("/orders", status_code=201)
async def order(request: Request, gateway: GatewayOf, caller: Calling) -> Response:
    """What the home decides for all: how events are distributed, who is the next home, who is struck off."""
    network = network_of(gateway)
    asked = await read_body(request, NewOrder)
    await network.order(asked.kind.replace("-", " "), asked.value)
    return answered({"ordered": asked.kind}, 201)


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
