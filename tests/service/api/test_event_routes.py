"""POST /v1/events in all its forms."""

import base64
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.service.conftest import Service, car, lines, on_sqlite
from tidings.schema import AttributeUse, EventType
from tidings.schema.growth import CreateEventType
from tidings.store import Grow, Store

NDJSON = {"Content-Type": "application/x-ndjson"}
JSON = {"Content-Type": "application/json"}
CLOUD = {"specversion": "1.0", "id": "c1", "source": "/cars", "type": "car", "data": {"brand": "mini", "year": 1990}}


def stored(service: Service, position: int) -> Any:
    return json.loads(service.store.events_at([position])[position])


def test_one_event(client: httpx.Client, service: Service) -> None:
    answer = client.post("/v1/events", json=car("e1"))
    assert answer.status_code == 202
    assert answer.json() == {"id": "e1", "position": service.store.tail(), "duplicate": False}
    again = client.post("/v1/events", json=car("e1", year=1991))
    assert again.json() == {**answer.json(), "duplicate": True}
    assert stored(service, answer.json()["position"])["attributes"] == {"brand": "mini", "year": 1990}


def test_publishers_are_told_how_long_duplicates_are_known(client: httpx.Client, service: Service) -> None:
    window = "Tidings-Duplicate-Window"
    assert window not in client.post("/v1/events", json=car("e1")).headers
    service.gateway.settings = replace(service.settings, keep_events_days=7)
    assert window not in client.post("/v1/events", json=car("e1")).headers  # the keys stay
    service.gateway.settings = replace(service.settings, keep_events_days=7, keep_keys_days=30)
    for body, headers in ((json.dumps(car("e1")), JSON), (json.dumps([car("e2")]), JSON), (lines(car("e3")), NDJSON)):
        answer = client.post("/v1/events", content=body, headers=headers)
        assert (answer.status_code, answer.headers[window]) == (202, str(30 * 86_400))
    service.gateway.settings = replace(service.settings, keep_events_days=60, keep_keys_days=30)
    assert client.post("/v1/events", json=car("e1")).headers[window] == str(60 * 86_400)


def test_an_event_without_an_id_gets_one(client: httpx.Client, service: Service) -> None:
    first, second = (client.post("/v1/events", json=car(None)).json() for _ in range(2))
    assert len(first["id"]) == 32
    assert first["id"] != second["id"]
    assert stored(service, second["position"])["id"] == second["id"]
    assert client.post("/v1/events", json={**car(None), "id": None}).status_code == 202


def test_a_refused_event_names_every_rule_it_breaks(client: httpx.Client, service: Service) -> None:
    tail = service.store.tail()
    answer = client.post("/v1/events", json={"id": "e1", "event_type": "car", "attributes": {"brand": "x", "price": 3}})
    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (422, "/problems/invalid-event")
    broken = {(error["rule"], error["attribute"]) for error in problem["errors"]}
    assert broken == {("domain", "brand"), ("view", "price"), ("mandatory", "year")}
    assert service.store.tail() == tail


