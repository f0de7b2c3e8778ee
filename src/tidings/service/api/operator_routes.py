"""What operators watch: /healthz and /metrics; `readiness` has /readyz."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
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
from tidings.service.workers.status import ChildStatus
from tidings.store import DeliveryFigures, Figures

router = APIRouter(tags=["operations"], route_class=GuardedRoute)

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds
_PATIENCE = 5.0  # seconds for the store to answer
_FRESH = 1.0  # seconds that figures are shown again: counting subscriptions takes a while when there are many
_STATES = ("elsewhere", "starting", "running", "waiting", "failed", "stopped")
_JUMP = "By how much the clock is wrong; unless it is 0, nothing is accepted."


class Health(Shape, frozen=True):
    alive: bool


class Metrics:
    """Counted by the entrance and by whoever publishes; in one event loop, so nothing is locked."""

    def __init__(self, events: Counter[str]) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.events = events
        self._seconds: dict[tuple[str, str], list[int]] = {}
        self._sums: Counter[tuple[str, str]] = Counter()

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        self.requests[method, route, status] += 1
        counts = self._seconds.get((method, route))
        if counts is None:
            counts = self._seconds[method, route] = [0] * (len(_BUCKETS) + 1)
        counts[bisect_left(_BUCKETS, seconds)] += 1
        self._sums[method, route] += seconds  # type: ignore[assignment]

    def lines(self) -> Iterator[str]:
        rows = (
            (f'method="{method}",route="{_escaped(route)}",status="{status}"', count)
            for (method, route, status), count in sorted(self.requests.items())
        )
        yield from _family("http_requests_total", "counter", "Requests by route and status.", rows)
        yield from _head("http_request_seconds", "histogram", "How long requests took.")
        for (method, route), counts in sorted(self._seconds.items()):
            labels = f'method="{method}",route="{_escaped(route)}"'
            reached = 0
            for bound, count in zip((*map(str, _BUCKETS), "+Inf"), counts, strict=True):
                reached += count
                yield f'tidings_http_request_seconds_bucket{{{labels},le="{bound}"}} {reached}'
            yield f"tidings_http_request_seconds_sum{{{labels}}} {float(self._sums[method, route]):.6f}"
            yield f"tidings_http_request_seconds_count{{{labels}}} {reached}"
        outcomes = ((f'outcome="{outcome}"', count) for outcome, count in self.events.items())
        yield from _family("events_total", "counter", "Published events by outcome, over HTTP.", outcomes)


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
    """Whether the service runs at all."""
    return answered({"alive": True})


_TEXT = {200: {"description": "Prometheus's text form", "content": {"text/plain": {"schema": {"type": "string"}}}}}


@router.get("/metrics", responses=_TEXT)  # type: ignore[arg-type]
async def metrics(request: Request, gateway: GatewayOf) -> Response:
    """Counts since the start of this process, and the store's figures."""
    lines = list(request.app.state.metrics.lines())
    try:
        lines += _figure_lines(await request.app.state.figuring.figures())
        lines += _delivery_lines(await request.app.state.figuring.deliveries())
        clock = await asyncio.wait_for(gateway.read(gateway.store.clock.look), _PATIENCE)
        lines += _family("clock_jump_seconds", "gauge", _JUMP, [("", clock.jump / 1e6)])
        readable = 1
    except (StoreError, TimeoutError):
        readable = 0
    lines += _plan_lines(await request.app.state.figuring.plan())
    lines += _family("store_readable", "gauge", "Whether the store answers.", [("", readable)])
    lines += _family("streams", "gauge", "Open now.", [("", request.app.state.streams.count)])
    for name, child in _children(gateway):
        states = [(f'state="{state}"', int(state == child.state)) for state in _STATES]
        lines += _family(f"{name}_state", "gauge", f"1 for the state that the {name} is in.", states)
        lines += _family(f"{name}_restarts_total", "counter", "How often it was started again.", [("", child.restarts)])
    return Response("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


def _children(gateway: Gateway) -> tuple[tuple[str, ChildStatus], ...]:
    return ("pipeline", gateway.pipeline), ("outbox", gateway.outbox)


def _figure_lines(figures: Figures) -> Iterator[str]:
    standing = [('state="active"', figures.active), ('state="paused"', figures.paused)]
    yield from _family("subscriptions", "gauge", "Those that stand.", standing)
    for name, kind, told, value in (
        ("journal_position", "gauge", "The last position of the journal.", figures.tail),
        ("committed_position", "gauge", "Up to where all notifications are stored.", figures.committed),
        ("lag", "gauge", "Positions that the pipeline has yet to commit.", figures.lag),
        ("notifications_total", "counter", "Notifications stored ever.", figures.notifications),
        ("stored_events", "gauge", "Events that were not removed.", figures.events),
        ("stored_event_bytes", "gauge", "Their size.", figures.event_bytes),
        ("schema_version", "gauge", "Of the newest schema.", figures.schema_version),
        ("dead_letters_total", "counter", "Refused events of files and streams.", figures.dead_letters),
        ("matches_dropped_total", "counter", "Matches beyond the quota of their account, ever.", figures.dropped),
    ):
        yield from _family(name, kind, told, [("", value)])


def _delivery_lines(figures: list[DeliveryFigures]) -> Iterator[str]:
    kinds = [f'kind="{_escaped(one.kind)}"' for one in figures]
    outcomes = [
        (f'{kind},outcome="{outcome}"', count)
        for kind, one in zip(kinds, figures, strict=True)
        for outcome, count in (("delivered", one.delivered), ("dead", one.dead))
    ]
    for name, metric, told, values in (
        ("deliveries_due", "gauge", "Deliveries that are not done yet.", [one.due for one in figures]),
        ("delivery_attempts_total", "counter", "Attempts to deliver.", [one.attempts for one in figures]),
        ("delivery_failures_total", "counter", "Attempts that failed.", [one.failures for one in figures]),
        ("delivery_seconds_total", "counter", "How long attempts took, in all.", [one.seconds for one in figures]),
    ):
        yield from _family(name, metric, told, zip(kinds, values, strict=True))
    yield from _family("deliveries_total", "counter", "Deliveries that are done, by outcome.", outcomes)


def _plan_lines(plan: PlanFigures | None) -> Iterator[str]:
    if plan is None:
        return
    for name, told, value in (
        ("plan_version", "Of the newest plan, in milliseconds since 1970.", plan.version),
        ("plan_covers_position", "Up to where all changes are in it.", plan.covers),
        ("plan_shards", "That it is split into.", len(plan.shards)),
        ("plan_segments", "That it consists of.", plan.segments),
        ("plan_bytes", "That it takes.", plan.bytes),
    ):
        yield from _family(name, "gauge", told, [("", value)])


def _family(name: str, kind: str, told: str, rows: Iterable[tuple[str, float]]) -> Iterator[str]:
    yield from _head(name, kind, told)
    for labels, value in rows:
        yield f"tidings_{name}{{{labels}}} {value}" if labels else f"tidings_{name} {value}"


def _head(name: str, kind: str, told: str) -> Iterator[str]:
    yield f"# HELP tidings_{name} {told}"
    yield f"# TYPE tidings_{name} {kind}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
