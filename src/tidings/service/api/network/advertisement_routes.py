"""/v1/network/advertisements: filters that say what an account will publish."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.service.api.network.network_shapes import (
    AdvertisementMade,
    Advertisements,
    AdvertisementWithdrawn,
    NewAdvertisement,
    network_of,
)
from tidings.service.api.requests import V1, After, Calling, GatewayOf, Limit, answered, page, part_of
from tidings.service.api.shapes import read_body, says, takes
from tidings.service.door.idempotency import IdempotencyKey, IdempotentRoute

router = APIRouter(prefix=f"{V1}/network/advertisements", tags=["network"], route_class=IdempotentRoute)


@router.get("", responses=says(Advertisements, "A page of advertisements"))
async def listed(
    request: Request, gateway: GatewayOf, caller: Calling, after: After = "", limit: Limit = 100
) -> Response:
    """List the advertisements of all accounts of this server. While the network is distributed by advertisements, an
    event must match one of them."""
    network_of(gateway)
    some, next = part_of(await gateway.read(gateway.store.advertisements), after, limit)
    items = [{"id": one.id, "filter": one.filter, "own": one.owner == caller.owner} for one in some]
    return page(request, items, next)


@router.post(
    "",
    status_code=201,
    openapi_extra=takes(NewAdvertisement),
    responses=says(AdvertisementMade, "Its id, and the filter in canonical form", 201),
)
async def advertise(request: Request, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """Announce what you will publish, as a filter. It remains until you withdraw it."""
    network = network_of(gateway)
    asked = await read_body(request, NewAdvertisement)
    made = await network.advertise(caller.owner, asked.filter)
    return answered({"id": made.id, "filter": made.filter}, 201)


@router.delete("/{id}", responses=says(AdvertisementWithdrawn, "Withdrawn"))
async def withdraw(id: str, gateway: GatewayOf, caller: Calling, key: IdempotencyKey = None) -> Response:
    """Withdraw one of your advertisements."""
    await network_of(gateway).withdraw_advertisement(caller.owner, id)
    return answered({"withdrawn": id})