@on_sqlite
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"{}x", b'{"a": NaN}', b'{"a": Infinity}', b"\xff", b"[" * 100_000, b'{"a":' * 20_000, b'"\\ud800"'],
)
def test_what_is_no_json_is_refused(client: httpx.Client, body: bytes) -> None:
    answer = client.post("/v1/events", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-body")


@on_sqlite
def test_what_is_json_but_no_event_is_refused(client: httpx.Client) -> None:
    for body in (b"3", b"null", b'"text"', b'{"id": 3}', b'{"id": "x", "event_type": [[[]]]}'):
        answer = client.post("/v1/events", content=body, headers=JSON)
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-event")
        assert answer.json()["errors"]


def test_many_in_an_array(client: httpx.Client, service: Service) -> None:
    client.post("/v1/events", json=car("known"))
    answer = client.post("/v1/events", json=[car("a"), car("b", brand="x"), car("known"), 3, car(None), car("a")])
    told = answer.json()
    assert answer.status_code == 207
    assert (told["accepted"], told["duplicates"], told["refused"], told["omitted"]) == (2, 2, 2, 0)
    results = told["results"]
    assert [one["line"] for one in results] == [1, 2, 3, 4, 5, 6]
    states = ["accepted", "refused", "duplicate", "refused", "accepted", "duplicate"]
    assert [one["status"] for one in results] == states
    assert [one.get("id") for one in results[:4]] == ["a", "b", "known", None]
    assert len(results[4]["id"]) == 32, "it was given one"
    assert results[5]["position"] == results[0]["position"]
    assert results[2]["position"] < results[0]["position"] < results[4]["position"]
    assert results[1]["errors"][0]["rule"] == "domain"
    assert ["errors" in one for one in results] == [state == "refused" for state in states]
    assert client.get(f"/v1/events/{results[4]['position']}").json()["event"]["id"] == results[4]["id"]
    empty = client.post("/v1/events", json=[])
    nothing = {"accepted": 0, "duplicates": 0, "refused": 0, "results": [], "omitted": 0}
    assert (empty.status_code, empty.json()) == (202, nothing)


@on_sqlite
@pytest.mark.parametrize("kind", ["array", "lines"])
def test_the_status_says_whether_all_some_or_none_were_accepted(client: httpx.Client, kind: str) -> None:
    def post(*events: dict[str, Any]) -> httpx.Response:
        if kind == "array":
            return client.post("/v1/events", json=events)
        return client.post("/v1/events", content=lines(*events), headers=NDJSON)

    wrong = car("wrong", brand="x")
    assert post(car("a"), car("b")).status_code == 202
    assert post(car("a"), car("b")).status_code == 202, "duplicates were accepted before"
    assert post(car("c"), wrong).status_code == 207
    assert post(car("c"), wrong).status_code == 207
    none = post(wrong, wrong)
    assert (none.status_code, none.headers["content-type"]) == (422, "application/problem+json")
    problem = none.json()
    assert (problem["type"], problem["refused"]) == ("/problems/nothing-accepted", 2)
    assert [one["line"] for one in problem["results"] if one["errors"]] == [1, 2]


def test_a_stream_of_lines(client: httpx.Client, service: Service) -> None:
    before = service.store.figures().events
    body = lines(car("a"), car("b", brand="x")) + b"\n  \n{no json\n" + lines(car("a"), car("c")) + b'{"id": "d"'
    told = client.post("/v1/events", content=b"\xef\xbb\xbf" + body, headers=NDJSON).json()
    assert (told["accepted"], told["duplicates"], told["refused"]) == (2, 1, 3)
    assert [one["line"] for one in told["results"]] == [1, 2, 5, 6, 7, 8]
    assert [one["line"] for one in told["results"] if "errors" in one] == [2, 5, 8]
    assert service.store.figures().events == before + 2


def test_a_long_stream_in_odd_pieces_without_a_last_newline(client: httpx.Client, service: Service) -> None:
    body = lines(*(car(f"n{n}", year=n) for n in range(20_000))).rstrip(b"\n")

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(body), 77_777):
            yield body[start : start + 77_777]

    told = client.post("/v1/events", content=pieces(), headers=NDJSON).json()
    assert (told["accepted"], told["refused"]) == (20_000, 0)
    assert (len(told["results"]), told["omitted"]) == (10_000, 10_000)
    assert service.store.figures().events == 20_000


def test_lines_are_accepted_before_the_stream_ends(client: httpx.Client, service: Service) -> None:
    seen = threading.Event()

    def pieces() -> Iterator[bytes]:
        yield lines(car("early"))
        for _ in range(1_000):
            if service.store.figures().events == 1:
                seen.set()
                break
            seen.wait(0.02)
        yield lines(car("late"))

    told = client.post("/v1/events", content=pieces(), headers=NDJSON).json()
    assert seen.is_set()
    assert told["accepted"] == 2


@on_sqlite
def test_only_a_thousand_refused_events_are_named(client: httpx.Client) -> None:
    told = client.post("/v1/events", content=b"no json\n" * 3_000, headers=NDJSON).json()
    assert (len(told["results"]), told["refused"]) == (3_000, 3_000)
    assert [one["line"] for one in told["results"] if "errors" in one] == list(range(1, 1_001))
    late = lines(*(car(f"n{n}") for n in range(10_500))) + b"no json\n" + lines(car("last"))
    told = client.post("/v1/events", content=late, headers=NDJSON).json()
    assert (told["accepted"], told["refused"], told["omitted"]) == (10_501, 1, 501)
    assert (told["results"][-1]["line"], told["results"][-1]["status"]) == (10_501, "refused")


