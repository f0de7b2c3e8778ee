"""What counting one request costs, ours and prometheus_client's: `python -m tests.service.measure_metrics`."""

from __future__ import annotations

from collections import Counter
from timeit import repeat

import prometheus_client

from tidings.service.metrics import BUCKETS, Metrics

_TIMES = 100_000
_REQUEST = ("POST", "/v1/events", 202, 0.003)


def main() -> None:
    registry = prometheus_client.CollectorRegistry()
    requests = prometheus_client.Counter("requests", "", ["method", "route", "status"], registry=registry)
    seconds = prometheus_client.Histogram("seconds", "", ["method", "route"], buckets=BUCKETS, registry=registry)
    children = (requests.labels("POST", "/v1/events", 202), seconds.labels("POST", "/v1/events"))

    def labelled(method: str, route: str, status: int, taken: float) -> None:
        requests.labels(method, route, status).inc()
        seconds.labels(method, route).observe(taken)

    def cached(method: str, route: str, status: int, taken: float) -> None:
        children[0].inc()
        children[1].observe(taken)

    ways = {"ours": Metrics(Counter()).observe, "prometheus_client": labelled, "its children, cached": cached}
    for name, observe in ways.items():
        best = min(repeat(lambda observe=observe: observe(*_REQUEST), number=_TIMES, repeat=7))  # type: ignore[misc]
        print(f"{name}: {best / _TIMES * 1e6:.1f} µs a request")


if __name__ == "__main__":
    main()
