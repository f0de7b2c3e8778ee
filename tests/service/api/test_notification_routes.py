"""Notifications over HTTP; the pipeline's part is done by `service.commit`."""

import threading
from time import monotonic

import httpx
import pytest

from tests.service.conftest import Service, car, on_sqlite
from tidings.service.api.notifications import notification_routes
from tidings.store import notification_id


def _subscribe(client: httpx.Client) -> str:
    return str(client.post("/v1/subscriptions", json={"filter": "brand = mini"}).json()["id"])


def _publish(client: httpx.Client, id: str) -> int:
    return int(client.post("/v1/events", json=car(id)).json()["position"])


def test_what_matched_in_pages(client: httpx.Client, service: Service) -> None:
    one, two = _subscribe(client), _subscribe(client)
    positions = [_publish(client, f"e{n}") for n in range(5)]
    service.commit(1, positions[-1], [(position, [one, two]) for position in positions])
    found, after = [], ""
    while True:
        page = client.get("/v1/notifications", params={"after": after, "limit": 3}).json()
        if not page["items"]:
            break
        found += page["items"]
        after = page["next"]
    assert page["next"] == after  # to go on from, later
    ids = [notification_id(id, "", f"e{n}") for n in range(5) for id in sorted((one, two))]
    assert [notification["id"] for notification in found] == ids
    assert found[0]["event"] == {
        "id": "e0",
        "event_type": ["car"],
        "attributes": {"brand": "mini", "year": 1990},
    }
    assert found[0]["matched_at"].endswith("Z")
    mine = client.get(f"/v1/subscriptions/{one}/notifications").json()["items"]
    assert [notification["id"] for notification in mine] == [notification_id(one, "", f"e{n}") for n in range(5)]


def test_what_a_withdrawn_subscription_found_stays(client: httpx.Client, service: Service) -> None:
    id = _subscribe(client)
    position = _publish(client, "e1")
    service.commit(1, position, [(position, [id])])
    client.delete(f"/v1/subscriptions/{id}")
    assert len(client.get(f"/v1/subscriptions/{id}/notifications").json()["items"]) == 1
    assert len(client.get("/v1/notifications").json()["items"]) == 1


def test_a_removed_event_is_null_and_then_its_notifications_go_too(client: httpx.Client, service: Service) -> None:
    id = _subscribe(client)
    position = _publish(client, "e1")
    service.commit(1, position, [(position, [id])])
    assert service.store.trim(most_bytes=0) == 1
    assert client.get("/v1/notifications").json()["items"][0]["event"] is None
    assert service.store.forget() == 1
    assert client.get("/v1/notifications").json()["items"] == []


def test_nobody_sees_anothers(client: httpx.Client, service: Service) -> None:
    id = _subscribe(client)
    position = _publish(client, "e1")
    service.commit(1, position, [(position, [id])])
    ann = service.joined("ann")
    assert ann.get("/v1/notifications").json() == {"items": [], "next": "0"}
    assert ann.get(f"/v1/subscriptions/{id}/notifications").status_code == 404
    assert service.anonymous().get("/v1/notifications").status_code == 401


def test_waiting_ends_when_something_comes(client: httpx.Client, service: Service) -> None:
    id = _subscribe(client)
    position = _publish(client, "e1")
    timer = threading.Timer(0.3, service.commit, (1, position, [(position, [id])]))
    timer.start()
    page = client.get("/v1/notifications", params={"wait": 30}).json()
    timer.join()
    assert [notification["id"] for notification in page["items"]] == [notification_id(id, "", "e1")]


def test_waiting_goes_on_while_only_others_get_something(client: httpx.Client, service: Service) -> None:
    ann = service.joined("ann")
    hers, mine = _subscribe(ann), _subscribe(client)
    first, second = _publish(client, "e1"), _publish(client, "e2")
    timers = [
        threading.Timer(0.2, service.commit, (1, first, [(first, [hers])])),
        threading.Timer(0.6, service.commit, (first + 1, second, [(second, [mine])])),
    ]
    for timer in timers:
        timer.start()
    page = client.get("/v1/notifications", params={"wait": 30}).json()
    for timer in timers:
        timer.join()
    assert [notification["subscription"] for notification in page["items"]] == [mine]


@on_sqlite
def test_waiting_has_an_end(client: httpx.Client) -> None:
    began = monotonic()
    page = client.get("/v1/notifications", params={"wait": 0.3, "after": "7"}).json()
    assert page == {"items": [], "next": "7"}
    assert monotonic() - began >= 0.3


@on_sqlite
@pytest.mark.parametrize(
    "parameters",
    [{"after": "x"}, {"after": "-1"}, {"after": "9" * 30}, {"limit": "1001"}, {"wait": "31"}, {"wait": "nan"}],
)
def test_wrong_parameters_are_refused(client: httpx.Client, parameters: dict[str, str]) -> None:
    answer = client.get("/v1/notifications", params=parameters)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


@on_sqlite
def test_a_page_of_large_events_ends_early(
    client: httpx.Client, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notification_routes, "_LARGEST_PAGE", 5_000)
    id = _subscribe(client)
    large = [
        {**car(f"e{number}"), "contact": "x" * size} for number, size in enumerate((9_000, 10, 2_000, 2_000, 2_000))
    ]
    positions = [int(client.post("/v1/events", json=event).json()["position"]) for event in large]
    service.commit(1, positions[-1], [(position, [id]) for position in positions])
    pages, after = [], ""
    while True:
        page = client.get("/v1/notifications", params={"after": after}).json()
        if not page["items"]:
            break
        pages.append([one["event"]["id"] for one in page["items"]])
        after = page["next"]
    assert pages == [["e0"], ["e1", "e2", "e3"], ["e4"]]