@on_sqlite
def test_an_event_that_is_too_large_is_refused_and_named(client: httpx.Client, service: Service) -> None:
    service.gateway.settings = replace(service.settings, largest_event=1_000)
    large = car("large", paint="x" * 2_000)
    answer = client.post("/v1/events", json=large)
    assert (answer.status_code, answer.json()["errors"][0]["rule"]) == (422, "form")
    for kind in ("array", "lines"):
        events = [car(f"{kind} a"), large, car(f"{kind} b")]
        body: dict[str, Any] = {"json": events} if kind == "array" else {"content": lines(*events), "headers": NDJSON}
        told = client.post("/v1/events", **body).json()
        assert told["accepted"] == 2
        assert [one["status"] for one in told["results"]] == ["accepted", "refused", "accepted"]
        assert "at most 1,000" in told["results"][1]["errors"][0]["message"]
    endless = client.post("/v1/events", content=b"x" * 500_000 + b"\n" + lines(car("after")), headers=NDJSON).json()
    assert [(one["line"], one["status"]) for one in endless["results"]] == [(1, "refused"), (2, "accepted")]


@on_sqlite
def test_an_attribute_has_only_so_many_values(client: httpx.Client, service: Service) -> None:
    service.gateway.settings = replace(service.settings, values_per_attribute=2)
    many = car("many", paint=["red", "green", "blue"])
    answer = client.post("/v1/events", json=many)
    (told,) = answer.json()["errors"]
    assert (answer.status_code, told["rule"], told["attribute"]) == (422, "unique", "paint")
    assert told["message"] == "'paint' has 3 different values; at most 2 are allowed"
    for kind in ("array", "lines"):
        events = [car(f"{kind} a", paint=["red", "red", "green"]), many]
        body: dict[str, Any] = {"json": events} if kind == "array" else {"content": lines(*events), "headers": NDJSON}
        told = client.post("/v1/events", **body).json()
        assert (told["accepted"], told["results"][1]["errors"][0]["rule"]) == (1, "unique")
    service.gateway.settings = replace(service.settings, values_per_attribute=1)
    service.store.append([Grow(CreateEventType(EventType("plain"))), Grow(CreateEventType(EventType("simple")))])
    both = {"id": "both", "event_type": ["plain", "simple"], "attributes": {}}
    answer = client.post("/v1/events", json=both)
    assert [(one["rule"], one["attribute"]) for one in answer.json()["errors"]] == [("unique", "event_type")]


@on_sqlite
def test_a_stream_that_is_too_long_keeps_what_was_accepted(client: httpx.Client, service: Service) -> None:
    service.gateway.settings = replace(service.settings, largest_stream=1_000_000)
    body = lines(*(car(f"n{n}") for n in range(20_000)))

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(body), 50_000):
            yield body[start : start + 50_000]

    answer = client.post("/v1/events", content=pieces(), headers=NDJSON)
    assert (answer.status_code, answer.json()["type"]) == (413, "/problems/body-too-large")
    assert 0 < answer.json()["accepted"] == service.store.figures().events < 20_000


