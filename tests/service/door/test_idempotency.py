"""Idempotency-Key: the same request twice does its work once."""

import json
import threading

import httpx
import pytest

from tests.service.conftest import PASSWORD, Service, car, on_sqlite
from tidings.service.actions.keys import digest

KEY = {"Idempotency-Key": "7d1f"}


def test_a_repeated_request_gets_the_first_answer(client: httpx.Client, service: Service) -> None:
    answers = [client.post("/v1/subscriptions", json={"filter": "price > 5"}, headers=KEY) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert answers[1].headers["idempotency-replayed"] == "true"
    assert answers[0].headers["location"] == f"/v1/subscriptions/{answers[0].json()['id']}"
    assert answers[1].headers["location"] == answers[0].headers["location"]
    assert service.store.count_subscriptions("tester") == 1


def test_the_key_of_another_request_is_refused(client: httpx.Client) -> None:
    client.post("/v1/subscriptions", json={"filter": "price > 5"}, headers=KEY)
    answer = client.post("/v1/subscriptions", json={"filter": "price > 6"}, headers=KEY)
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/idempotency-key-reused")
    answer = client.post("/v1/schema/domains", json={"name": "w", "kind": "numeric"}, headers=KEY)
    assert answer.status_code == 422


def test_keys_of_two_users_are_two(client: httpx.Client, service: Service) -> None:
    mine = client.post("/v1/subscriptions", json={"filter": "price > 5"}, headers=KEY).json()
    hers = service.joined("ann").post("/v1/subscriptions", json={"filter": "price > 6"}, headers=KEY)
    assert hers.status_code == 201
    assert hers.json()["id"] != mine["id"]


def test_after_a_crash_before_the_answer_was_kept_the_subscription_is_found(
    client: httpx.Client, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service.store, "keep_response", lambda answer: False)  # as if the process had ended here
    first = client.post("/v1/subscriptions", json={"filter": "price>5"}, headers=KEY).json()
    again = client.post("/v1/subscriptions", json={"filter": "price > 5"}, headers=KEY)
    assert (again.status_code, again.json()["id"]) == (201, first["id"])
    other = client.post("/v1/subscriptions", json={"filter": "price > 6"}, headers=KEY)
    assert (other.status_code, other.json()["type"]) == (422, "/problems/idempotency-key-reused")
    assert service.store.count_subscriptions("tester") == 1


def test_growth_and_withdrawal_can_be_repeated(client: httpx.Client) -> None:
    body = {"name": "weight", "kind": "numeric"}
    answers = [client.post("/v1/schema/domains", json=body, headers=KEY) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert client.post("/v1/schema/domains", json=body).status_code == 409
    path = client.post("/v1/subscriptions", json={"filter": "price > 5"}).headers["location"]
    gone = [client.delete(path, headers={"Idempotency-Key": "another"}) for _ in range(2)]
    assert [answer.status_code for answer in gone] == [200, 200]
    assert gone[0].content == gone[1].content


def test_what_was_refused_is_decided_again(client: httpx.Client) -> None:
    body = {"name": "mass", "domain": "weight"}
    assert client.post("/v1/schema/attributes", json=body, headers=KEY).status_code == 422
    client.post("/v1/schema/domains", json={"name": "weight", "kind": "numeric"})
    assert client.post("/v1/schema/attributes", json=body, headers=KEY).status_code == 201


@on_sqlite
def test_an_account_and_a_token_are_made_once(service: Service) -> None:
    client = service.anonymous()
    ann, bob = ({"username": name, "password": PASSWORD} for name in ("ann", "bob"))
    first, again = (client.post("/v1/accounts", json=ann, headers=KEY) for _ in range(2))
    assert (again.status_code, again.json()) == (201, first.json())
    assert client.post("/v1/accounts", json=bob, headers=KEY).status_code == 201, "strangers share no keys"
    tokens = {client.post("/v1/tokens", json=ann, headers=KEY).json()["token"] for _ in range(2)}
    assert len(tokens) == 1
    stale = KEY | {"Authorization": "Bearer tid_expired"}
    assert client.post("/v1/tokens", json=ann, headers=stale).status_code == 201
    guess = client.post("/v1/tokens", json=ann | {"password": "a wrong password"}, headers=KEY)
    assert guess.status_code == 401
    client.headers["Authorization"] = f"Bearer {first.json()['token']}"
    changes = {"old": PASSWORD, "new": "another good password"}
    assert [client.post("/v1/accounts/me/password", json=changes, headers=KEY).status_code for _ in range(2)] == [
        204
    ] * 2


@pytest.mark.parametrize("kind", ["one", "array"])
def test_events_without_an_id_are_not_doubled(client: httpx.Client, service: Service, kind: str) -> None:
    body = car(None) if kind == "one" else [car(None), car("mine"), car(None), car(None, brand="x")]
    first, again = (client.post("/v1/events", json=body, headers=KEY) for _ in range(2))
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert again.headers["idempotency-replayed"] == "true"
    assert service.store.figures().events == (1 if kind == "one" else 3)
    other = client.post("/v1/events", json=car(None, year=2001), headers=KEY)
    assert (other.status_code, other.json()["type"]) == (422, "/problems/idempotency-key-reused")
    assert client.post("/v1/events", json=car(None)).json()["duplicate"] is False, "without a key it is another"


@pytest.mark.parametrize("kind", ["one", "array", "lines"])
def test_events_are_known_again_after_a_crash(
    client: httpx.Client, service: Service, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Before the answer was kept; and of a stream none ever is."""
    monkeypatch.setattr(service.store, "keep_response", lambda answer: False)
    events = [car(None), car(None), car(None, year=2001)]

    def post(*events: dict[str, object], key: dict[str, str] = KEY) -> httpx.Response:
        if kind == "one":
            return client.post("/v1/events", json=events[0], headers=key)
        if kind == "array":
            return client.post("/v1/events", json=events, headers=key)
        lines = "\n".join(json.dumps(event) for event in events)
        return client.post("/v1/events", content=lines, headers=key | {"Content-Type": "application/x-ndjson"})

    first, again = post(*events), post(*events)
    assert first.status_code == again.status_code == 202
    made = service.store.figures().events
    if kind == "one":
        assert again.json() == first.json() | {"duplicate": True}
        assert made == 1
    else:
        assert (again.json()["accepted"], again.json()["duplicates"]) == (0, 3)
        assert [one["id"] for one in again.json()["results"]] == [one["id"] for one in first.json()["results"]]
        assert made == 3
    post(*(car(None, year=1980 + number) for number in range(3)))
    assert service.store.figures().events == 2 * made, "another event is never taken for the first"
    post(*events, key={"Idempotency-Key": "8e2a"})
    assert service.store.figures().events == 3 * made


@on_sqlite
def test_an_idempotency_key_for_events_is_checked(client: httpx.Client, service: Service) -> None:
    for key in ("", "with space", "x" * 256):
        answer = client.post("/v1/events", json=car(), headers={"Idempotency-Key": key})
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-request")
    assert service.anonymous().post("/v1/events", json=car(), headers=KEY).status_code == 401
    service.app.state.under_way.add(digest("tester", KEY["Idempotency-Key"]))
    assert client.post("/v1/events", json=car(), headers=KEY).status_code == 409
    assert service.store.figures().events == 0


@on_sqlite
def test_many_at_once_under_one_key_make_one_subscription(service: Service) -> None:
    statuses: list[int] = []

    def post() -> None:
        with httpx.Client(base_url=service.address, headers=service.client.headers, timeout=60) as client:
            statuses.append(client.post("/v1/subscriptions", json={"filter": "price > 5"}, headers=KEY).status_code)

    threads = [threading.Thread(target=post) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) <= {201, 409}
    assert 201 in statuses
    assert service.store.count_subscriptions("tester") == 1


@on_sqlite
@pytest.mark.parametrize("key", ["", "with space", "x" * 256])
def test_a_key_that_is_none_is_refused(client: httpx.Client, key: str) -> None:
    answer = client.post("/v1/subscriptions", json={"filter": "price > 5"}, headers={"Idempotency-Key": key})
    assert answer.status_code == 422


@on_sqlite
def test_a_key_needs_a_token(service: Service) -> None:
    answer = service.anonymous().post("/v1/subscriptions", json={"filter": "price > 5"}, headers=KEY)
    assert answer.status_code == 401


@on_sqlite
def test_a_key_that_is_in_use_is_told_when_to_come_back(client: httpx.Client, service: Service) -> None:
    service.app.state.under_way.add(digest("tester", KEY["Idempotency-Key"]))
    answer = client.post("/v1/subscriptions", json={"filter": "price > 5"}, headers=KEY)
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/idempotency-key-in-use")
    assert answer.headers["retry-after"] == "1"


@on_sqlite
def test_every_post_takes_a_key(client: httpx.Client) -> None:
    """But for questions, which change nothing."""
    paths = client.get("/openapi.json").json()["paths"]
    posts = {path: one["post"] for path, one in paths.items() if "post" in one and path.startswith("/v1/")}
    without = {
        path
        for path, post in posts.items()
        if "Idempotency-Key" not in {parameter["name"] for parameter in post.get("parameters", ())}
    }
    assert without == {"/v1/composites/test", "/v1/filters/explain", "/v1/filters/test"}
