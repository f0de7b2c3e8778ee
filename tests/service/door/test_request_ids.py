"""The id of a request, and what the log says of one."""

import json

import pytest

from tests.service.conftest import Service, car, on_sqlite
from tidings.logs import logged
from tidings.store import StoreFailed

pytestmark = on_sqlite


def test_a_well_formed_id_is_given_back_and_told_in_problems(service: Service) -> None:
    answer = service.anonymous().get("/v1/subscriptions/s-nope", headers={"X-Request-Id": "abc-123"})
    assert answer.headers["x-request-id"] == "abc-123"
    assert answer.json()["request_id"] == "abc-123"


@pytest.mark.parametrize("wrong", [None, "", "a b", "x" * 129, "a;b"])
def test_otherwise_one_is_made(service: Service, wrong: str | None) -> None:
    headers = {} if wrong is None else {"X-Request-Id": wrong}
    first, second = (service.anonymous().get("/healthz", headers=headers).headers["x-request-id"] for _ in range(2))
    assert first != second
    assert wrong not in (first, second)
    assert 12 < len(first) <= 32


def test_what_is_logged_of_a_request(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*_: object) -> None:
        raise StoreFailed("/place/tidings.db", "disk I/O error")

    service.store.append = fail  # type: ignore[method-assign, assignment]
    with logged("gateway", "json"):
        first = service.client.post("/v1/events", json=car(), headers={"X-Request-Id": "r-7"})
        assert (first.status_code, first.json()["request_id"]) == (503, "r-7")
        service.gateway.admission.at_once = fail  # type: ignore[method-assign, assignment]
        service.client.get("/v1/subscriptions/%1B[31m%0Aforged")
    text = capsys.readouterr().err
    assert "\x1b" not in text
    first_line, second_line = map(json.loads, text.splitlines())
    assert (first_line["request_id"], first_line["level"]) == ("r-7", "warning")
    assert "disk I/O error" in first_line["message"]
    assert second_line["message"].startswith("GET /v1/subscriptions/\x1b[31m\nforged")


@pytest.mark.parametrize("place", ["confirm", "unsubscribe"])
def test_links_that_let_anyone_act_are_not_logged(
    service: Service, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("unforeseen")

    service.gateway.read = fail  # type: ignore[method-assign, assignment]
    with logged("gateway", "text"):
        answer = service.anonymous().post(f"/{place}/a-token-that-lets-anyone-act%0Aforged")
    assert answer.status_code == 500
    text = capsys.readouterr().err
    assert f"/{place}/… failed" in text
    assert "a-token" not in text
