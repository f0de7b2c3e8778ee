"""What operators watch: /healthz and /metrics; `readiness` has /readyz."""

from __future__ import annotations

import asyncio
from time import monotonic

from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.errors import StoreError
from tidings.pipeline.folder import DataFolder
from tidings.pipeline.plans.plan_figures import PlanFigures, PlanReader
from tidings.service.api.requests import GatewayOf, answered
from tidings.service.api.shapes import Shape, says
from tidings.service.door.guarded_route import GuardedRoute
from tidings.service.gateway import Gateway
from tidings.service.metrics import child_families, delivery_families, gauge, plan_families, store_families, written
from tidings.store import DeliveryFigures, Figures

router = APIRouter(tags=["operations"], route_class=GuardedRoute)

_PATIENCE = 5.0  # seconds for the store to answer
_FRESH = 1.0  # seconds that figures are shown again: counting subscriptions takes a while when there are many
_JUMP = "How far the clock is off; unless it is 0, nothing is accepted."


class Health(Shape, frozen=True):
    alive: bool


class Figuring:
    """The store's figures, read at most once a second."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._read = -_FRESH
        self._figures: Figures | None = None
        self._deliveries: list[DeliveryFigures] = []
        self._deliveries_read = -_FRESH
        self._plans = PlanReader(DataFolder(gateway.settings.data).plans)

    async def figures(self) -> Figures:
        """Raises StoreError, or TimeoutError where the store does not answer."""
        if self._figures is None or monotonic() - self._read > _FRESH:
            self._figures = None
            self._figures = await asyncio.wait_for(self._gateway.read(self._gateway.store.figures), _PATIENCE)
            self._read = monotonic()
        return self._figures

    async def deliveries(self) -> list[DeliveryFigures]:
        """By kind of channel. Raises as `figures` does."""
        if monotonic() - self._deliveries_read > _FRESH:
            read = self._gateway.read(self._gateway.store.delivery_figures)
            self._deliveries = await asyncio.wait_for(read, _PATIENCE)
            self._deliveries_read = monotonic()
        return self._deliveries

    async def plan(self) -> PlanFigures | None:
        """None where none was published here: the pipeline may run elsewhere, or not yet."""
        return await self._gateway.read(self._plans.read)


@router.get("/healthz", responses=says(Health, "The service runs"))
async def healthz() -> Response:
    """Check that the process answers. `/readyz` checks that it can do its work."""
    return answered({"alive": True})


_TEXT = {200: {"description": "Prometheus text format", "content": {"text/plain": {"schema": {"type": "string"}}}}}


@router.get("/metrics", responses=_TEXT)  # type: ignore[arg-type]
async def metrics(request: Request, gateway: GatewayOf) -> Response:
    """Get counters since the start of this process, and gauges of the store."""
    families = list(request.app.state.metrics.families())
    try:
        families += store_families(await request.app.state.figuring.figures())
        families += delivery_families(await request.app.state.figuring.deliveries())
        clock = await asyncio.wait_for(gateway.read(gateway.store.clock.look), _PATIENCE)
        families.append(gauge("clock_jump_seconds", _JUMP, clock.jump / 1e6))
        readable = 1
    except (StoreError, TimeoutError):
        readable = 0
    families += plan_families(await request.app.state.figuring.plan())
    families.append(gauge("store_readable", "1 when the store answers, else 0.", readable))
    families.append(gauge("streams", "Open event streams.", request.app.state.streams.count))
    families += child_families("pipeline", gateway.pipeline)
    families += child_families("outbox", gateway.outbox)
    return Response(written(families), media_type="text/plain; version=0.0.4")