@on_sqlite
@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": ""},
        {"Content-Type": "application/json; charset=utf-16"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ],
)
def test_another_content_type_is_refused_with_those_there_are(client: httpx.Client, headers: dict[str, str]) -> None:
    answer = client.post("/v1/events", content=json.dumps(car()), headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (415, "/problems/unsupported-media-type")
    assert "application/" in answer.json()["detail"]


def test_a_structured_cloud_event(client: httpx.Client, service: Service) -> None:
    headers = {"Content-Type": "application/cloudevents+json; charset=UTF-8"}
    body = {**CLOUD, "time": "2026-01-01T00:00:00Z", "subject": "s", "myextension": 5}
    answer = client.post("/v1/events", json=body, headers=headers)
    assert answer.status_code == 202, answer.text
    assert stored(service, answer.json()["position"]) == {
        "id": "c1",
        "source": "/cars",
        "time": "2026-01-01T00:00:00Z",
        "event_type": ["car"],
        "attributes": {"brand": "mini", "year": 1990},
    }
    assert client.post("/v1/events", json={**CLOUD, "source": "/other"}, headers=headers).json()["duplicate"] is False
    packed = base64.b64encode(json.dumps(CLOUD["data"]).encode()).decode()
    bare = {name: value for name, value in CLOUD.items() if name != "data"} | {"id": "c2", "data_base64": packed}
    assert client.post("/v1/events", json=bare, headers=headers).status_code == 202


def test_several_types_of_a_cloud_event(client: httpx.Client, service: Service) -> None:
    client.post("/v1/schema/event-types", json={"name": "old", "attributes": [{"name": "brand"}]})
    headers = {"Content-Type": "application/cloudevents+json"}
    answer = client.post("/v1/events", json={**CLOUD, "eventtypes": "car, old"}, headers=headers)
    assert stored(service, answer.json()["position"])["event_type"] == ["car", "old"]


@on_sqlite
def test_a_wrong_cloud_event_names_all_that_is_missing(client: httpx.Client) -> None:
    headers = {"Content-Type": "application/cloudevents+json"}
    answer = client.post("/v1/events", json={"id": 5, "specversion": "0.3", "data_base64": "??"}, headers=headers)
    assert answer.status_code == 422
    named = [error["attribute"] for error in answer.json()["errors"]]
    assert named == ["specversion", "id", "source", "type", "data_base64"]
    assert client.post("/v1/events", json=[], headers=headers).status_code == 422


def test_a_batch_of_cloud_events(client: httpx.Client) -> None:
    headers = {"Content-Type": "application/cloudevents-batch+json"}
    told = client.post("/v1/events", json=[CLOUD, {**CLOUD, "id": ""}, CLOUD], headers=headers).json()
    assert (told["accepted"], told["duplicates"], told["refused"]) == (1, 1, 1)
    assert [one["errors"][0]["rule"] for one in told["results"] if "errors" in one] == ["id"]


def test_a_binary_cloud_event(client: httpx.Client, service: Service) -> None:
    headers = {"ce-specversion": "1.0", "ce-id": "b%201", "ce-source": "/cars", "ce-type": "car", **JSON}
    answer = client.post("/v1/events", json=CLOUD["data"], headers=headers)
    assert answer.status_code == 202, answer.text
    event = stored(service, answer.json()["position"])
    assert (event["id"], event["source"], event["attributes"]["year"]) == ("b 1", "/cars", 1990)
    answer = client.post("/v1/events", content="year 1990", headers={**headers, "Content-Type": "text/plain"})
    assert answer.status_code == 415


@on_sqlite
def test_guests_publish_only_where_they_may(service: Service) -> None:
    guest = service.anonymous()
    answer = guest.post("/v1/events", json=car())
    assert (answer.status_code, answer.json()["type"]) == (401, "/problems/token-missing")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    service.gateway.guest = replace(service.gateway.guest, scopes=frozenset({"publish", "schema"}))
    assert guest.post("/v1/events", json=car()).status_code == 202
    assert guest.post("/v1/schema/domains", json={"name": "w", "kind": "numeric"}).status_code == 201
    assert guest.post("/v1/subscriptions", json={"filter": "price > 1"}).status_code == 401


@on_sqlite
@pytest.mark.parametrize("names", [3, 8_000])
def test_a_refused_event_does_not_wait_for_the_journal_nor_hold_it_up(
    client: httpx.Client, service: Service, names: int
) -> None:
    assert client.post("/v1/events", json=car("first")).status_code == 202
    with service.store.database.writing():  # nobody else can append
        answer = client.post("/v1/events", json=car("e1", **{f"yea{number}": 1 for number in range(names)}), timeout=20)
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-event")
    assert len(answer.json()["errors"]) == min(names, 101)


def test_growth_by_another_process_is_seen_at_once(client: httpx.Client, service: Service, url: str) -> None:
    assert client.post("/v1/events", json=car("first")).status_code == 202
    new = {"id": "e1", "event_type": "boat", "attributes": {"brand": "mini"}}
    assert client.post("/v1/events", json=new).status_code == 422
    with Store.open(url) as other:
        other.append([Grow(CreateEventType(EventType("boat", (AttributeUse("brand"),))))])
    assert client.post("/v1/events", json=new).status_code == 202
    large = {**new, "id": "e2", "contact": "x" * 20_000}
    assert client.post("/v1/events", json=large).status_code == 202


@on_sqlite
def test_all_that_is_wrong_is_told_also_the_time(client: httpx.Client) -> None:
    answer = client.post("/v1/events", json={**car("e1"), "time": "2999-01-01T00:00:00Z", "event_type": "cra"})
    assert {(one["rule"], one["attribute"]) for one in answer.json()["errors"]} >= {
        ("form", "time"),
        ("type", "event_type"),
    }
    only = client.post("/v1/events", json={**car("e1"), "time": "2999-01-01T00:00:00Z"})
    assert [one["attribute"] for one in only.json()["errors"]] == ["time"]
