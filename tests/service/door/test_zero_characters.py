"""A zero character, which PostgreSQL keeps in no text, in everything that a request can say."""

import json
from typing import Any

import httpx
import pytest

from tests.service.conftest import Service, car

ZERO = "a\0b"


@pytest.mark.parametrize("member", ["id", "source"])
def test_no_id_or_source_may_have_a_zero(client: httpx.Client, member: str) -> None:
    event = {**car("e1"), member: ZERO}
    one = client.post("/v1/events", json=event)
    assert (one.status_code, one.json()["type"]) == (422, "/problems/invalid-event")
    (error,) = one.json()["errors"]
    assert (error["attribute"], error["message"]) == (member, f"the {member} contains a zero character (U+0000)")
    several = client.post("/v1/events", json=[event])
    assert several.json()["results"][0]["errors"] == [error]
    lines = client.post("/v1/events", content=json.dumps(event), headers={"Content-Type": "application/x-ndjson"})
    assert lines.json()["results"][0]["errors"] == [error]


def test_an_event_may_have_zeros_in_other_text(client: httpx.Client, service: Service) -> None:
    event = {**car("e1"), "contact": ZERO}
    first, again = (client.post("/v1/events", json=event) for _ in range(2))
    assert (first.status_code, first.json()["duplicate"]) == (202, False)
    assert again.json() == {**first.json(), "duplicate": True}
    position = first.json()["position"]
    assert json.loads(service.store.events_at([position])[position]) == {**event, "event_type": ["car"]}
    assert client.get(f"/v1/events/{position}").json()["event"]["contact"] == ZERO
    wrong = client.post("/v1/events", json=car("e2", brand=ZERO))
    assert (wrong.status_code, wrong.json()["type"]) == (422, "/problems/invalid-event")


@pytest.mark.parametrize("filter", ['brand = "a\0b"', 'title contains "a\0b"', "event.source = 'a\0b'", "\0"])
def test_a_filter_with_a_zero_is_refused(client: httpx.Client, filter: str) -> None:
    answer = client.post("/v1/subscriptions", json={"filter": filter})
    assert answer.status_code == 422
    assert answer.json()["detail"]
    assert client.get("/v1/subscriptions").json()["items"] == []


@pytest.mark.parametrize(
    ("method", "path", "more"),
    [
        ("GET", "/v1/subscriptions", {"params": {"after": ZERO}}),
        ("GET", "/v1/notifications", {"params": {"after": ZERO}}),
        ("GET", "/v1/events", {"params": {"filter": "event.source = 'a\0b'"}}),
        ("GET", "/v1/events", {"params": {"after": ZERO}}),
        ("GET", "/v1/events", {"params": {"since": ZERO}}),
        ("GET", "/v1/subscriptions/a%00b", {}),
        ("DELETE", "/v1/subscriptions/a%00b", {}),
        ("PATCH", "/v1/subscriptions/a%00b", {"json": {"state": "paused"}}),
        ("GET", "/v1/subscriptions/a%00b/notifications", {}),
        ("GET", "/v1/queries/a%00b", {}),
        ("DELETE", "/v1/tokens/a%00b", {}),
        ("PATCH", "/v1/accounts/a%00b", {"json": {"scopes": []}}),
        ("POST", "/v1/schema/domains", {"json": {"name": ZERO, "kind": "numeric"}}),
        ("POST", "/v1/schema/event-types/a%00b/attributes", {"json": {"name": "price"}}),
        ("POST", "/v1/filters/explain", {"json": {"filter": "price > 1", "id": ZERO}}),
    ],
)
def test_nothing_fails_over_a_zero(client: httpx.Client, method: str, path: str, more: dict[str, Any]) -> None:
    assert client.request(method, path, **more).status_code < 500
