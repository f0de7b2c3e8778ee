"""What holds for every request: problems, headers, limits, who calls."""

import logging
import socket
import time
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from tests.service.conftest import SETTINGS, Service, car, on_sqlite
from tidings.service.api.requests import SESSION
from tidings.settings import Settings


@on_sqlite
def test_what_is_not_there_is_a_problem_too(client: httpx.Client) -> None:
    answer = client.get("/nowhere")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert answer.json()["type"] == "/problems/not-found"
    assert "/openapi.json" in answer.json()["detail"]
    for path in ("/events", "/subscriptions/s-1"):  # as before there were versions
        assert f"did you mean /v1{path}?" in client.get(path).json()["detail"]
    answer = client.put("/v1/subscriptions")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    assert answer.json()["type"] == "/problems/method-not-allowed"


@on_sqlite
def test_browsers_are_told_to_be_careful(client: httpx.Client) -> None:
    for path in ("/v1/schema", "/nowhere", "/v1/subscriptions"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["referrer-policy"] == "no-referrer"
        assert headers.get("cache-control") in ("no-store", "no-cache")


@on_sqlite
@pytest.mark.parametrize("path", ["/v1/events", "/v1/subscriptions"])
def test_what_nobody_foresaw_is_noted_and_not_told(
    client: httpx.Client, service: Service, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("the inside of things")

    service.store.append = fail  # type: ignore[method-assign, assignment]
    body = car() if path == "/v1/events" else {"filter": "price > 1"}
    with caplog.at_level(logging.ERROR, "tidings.service"):
        answer = client.post(path, json=body)
    assert (answer.status_code, answer.json()["type"]) == (500, "/problems/internal-error")
    assert "inside" not in answer.text
    assert "the inside of things" in caplog.text
    assert client.get("/v1/schema").status_code == 200


@on_sqlite
def test_a_body_that_is_too_large_is_refused_before_it_is_read(client: httpx.Client, service: Service) -> None:
    service.gateway.settings = replace(service.settings, largest_body=10_000)
    for path in ("/v1/events", "/v1/subscriptions", "/v1/schema/domains", "/v1/accounts"):
        answer = client.post(path, content=b"x" * 10_001, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["type"]) == (413, "/problems/body-too-large")

        def pieces() -> Iterator[bytes]:
            for _ in range(11):
                yield b" " * 1_000

        answer = client.post(path, content=pieces(), headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["type"]) == (413, "/problems/body-too-large")


@on_sqlite
@pytest.mark.parametrize("path", ["/v1/subscriptions", "/v1/schema/domains", "/v1/accounts", "/v1/tokens"])
def test_deep_nesting_is_refused(client: httpx.Client, path: str) -> None:
    for body in (b"[" * 50_000, b'{"filter":' * 6_000, b'{"tree":{"a":' * 300 + b"{}" + b"}}" * 300):
        answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422, answer.text


@on_sqlite
@pytest.mark.parametrize("authorization", ["Bearer nope", "Bearer tid_\xff", "bearer  x"])
def test_a_token_that_nobody_has_is_refused(service: Service, authorization: str) -> None:
    headers = {"Authorization": authorization.encode("latin-1")}
    answer = service.anonymous().get("/v1/subscriptions", headers=headers)  # type: ignore[arg-type]
    assert (answer.status_code, answer.json()["type"]) == (401, "/problems/invalid-token")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert service.anonymous().get("/v1/schema", headers=headers).status_code == 200  # type: ignore[arg-type]


@on_sqlite
def test_a_cookie_counts_but_not_from_another_site(service: Service) -> None:
    client = service.anonymous()
    client.cookies.set(SESSION, service.client.headers["Authorization"].removeprefix("Bearer "))
    assert client.get("/v1/subscriptions").status_code == 200
    body = {"filter": "price > 1"}
    for headers in ({}, {"Origin": "https://elsewhere.example"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = client.post("/v1/subscriptions", json=body, headers=headers)
        assert (answer.status_code, answer.json()["type"]) == (403, "/problems/cross-origin")
    assert client.post("/v1/subscriptions", json=body, headers={"Origin": service.address}).status_code == 201


class TestRates:
    @pytest.fixture
    def settings(self) -> Settings:
        return replace(SETTINGS, requests_per_second=20, guest_requests_per_second=5)

    @on_sqlite
    def test_who_asks_too_often_is_sent_away_and_others_are_not(self, service: Service) -> None:
        ann = service.joined("ann")
        answers = [service.client.get("/v1/accounts/me") for _ in range(200)]
        assert {answer.status_code for answer in answers} == {200, 429}
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert refused.json()["type"] == "/problems/too-many-requests"
        assert int(refused.headers["retry-after"]) >= 1
        assert ann.get("/v1/accounts/me").status_code == 200
        guests = [service.anonymous().get("/v1/schema").status_code for _ in range(30)]
        assert 429 in guests
        assert ann.get("/v1/accounts/me").status_code == 200
        assert service.anonymous().get("/healthz").status_code == 200
        wrong = [service.anonymous().get("/v1/schema", headers={"Authorization": f"Bearer {n}"}) for n in range(30)]
        assert 429 in {answer.status_code for answer in wrong}


@on_sqlite
@pytest.mark.parametrize("path", ["/v1/subscriptions", "/v1/schema/domains", "/v1/events"])
def test_a_client_that_goes_away_is_no_defect(service: Service, caplog: pytest.LogCaptureFixture, path: str) -> None:
    token = service.client.headers["Authorization"]
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\nContent-Type: application/json\r\n"
    metrics = service.app.state.metrics.requests
    with caplog.at_level(logging.WARNING), socket.create_connection(("127.0.0.1", service.port)) as half:
        half.sendall(f"{head}Content-Length: 1000\r\n\r\n{{".encode())
        half.shutdown(socket.SHUT_RDWR)
        while not any(status == 499 for _, _, status in list(metrics)):
            assert not any(status == 500 for _, _, status in list(metrics))
            time.sleep(0.01)
    assert caplog.text == ""
