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
    one = client.post("/events", json=event)
    assert (one.status_code, one.json()["type"]) == (422, "/problems/refused-event")
    (error,) = one.json()["errors"]
    assert (error["attribute"], error["message"]) == (member, f"the {member} contains a zero character (U+0000)")
    several = client.post("/events", json=[event])
    assert several.json()["refused"][0]["errors"] == [error]
    lines = client.post("/events", content=json.dumps(event), headers={"Content-Type": "application/x-ndjson"})
    assert lines.json()["refused"][0]["errors"] == [error]


def test_an_event_may_have_zeros_in_other_text(client: httpx.Client, service: Service) -> None:
    event = {**car("e1"), "contact": ZERO}
    first, again = (client.post("/events", json=event) for _ in range(2))
    assert (first.status_code, first.json()["duplicate"]) == (202, False)
    assert again.json() == {**first.json(), "duplicate": True}
    position = first.json()["position"]
    assert json.loads(service.store.events_at([position])[position]) == {**event, "event_type": ["car"]}
    assert client.get(f"/events/{position}").json()["event"]["contact"] == ZERO
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
