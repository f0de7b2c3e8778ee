"""/pages/operator: pipeline, journal, outbox and dead letters, for whoever runs the service."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.errors import ServiceError
from tidings.service.pages import reading
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.rendering import render
from tidings.service.pages.visiting import gateway_of, member

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_LETTERS = 20


class NotForYou(ServiceError):
    """Whoever may not operate is not told what there would be."""

    status = 404

    def __str__(self) -> str:
        return "there is no such page; the links above lead to all there are"


@router.get("/pages/operator")
async def operator(request: Request) -> Response:
    if "operate" not in member(request).scopes:
        raise NotForYou
    gateway, state = gateway_of(request), request.app.state
    return render(
        request,
        "operator.html",
        figures=await state.figuring.figures(),
        deliveries=await state.figuring.deliveries(),
        children=(("Pipeline", gateway.pipeline), ("Outbox", gateway.outbox)),
        streams=state.streams.count,
        requests=state.metrics.events,
        letters=await gateway.read(reading.newest_letters, gateway.store, _LETTERS),
        store=gateway.store.url.partition(":")[0],
    )
