"""/v1/network/advertisements: filters that say what an account will publish."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.service.api.network_routes import network_of
from tidings.service.api.requests import V1, Calling, GatewayOf, answered
from tidings.service.api.shapes import read_body
from tidings.service.door.guarded_route import GuardedRoute

router = APIRouter(prefix=f"{V1}/network/advertisements", route_class=GuardedRoute, include_in_schema=False)


class NewAdvertisement(msgspec.Struct, forbid_unknown_fields=True):
    filter: Annotated[str, msgspec.Meta(min_length=1, max_length=64_000)]


@router.get("")
async def listed(gateway: GatewayOf, caller: Calling) -> Response:
    """Those of all accounts of this server: an event must match one of them."""
    network_of(gateway)
    found = await gateway.read(gateway.store.advertisements)
    items = [{"id": one.id, "filter": one.filter, "own": one.owner == caller.owner} for one in found]
    return answered({"items": items, "next": None})


@router.post("", status_code=201)
async def advertise(request: Request, gateway: GatewayOf, caller: Calling) -> Response:
    network = network_of(gateway)
    asked = await read_body(request, NewAdvertisement)
    made = await network.advertise(caller.owner, asked.filter)
    return answered({"id": made.id, "filter": made.filter}, 201)


@router.delete("/{name}")
async def withdraw(name: str, gateway: GatewayOf, caller: Calling) -> Response:
    await network_of(gateway).withdraw_advertisement(caller.owner, name)
    return answered({"withdrawn": name})
