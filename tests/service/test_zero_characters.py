"""A zero character, which PostgreSQL keeps in no text, in everything that a request can say."""

import json
from typing import Any

import httpx
import pytest

from tests.service.conftest import Service, car

ZERO = "a\0b"


def test_an_event_may_have_zeros_wherever_it_has_text(client: httpx.Client, service: Service) -> None:
    event = {**car(ZERO), "source": ZERO, "contact": ZERO}
    first, again = (client.post("/events", json=event) for _ in range(2))
    assert (first.status_code, first.json()["duplicate"]) == (202, False)
    assert again.json() == {**first.json(), "duplicate": True}
    position = first.json()["position"]
    assert json.loads(service.store.events_at([position])[position]) == {**event, "event_type": ["car"]}
    assert client.get(f"/events/{position}").json()["event"]["source"] == ZERO
    question = {"filter": "brand = mini", "id": ZERO, "source": ZERO}
    assert client.post("/explain", json=question).status_code == 200
    wrong = client.post("/events", json=car("e2", brand=ZERO))
    assert (wrong.status_code, wrong.json()["type"]) == (422, "/problems/refused-event")


@pytest.mark.parametrize("filter", ['brand = "a\0b"', 'title contains "a\0b"', "event.source = 'a\0b'", "\0"])
def test_a_filter_with_a_zero_is_refused(client: httpx.Client, filter: str) -> None:
    answer = client.post("/subscriptions", json={"filter": filter})
    assert answer.status_code == 422
    assert answer.json()["detail"]
    assert client.get("/subscriptions").json()["subscriptions"] == []


@pytest.mark.parametrize(
    ("method", "path", "more"),
    [
        ("GET", "/subscriptions", {"params": {"after": ZERO}}),
        ("GET", "/notifications", {"params": {"after": ZERO}}),
        ("GET", "/events", {"params": {"filter": "event.source = 'a\0b'"}}),
        ("GET", "/events", {"params": {"after": ZERO}}),
        ("GET", "/events", {"params": {"since": ZERO}}),
        ("GET", "/subscriptions/a%00b", {}),
        ("DELETE", "/subscriptions/a%00b", {}),
        ("PATCH", "/subscriptions/a%00b", {"json": {"state": "paused"}}),
        ("GET", "/subscriptions/a%00b/notifications", {}),
        ("GET", "/queries/a%00b", {}),
        ("DELETE", "/tokens/a%00b", {}),
        ("PATCH", "/accounts/a%00b", {"json": {"scopes": []}}),
        ("POST", "/schema/domains", {"json": {"name": ZERO, "kind": "numeric"}}),
        ("POST", "/schema/event-types/a%00b/attributes", {"json": {"name": "price"}}),
        ("POST", "/explain", {"json": {"filter": "price > 1", "id": ZERO}}),
    ],
)
def test_nothing_fails_over_a_zero(client: httpx.Client, method: str, path: str, more: dict[str, Any]) -> None:
    assert client.request(method, path, **more).status_code < 500
