"""Subscriptions over HTTP."""

from dataclasses import replace

import httpx
import pytest

from tests.service.conftest import Service, car, on_sqlite
from tidings.store import Subscribe


def test_the_whole_life_of_a_subscription(client: httpx.Client, service: Service) -> None:
    posted = client.post("/v1/subscriptions", json={"filter": "brand=mini and price<900"})
    assert posted.status_code == 201
    made = posted.json()
    assert made["id"].startswith("s-")
    assert len(made["id"]) == 22
    assert made["filter"] == "brand = 'mini' and price < 900"
    assert (made["state"], made["expiry"], made["channel"]) == ("active", None, {"kind": "stored"})
    assert (made["warnings"], made["since"]) == ([], service.store.tail())
    path = posted.headers["location"]
    assert path == f"/v1/subscriptions/{made['id']}"
    assert service.store.subscription(made["id"]).owner == "tester"
    del made["warnings"]
    assert client.get(path).json() == made
    paused = client.patch(path, json={"state": "paused"}).json()
    tail = service.store.tail()
    assert (paused["state"], paused["position"]) == ("paused", tail)
    again = client.patch(path, json={"state": "paused"})  # it is so already
    assert (again.status_code, again.json().get("position")) == (200, None)
    assert service.store.tail() == tail
    changed = client.patch(path, json={"filter": "price > 5", "expiry": "2999-01-01", "state": "active"}).json()
    assert (changed["filter"], changed["expiry"], changed["state"]) == ("price > 5", "2999-01-01T00:00:00Z", "active")
    assert client.patch(path, json={"expiry": None, "channel": {"kind": "stored"}}).json()["expiry"] is None
    assert changed["position"] == tail + 2  # an edit, and then it is resumed
    withdrawn = client.delete(path)
    assert (withdrawn.status_code, withdrawn.json()) == (200, {"id": made["id"], "position": service.store.tail()})
    assert client.get(path).status_code == client.delete(path).status_code == 404


def test_a_wrong_filter_is_pointed_at(client: httpx.Client) -> None:
    answer = client.post("/v1/subscriptions", json={"filter": "price > 3 and\nbrandy = 'mini'"})
    problem = answer.json()
    assert answer.status_code == 422
    assert (problem["type"], problem["line"], problem["column"]) == ("/problems/unknown-attribute", 2, 1)
    assert "did you mean 'brand'?" in problem["detail"]
    assert problem["text"] == "price > 3 and\nbrandy = 'mini'"
    answer = client.post("/v1/subscriptions", json={"filter": "price >"})
    assert answer.json()["expected"]


@on_sqlite
@pytest.mark.parametrize(
    ("filter", "warning"),
    [
        ("price > 5 and price < 3", "can never match"),
        ("event_type exists", "matches every event"),
        ("not (paint = 'red')", "may have several values"),
        ("not (paint contains 'red')", "to include them, add: or not (paint exists)"),
    ],
)
def test_traps_are_told(client: httpx.Client, filter: str, warning: str) -> None:
    assert warning in " ".join(client.post("/v1/subscriptions", json={"filter": filter}).json()["warnings"])


@on_sqlite
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"filter": "price > 5", "channel": {"kind": "webhok"}}, "unknown-channel"),
        ({"filter": "price > 5", "channel": {"kind": "webhook"}}, "invalid-url"),
        ({"filter": "price > 5", "expiry": "2001-01-01"}, "invalid-time"),
        ({"filter": "price > 5", "expiry": "tomorrow"}, "invalid-time"),
        ({"filter": "price > 5", "id": "mine"}, "invalid-body"),
        ({"filter": 5}, "invalid-body"),
        ({}, "invalid-body"),
        ([], "invalid-body"),
        ({"filter": "title = '\0'"}, "invalid-subscription"),
    ],
)
def test_what_cannot_stand_is_refused(client: httpx.Client, service: Service, body: object, kind: str) -> None:
    tail = service.store.tail()
    answer = client.post("/v1/subscriptions", json=body)
    assert (answer.status_code, answer.json()["type"]) == (422, f"/problems/{kind}")
    assert service.store.tail() == tail


def test_a_bad_edit_changes_nothing(client: httpx.Client, service: Service) -> None:
    path = client.post("/v1/subscriptions", json={"filter": "price > 5"}).headers["location"]
    before = client.get(path).json()
    for body in ({}, {"filter": "nope > 5", "state": "paused"}, {"state": "gone"}, {"expiry": "2001-01-01"}):
        assert client.patch(path, json=body).status_code == 422
    assert client.get(path).json() == before


