"""Whether the service can do its work: `/readyz`, with every reason where it cannot.

It is ready when writes succeed, the clock is right, the pipeline keeps up or moves, the outbox sends, and the network
process runs where the server has a name. What runs elsewhere is judged by what it leaves in the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.errors import Explained, ServiceError, StoreError
from tidings.service.api import problems
from tidings.service.api.requests import GatewayOf, answered
from tidings.service.api.shapes import Shape, says
from tidings.service.door.guarded_route import GuardedRoute
from tidings.service.door.scope_check import CALLER
from tidings.service.gateway import Gateway
from tidings.service.workers.status import OFF, ChildStatus

router = APIRouter(tags=["operations"], route_class=GuardedRoute)

PATIENCE = 15.0  # seconds that a child may be silent, and that nothing may be committed while something waits
COMPOSITES_PATIENCE = 60.0  # seconds: their query begins with the first composite, and its batches are larger
_STORE_PATIENCE = 5.0  # seconds for the store to answer
_LONGEST_REASON = 500


class NotReady(Explained, ServiceError):
    """Every reason, and what is known all the same."""

    reasons: tuple[str, ...]
    seen: dict[str, Any]
    template = "the service is not ready: {all}"

    @property
    def all(self) -> str:
        return "; ".join(self.reasons)

    @property
    def members(self) -> dict[str, Any]:
        return {"reasons": list(self.reasons), **self.seen}


class ChildSeen(Shape, frozen=True):
    state: str
    restarts: int


class Ready(Shape, frozen=True):
    ready: bool
    pipeline: ChildSeen
    outbox: ChildSeen
    network: ChildSeen
    journal: int
    committed: int
    lag: int
    composites_lag: int


@router.get("/readyz", responses=says(Ready, "The service is ready"))
async def readyz(request: Request, gateway: GatewayOf) -> Response:
    """Check that writes succeed, the clock is right, the pipeline makes progress, the outbox sends, and the network
    process runs where the server has a name. 503 lists every reason why not."""
    reasons, seen, now = [], {}, monotonic()
    is_insider = gateway.settings.on_loopback or "operate" in getattr(request.scope[CALLER], "scopes", ())
    network = OFF if gateway.network is None else gateway.network.status
    for name, child in (("pipeline", gateway.pipeline), ("outbox", gateway.outbox), ("network", network)):
        seen[name] = {"state": child.state, "restarts": child.restarts}
        called = "network process" if name == "network" else name
        reasons += [_told(problem, detail, is_insider) for problem, detail in _of_child(called, child, now)]
    beats = list(request.app.state.pulse.beats)
    stuck = stuck_seconds([(beat.at, beat.seen.lag, beat.seen.committed) for beat in beats], now)
    if stuck >= PATIENCE:
        reasons.append(f"events wait and the pipeline has committed nothing for {stuck:.0f} s")
    composites = [(beat.at, beat.seen.composites_lag, beat.seen.composites_committed) for beat in beats]
    if (stuck := stuck_seconds(composites, now)) >= COMPOSITES_PATIENCE:
        told = f"events wait and the composites' query has committed nothing for {stuck:.0f} s"
        reasons.append(f"{told}; look into pipeline.log, and restart the service if it does not move")
    try:
        clock = await asyncio.wait_for(gateway.read(gateway.store.clock.look), _STORE_PATIENCE)
        if not clock.is_right:
            reasons.append(str(clock.problem))
        if gateway.outbox.state == "elsewhere":
            away = await asyncio.wait_for(gateway.read(gateway.store.seconds_without_outbox), _STORE_PATIENCE)
            if away >= PATIENCE:
                reasons.append("deliveries wait and no outbox has the lease; start `tidings outbox`")
        figures = await request.app.state.figuring.figures()
        seen |= {"journal": figures.tail, "committed": figures.committed, "lag": figures.lag}
        seen |= {"composites_lag": figures.composites_lag}
    except (StoreError, TimeoutError):
        reasons.append("the store cannot be read")
    failed = await _still_failing(gateway)
    if failed is not None:
        reasons.append(_told("the last write to the store failed", str(failed), is_insider))
    if reasons:
        return problems.answer(NotReady(tuple(reasons), seen))
    return answered({"ready": True, **seen})


def stuck_seconds(seen: Sequence[tuple[float, int, int]], now: float) -> float:
    """For how long the committed position has stayed put while there was a lag; of times, lags and positions."""
    since = now
    for at, lag, committed in reversed(seen):
        if not lag or committed != seen[-1][2]:
            break
        since = at
    return now - since


def _of_child(name: str, child: ChildStatus, now: float) -> Iterator[tuple[str, str]]:
    """What keeps it from its work, and more for insiders."""
    if child.state == "failed":
        yield f"the {name} failed", child.reason
    elif child.state == "waiting":
        yield f"the {name} is being restarted", child.reason
    elif child.state == "stopped":
        yield f"the {name} is stopped", ""
    elif child.state == "running":
        if now - child.heard >= PATIENCE:
            yield f"the {name} hangs: it has said nothing for {now - child.heard:.0f} s", ""
        elif child.leads is False:
            yield f"the {name} waits for the lease that another one holds", ""


def _told(problem: str, detail: str, is_insider: bool) -> str:
    """Details may show paths and programs: only for operators, and where only this machine can come in."""
    return f"{problem}: {problems.legible(detail)[:_LONGEST_REASON]}" if detail and is_insider else problem


async def _still_failing(gateway: Gateway) -> StoreError | None:
    """The problem of a write that failed, unless writes succeed by now: nobody may publish until we are ready, so we
    try ourselves."""
    if (before := gateway.failed_write) is None:
        return None
    try:
        await asyncio.wait_for(gateway.write(gateway.store.try_write), _STORE_PATIENCE)
    except StoreError as problem:
        return problem
    except TimeoutError:
        return before
    return gateway.failed_write
