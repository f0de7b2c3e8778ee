"""The figures of /metrics: what the middleware counts, and what the store, the plan and the children say of themselves.

prometheus_client writes the text. Requests are counted in plain dictionaries, which takes 1.7 µs a request; the
library's labelled counter and histogram take 13, and 4.4 with their children cached
(`tests/service/measure_metrics.py`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator

from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector, CollectorRegistry

from tidings.pipeline.plans.plan_figures import PlanFigures
from tidings.service.workers.status import ChildStatus
from tidings.store import DeliveryFigures, Figures

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds
_STATES = ("elsewhere", "starting", "running", "waiting", "failed", "stopped")
Row = tuple[tuple[str, ...], float]


class Metrics:
    """Counted by the middleware and by the publish actions; in one event loop, so nothing is locked."""

    def __init__(self, events: Counter[str]) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.events = events
        self._seconds: dict[tuple[str, str], list[int]] = {}
        self._sums: dict[tuple[str, str], float] = {}

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        self.requests[method, route, status] += 1
        counts = self._seconds.get((method, route))
        if counts is None:
            counts = self._seconds[method, route] = [0] * (len(BUCKETS) + 1)
            self._sums[method, route] = 0.0
        counts[bisect_left(BUCKETS, seconds)] += 1
        self._sums[method, route] += seconds

    def families(self) -> Iterator[Metric]:
        requests = [((method, route, str(status)), count) for (method, route, status), count in self.requests.items()]
        labels = ("method", "route", "status")
        yield counter("http_requests_total", "Requests by route and status.", sorted(requests), labels)
        taken = HistogramMetricFamily("tidings_http_request_seconds", "Duration of requests.", labels=labels[:2])
        for key, counts in sorted(self._seconds.items()):
            reached = 0
            buckets = []
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                reached += count
                buckets.append((bound, reached))
            taken.add_metric(key, buckets, self._sums[key])
        yield taken
        outcomes = [((outcome,), count) for outcome, count in self.events.items()]
        yield counter("events_total", "Events published over HTTP, by outcome.", outcomes, ("outcome",))


def gauge(name: str, meaning: str, rows: float | Iterable[Row], labels: tuple[str, ...] = ()) -> Metric:
    return _filled(GaugeMetricFamily(f"tidings_{name}", meaning, labels=labels), rows)


def counter(name: str, meaning: str, rows: float | Iterable[Row], labels: tuple[str, ...] = ()) -> Metric:
    return _filled(CounterMetricFamily(f"tidings_{name}", meaning, labels=labels), rows)


def _filled(family: GaugeMetricFamily | CounterMetricFamily, rows: float | Iterable[Row]) -> Metric:
    for labels, value in [((), rows)] if isinstance(rows, int | float) else rows:
        family.add_metric(labels, value)
    return family


def written(families: Iterable[Metric]) -> bytes:
    """In Prometheus's text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collected(families))
    return generate_latest(registry)


class _Collected(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def store_families(figures: Figures) -> Iterator[Metric]:
    states = [(("active",), figures.active), (("paused",), figures.paused)]
    yield gauge("subscriptions", "Subscriptions, by state.", states, ("state",))
    yield gauge("journal_position", "Last position of the journal.", figures.tail)
    yield gauge("committed_position", "Position up to which all notifications are stored.", figures.committed)
    yield gauge("lag", "Positions that the pipeline has yet to commit.", figures.lag)
    yield gauge("composites_lag", "Positions that the composites' query has yet to commit.", figures.composites_lag)
    yield counter("late_events_total", "Events that came too late to take part in composites.", figures.late)
    yield counter(
        "dropped_instances_total",
        "Instances of composites dropped because too many waited, and keys of events that have too many.",
        figures.crowded,
    )
    yield counter("notifications_total", "Notifications stored.", figures.notifications)
    yield gauge("stored_events", "Events in the store.", figures.events)
    yield gauge("stored_event_bytes", "Size of the events in the store.", figures.event_bytes)
    yield gauge("schema_version", "Version of the schema.", figures.schema_version)
    yield counter("dead_letters_total", "Refused events from files and streams.", figures.dead_letters)
    yield counter("matches_dropped_total", "Matches beyond their account's quota.", figures.dropped)


def delivery_families(figures: Iterable[DeliveryFigures]) -> Iterator[Metric]:
    """By kind of channel."""
    all_kinds, kind = list(figures), ("kind",)

    def rows(member: str) -> list[Row]:
        return [((one.kind,), getattr(one, member)) for one in all_kinds]

    yield gauge("deliveries_due", "Deliveries not done yet.", rows("due"), kind)
    yield counter("delivery_attempts_total", "Attempts to deliver.", rows("attempts"), kind)
    yield counter("delivery_failures_total", "Attempts that failed.", rows("failures"), kind)
    yield counter("delivery_seconds_total", "Total duration of attempts.", rows("seconds"), kind)
    done = [((one.kind, state), getattr(one, state)) for one in all_kinds for state in ("delivered", "dead")]
    yield counter("deliveries_total", "Deliveries done, by outcome.", done, ("kind", "outcome"))


def plan_families(plan: PlanFigures | None) -> Iterator[Metric]:
    if plan is None:
        return
    yield gauge("plan_version", "Version of the newest plan: milliseconds since 1970.", plan.version)
    yield gauge("plan_covers_position", "Position up to which the plan has all changes.", plan.covers)
    yield gauge("plan_shards", "Shards of the plan.", len(plan.shards))
    yield gauge("plan_segments", "Segments of the plan.", plan.segments)
    yield gauge("plan_bytes", "Size of the plan.", plan.bytes)


def child_families(name: str, child: ChildStatus) -> Iterator[Metric]:
    states = [((state,), int(state == child.state)) for state in _STATES]
    yield gauge(f"{name}_state", f"1 for the state that the {name} is in.", states, ("state",))
    yield counter(f"{name}_restarts_total", f"Restarts of the {name}.", child.restarts)