def test_the_list_in_pages(client: httpx.Client, service: Service) -> None:
    ids = sorted(client.post("/v1/subscriptions", json={"filter": f"price > {n}"}).json()["id"] for n in range(7))
    service.joined("ann").post("/v1/subscriptions", json={"filter": "price > 1"})
    for id in ids[::2]:
        client.patch(f"/v1/subscriptions/{id}", json={"state": "paused"})
    assert _all(client, limit=3) == ids
    assert _all(client, limit=7) == ids
    assert _all(client, limit=2, state="paused") == ids[::2]
    assert _all(client, limit=100, state="active") == ids[1::2]
    assert client.get("/v1/subscriptions", params={"limit": 0}).status_code == 422
    assert client.get("/v1/subscriptions", params={"after": "\0"}).status_code == 422


def test_nobody_sees_or_touches_what_is_anothers(client: httpx.Client, service: Service) -> None:
    path = client.post("/v1/subscriptions", json={"filter": "price > 5"}).headers["location"]
    service.store.append([Subscribe("nobodys", "price > 5")])
    ann = service.joined("ann")
    assert ann.get("/v1/subscriptions").json()["items"] == []
    for place in (path, "/v1/subscriptions/nobodys", "/v1/subscriptions/s-none", "/v1/subscriptions/%00"):
        assert ann.get(place).status_code == 404
        assert ann.patch(place, json={"state": "paused"}).status_code == 404
        assert ann.delete(place).status_code == 404
        assert ann.get(f"{place}/notifications").status_code == 404
    assert client.get(path).json()["state"] == "active"


@on_sqlite
def test_a_quota_is_kept(client: httpx.Client, service: Service) -> None:
    service.gateway.settings = replace(service.settings, subscriptions_per_owner=2)
    answers = [client.post("/v1/subscriptions", json={"filter": f"price > {n}"}) for n in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 403]
    assert answers[2].json()["type"] == "/problems/quota-reached"
    client.delete(answers[0].headers["location"])
    assert client.post("/v1/subscriptions", json={"filter": "price > 9"}).status_code == 201


def _all(client: httpx.Client, **parameters: object) -> list[str]:
    found: list[str] = []
    after = ""
    while after is not None:
        page = client.get("/v1/subscriptions", params={"after": after, **parameters}).json()  # type: ignore[dict-item]
        found += [one["id"] for one in page["items"]]
        after = page["next"]
    return found


def test_names_and_notes(client: httpx.Client, service: Service) -> None:
    made = client.post("/v1/subscriptions", json={"filter": "price < 5", "name": " Cheap ", "note": "a\r\nb"}).json()
    assert (made["name"], made["note"]) == ("Cheap", "a\nb")
    path = f"/v1/subscriptions/{made['id']}"
    tail = service.store.tail()
    changed = client.patch(path, json={"name": "Cheapest"}).json()
    assert (changed["name"], changed["note"], changed["position"]) == ("Cheapest", "a\nb", tail + 1)
    assert service.store.next_change(tail) is None, "nothing for the planner"
    assert "position" not in client.patch(path, json={"name": "Cheapest"}).json(), "it is so already"
    assert client.patch(path, json={"note": None}).json()["note"] is None
    (listed,) = client.get("/v1/subscriptions").json()["items"]
    assert (listed["name"], listed["note"]) == ("Cheapest", None)
    assert client.post("/v1/subscriptions", json={"filter": "price < 6", "name": "Cheapest"}).status_code == 201
    wrong = client.post("/v1/subscriptions", json={"filter": "price < 5", "name": "a\nb"})
    assert (wrong.status_code, wrong.json()["type"]) == (422, "/problems/invalid-subscription")
    assert "its name must be one line of at most 100 printable characters" in wrong.json()["detail"]


def test_a_key_with_another_name_is_another_request(client: httpx.Client) -> None:
    key = {"Idempotency-Key": "k"}
    first = client.post("/v1/subscriptions", json={"filter": "price < 5", "name": "a"}, headers=key)
    again = client.post("/v1/subscriptions", json={"filter": "price < 5", "name": "a"}, headers=key)
    other = client.post("/v1/subscriptions", json={"filter": "price < 5", "name": "b"}, headers=key)
    assert (first.status_code, again.json(), other.status_code) == (201, first.json(), 422)


def test_notifications_say_the_name(client: httpx.Client, service: Service) -> None:
    made = client.post("/v1/subscriptions", json={"filter": "price < 5000", "name": "Cheap"}).json()
    position = client.post("/v1/events", json=car()).json()["position"]
    service.commit(1, position, [(position, [made["id"]])])
    (found,) = client.get("/v1/notifications").json()["items"]
    assert (found["subscription"], found["subscription_name"]) == (made["id"], "Cheap")
    client.patch(f"/v1/subscriptions/{made['id']}", json={"name": None})
    assert "subscription_name" not in client.get("/v1/notifications").json()["items"][0]
