"""Health, readiness and metrics."""

import httpx

from tests.service.conftest import Service, car, on_sqlite
from tests.service.figures import figures
from tidings.service.api.operator_routes import Figuring
from tidings.service.workers.status import ChildStatus
from tidings.store import StoreFailed


def test_ready_tells_how_far_the_pipeline_is(client: httpx.Client, service: Service) -> None:
    client.post("/v1/events", json=car())
    tail = service.store.tail()
    service.commit(1, tail - 1, [])
    service.app.state.figuring = Figuring(service.gateway)
    answer = service.anonymous().get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {
        "ready": True,
        "pipeline": {"state": "elsewhere", "restarts": 0},
        "outbox": {"state": "elsewhere", "restarts": 0},
        "network": {"state": "elsewhere", "restarts": 0},
        "journal": tail,
        "committed": tail - 1,
        "lag": 1,
        "composites_lag": 0,
    }


@on_sqlite
def test_a_failed_pipeline_is_not_ready_but_alive(service: Service) -> None:
    service.gateway.pipeline = ChildStatus("failed", "there is no Java", restarts=5)
    answer = service.anonymous().get("/readyz")
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
    assert answer.json()["reasons"] == ["the pipeline failed: there is no Java"]
    assert answer.json()["pipeline"] == {"state": "failed", "restarts": 5}
    assert service.anonymous().get("/healthz").json() == {"alive": True}
    assert service.client.post("/v1/events", json=car()).status_code == 202


@on_sqlite
def test_a_store_that_fails_is_not_told_in_detail(service: Service) -> None:
    def fail(*_: object) -> None:
        raise StoreFailed("/secret/place/tidings.db", "disk I/O error")

    service.store.figures = fail  # type: ignore[method-assign, assignment]
    service.store.append = fail  # type: ignore[method-assign, assignment]
    ready = service.anonymous().get("/readyz")
    assert (ready.status_code, ready.json()["reasons"]) == (503, ["the store cannot be read"])
    refused = service.client.post("/v1/events", json=car())
    assert (refused.status_code, refused.json()["type"]) == (503, "/problems/store-unavailable")
    assert refused.headers["retry-after"] == "1"
    assert figures(service.anonymous().get("/metrics").text)["tidings_store_readable"] == 0
    assert "secret" not in ready.text + refused.text


def test_the_metrics_count(client: httpx.Client, service: Service) -> None:
    client.post("/v1/events", json=[car("a"), car("a"), car("b", brand="x")])
    client.post("/v1/events", json=car("c"))
    client.post("/v1/subscriptions", json={"filter": "price > 1"})
    client.get("/v1/subscriptions/s-nope")
    client.get("/nowhere/at/all")
    service.app.state.figuring = Figuring(service.gateway)
    told = figures(service.anonymous().get("/metrics").text)
    expected = {
        'tidings_events_total{outcome="accepted"}': 2,
        'tidings_events_total{outcome="duplicate"}': 1,
        'tidings_events_total{outcome="refused"}': 1,
        'tidings_http_requests_total{method="POST",route="/v1/events",status="202"}': 1,
        'tidings_http_requests_total{method="POST",route="/v1/events",status="207"}': 1,
        'tidings_http_requests_total{method="GET",route="/v1/subscriptions/{id}",status="404"}': 1,
        'tidings_http_requests_total{method="GET",route="none",status="404"}': 1,
        'tidings_http_request_seconds_bucket{le="+Inf",method="POST",route="/v1/events"}': 2,
        'tidings_subscriptions{state="active"}': 1,
        "tidings_journal_position": service.store.tail(),
        "tidings_stored_events": 2,
        'tidings_pipeline_state{state="elsewhere"}': 1,
        "tidings_pipeline_restarts_total": 0,
    }
    assert {name: told[name] for name in expected} == expected
