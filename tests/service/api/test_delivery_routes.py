"""The log of deliveries over HTTP: every attempt, replays, tests; with a real outbox and a real receiver."""

from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from tests.service.conftest import SETTINGS, Service, on_sqlite
from tests.service.delivering import deliver, find, send, subscribed
from tests.service.figures import figures
from tests.service.receiver import Receiver, receiver
from tidings.service.api.operator_routes import Figuring
from tidings.settings import Settings


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


@pytest.fixture
def settings() -> Settings:
    return replace(SETTINGS, allow_loopback_webhooks=True)


def test_every_attempt_is_told(service: Service, client: httpx.Client, hook: Receiver) -> None:
    hook.status = 500
    made = subscribed(client, kind="webhook", url=hook.url)
    path = f"/v1/subscriptions/{made['id']}/deliveries"
    find(service, made["id"])
    send(service)
    (listed,) = client.get(path).json()["items"]
    assert (listed["state"], listed["attempts"], listed["sequences"]) == ("due", 1, [1])
    assert listed["due"] > listed["created"]
    told = client.get(f"{path}/{listed['number']}").json()
    assert listed == {name: value for name, value in told.items() if name != "tried"}
    (tried,) = told["tried"]
    assert (tried["ok"], tried["status"], tried["response"], tried["attempt"]) == (False, 500, "ok", 1)
    assert tried["request"].startswith(f"POST {hook.url}")
    assert "500" in tried["problem"]
    assert tried["seconds"] > 0
    assert made["secret"] not in client.get(f"{path}/{listed['number']}").text
    assert client.get(f"{path}/{listed['number'] + 1}").status_code == 404
    other = subscribed(client, kind="webhook", url=hook.url)
    assert client.get(f"/v1/subscriptions/{other['id']}/deliveries/{listed['number']}").status_code == 404
    for number in ("0", "-1", "x", "9" * 30):
        assert client.get(f"{path}/{number}").status_code == 404


def test_the_list_in_pages(service: Service, client: httpx.Client, hook: Receiver) -> None:
    made = subscribed(client, kind="webhook", url=hook.url)
    path = f"/v1/subscriptions/{made['id']}/deliveries"
    for number in range(5):
        find(service, made["id"], name=f"e{number}")
    send(service)
    find(service, made["id"], name="e5")
    deliver(service)
    seen, after = [], ""
    while after is not None:
        page = client.get(path, params={"limit": 2, "after": after}).json()
        seen += [one["sequences"][0] for one in page["items"]]
        after = page["next"]
    assert seen == [6, 5, 4, 3, 2, 1]
    assert len(client.get(path, params={"state": "delivered"}).json()["items"]) == 5
    assert len(client.get(path, params={"state": "due"}).json()["items"]) == 1
    assert client.get(path, params={"state": "lost"}).status_code == 422
    assert client.get(path, params={"after": "x"}).status_code == 422


def test_replaying_some_a_range_or_what_failed(service: Service, client: httpx.Client, hook: Receiver) -> None:
    made = subscribed(client, kind="webhook", url=hook.url)
    path = f"/v1/subscriptions/{made['id']}"
    for number in range(4):
        find(service, made["id"], name=f"e{number}")
    send(service)
    assert len(hook.wait(4)) == 4
    first = hook.received[0]
    numbers = [one["number"] for one in client.get(f"{path}/deliveries").json()["items"]]
    assert client.post(f"{path}/replay", json={"deliveries": [numbers[-1], 10**12]}).json() == {"replayed": 1}
    send(service)
    assert hook.wait(5)[4].headers["ce-id"] == first.headers["ce-id"]  # the same id: a duplicate can be told
    assert client.post(f"{path}/replay", json={"from": 2, "to": 3}).json() == {"replayed": 2}
    assert client.post(f"{path}/replay", json={"from": 4}).json() == {"replayed": 1}
    send(service)
    assert sorted(one.json["sequence"] for one in hook.wait(8)[5:]) == [2, 3, 4]
    assert client.post(f"{path}/replay", json={"failed": True}).json() == {"replayed": 0}
    for wrong in ({}, {"failed": False}, {"failed": True, "from": 1}, {"deliveries": []}, {"deliveries": [2**70]}):
        assert client.post(f"{path}/replay", json=wrong).status_code == 422
    stored = client.post("/v1/subscriptions", json={"filter": "price > 5"}).headers["location"]
    refused = client.post(f"{stored}/replay", json={"failed": True})
    assert (refused.status_code, refused.json()["type"]) == (404, "/problems/no-such-channel")


@on_sqlite
def test_a_test_is_sent_at_once(service: Service, client: httpx.Client, hook: Receiver) -> None:
    made = subscribed(client, kind="webhook", url=hook.url)
    path = f"/v1/subscriptions/{made['id']}/test-delivery"
    tried = client.post(path).json()
    assert (tried["ok"], tried["status"]) == (True, 200)
    received = hook.wait(1)[0]
    received.verify(made["secret"])
    assert received.headers["ce-test"] == "true"
    assert received.json["event"]["event_type"] == ["auction"]  # made up, of the first type of the schema
    find(service, made["id"], name="real")
    assert client.post(path).json()["ok"]
    assert hook.wait(2)[1].json["event"]["id"] == "real"
    hook.status = 503
    failed = client.post(path).json()
    assert (failed["ok"], failed["status"]) == (False, 503)
    statuses = [client.post(path).status_code for _ in range(12)]
    assert 429 in statuses
    deliver(service)
    assert [one["state"] for one in client.get(f"/v1/subscriptions/{made['id']}/deliveries").json()["items"]] == ["due"]


@on_sqlite
def test_the_metrics_count_by_kind(service: Service, client: httpx.Client, hook: Receiver) -> None:
    made = subscribed(client, kind="webhook", url=hook.url)
    find(service, made["id"])
    send(service)
    find(service, made["id"], name="e2")
    deliver(service)
    service.app.state.figuring = Figuring(service.gateway)
    told = figures(service.anonymous().get("/metrics").text)
    assert told['tidings_deliveries_due{kind="webhook"}'] == 1
    assert told['tidings_deliveries_total{kind="webhook",outcome="delivered"}'] == 1
    assert told['tidings_delivery_attempts_total{kind="webhook"}'] == 1
    assert told['tidings_outbox_state{state="elsewhere"}'] == 1
