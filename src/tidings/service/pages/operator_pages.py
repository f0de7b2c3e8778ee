"""/pages/operator: pipeline, journal, outbox and dead letters, for whoever runs the service."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.service.pages.page_route import NoSuchPage, PageRoute
from tidings.service.pages.rendering import render
from tidings.service.pages.visiting import gateway_of, member
from tidings.store import browsing

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_LETTERS = 20
_TROUBLED = 20


@router.get("/pages/operator")
async def operator(request: Request) -> Response:
    if "operate" not in member(request).scopes:
        raise NoSuchPage
    gateway, state = gateway_of(request), request.app.state
    return render(
        request,
        "operator.html",
        figures=await state.figuring.figures(),
        deliveries=await state.figuring.deliveries(),
        troubled=await gateway.read(gateway.store.troubled, _TROUBLED),
        children=(("Pipeline", gateway.pipeline), ("Outbox", gateway.outbox)),
        streams=state.streams.count,
        requests=state.metrics.events,
        letters=await gateway.read(browsing.newest_letters, gateway.store, _LETTERS),
        store=gateway.store.url.partition(":")[0],
    )
