"""Many subscriptions at once: as lines or an array, a result for each; and all of them back as lines."""

import json
from typing import Any

import httpx
import pytest

from tests.service.conftest import Service, on_sqlite

IMPORT, EXPORT = "/v1/subscriptions/import", "/v1/subscriptions/export"
LINES = {"content-type": "application/x-ndjson"}


def lines(*some: Any) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in some)


def statuses(answer: httpx.Response) -> list[tuple[int, str]]:
    return [(one["line"], one["status"]) for one in answer.json()["results"]]


def exported(client: httpx.Client) -> list[dict[str, Any]]:
    return [json.loads(line) for line in client.get(EXPORT).text.splitlines()]


def test_each_line_has_a_result_and_none_holds_up_the_others(client: httpx.Client, service: Service) -> None:
    body = lines({"id": "a", "filter": "price<5", "name": "Cheap", "note": "n"}, {"filter": "prise < 5"}, {"id": "b"})
    body += b"\n{nonsense\n"
    body += lines(
        {"filter": "price < 6", "state": "paused", "expiry": "2999-01-01"}, {"id": "a", "filter": "price < 7"}
    )
    answer = client.post(IMPORT, content=body, headers=LINES)
    assert answer.status_code == 207, answer.text
    assert statuses(answer) == [
        (1, "accepted"), (2, "refused"), (3, "refused"), (5, "refused"), (6, "accepted"), (7, "refused"),
    ]  # fmt: skip
    told = [one["problem"] for one in answer.json()["results"] if "problem" in one]
    assert told[0]["type"] == "/problems/unknown-attribute"
    assert "did you mean 'price'?" in told[0]["detail"]
    assert told[3]["detail"] == "the id 'a' is already used in line 1"
    first, second = sorted(service.store.subscriptions("tester"), key=lambda one: one.since)
    assert (first.filter, first.name, first.note, first.state) == ("price < 5", "Cheap", "n", "active")
    assert (second.filter, second.state, str(second.expiry)) == ("price < 6", "paused", "2999-01-01T00:00:00Z")
    assert first.id == answer.json()["results"][0]["id"] != "a", "ids are the service's to give"
    assert first.since == answer.json()["results"][0]["position"]


def test_what_is_exported_can_be_imported_and_a_second_time_changes_nothing(
    client: httpx.Client, service: Service
) -> None:
    for body in ({"filter": "price < 5", "name": "Ä"}, {"filter": "year > 3", "note": "a\nb"}):
        client.post("/v1/subscriptions", json=body)
    kept = exported(client)
    assert sorted(one["filter"] for one in kept) == ["price < 5", "year > 3"]
    tail = service.store.tail()
    again = client.post(IMPORT, content=lines(*kept), headers=LINES)
    assert (again.status_code, again.json()["duplicates"], service.store.tail()) == (202, 2, tail)
    moved = service.joined("bob")
    first = moved.post(IMPORT, json=kept)
    assert (first.status_code, first.json()["accepted"]) == (202, 2)
    assert (moved.post(IMPORT, json=kept).json()["duplicates"], len(exported(moved))) == (2, 2)
    assert {(one["filter"], one.get("name"), one.get("note")) for one in exported(moved)} == {
        (one["filter"], one.get("name"), one.get("note")) for one in kept
    }
    assert {one["id"] for one in exported(moved)}.isdisjoint(one["id"] for one in kept)
    other = client.post(IMPORT, json=[kept[0] | {"filter": "price < 99"}])
    assert (other.status_code, other.json()["type"]) == (422, "/problems/nothing-accepted")
    assert "edit that one instead" in other.json()["results"][0]["problem"]["detail"]


def test_a_check_stores_nothing(client: httpx.Client, service: Service) -> None:
    tail = service.store.tail()
    some = [{"filter": "price < 5"}, {"filter": "nonsense"}, {"filter": "price < 5", "expiry": "2001-01-01"}]
    answer = client.post(IMPORT, json=some, params={"check": True})
    assert answer.status_code == 200
    assert statuses(answer) == [(1, "accepted"), (2, "refused"), (3, "refused")]
    assert (service.store.tail(), service.store.subscriptions("tester")) == (tail, [])


def test_a_repeated_request_makes_nothing_twice(client: httpx.Client, service: Service) -> None:
    key = {"Idempotency-Key": "k"}
    first = client.post(IMPORT, json=[{"filter": "price < 5"}, {"filter": "price < 5"}], headers=key)
    again = client.post(IMPORT, json=[{"filter": "price < 5"}, {"filter": "price < 5"}], headers=key)
    assert (first.json()["accepted"], again.json()) == (2, first.json())
    assert len(service.store.subscriptions("tester")) == 2


@on_sqlite
@pytest.mark.parametrize(
    ("body", "headers", "status", "type"),
    [
        (b"[" + b"1," * 10_000 + b"1]", {"content-type": "application/json"}, 413, "too-many-subscriptions"),
        (b"1\n" * 10_001, LINES, 413, "too-many-subscriptions"),
        (b"{}", {"content-type": "text/plain"}, 415, "unsupported-media-type"),
        (b"{}", {"content-type": "application/json"}, 422, "invalid-body"),
    ],
)
def test_what_no_import_can_be(
    client: httpx.Client, body: bytes, headers: dict[str, str], status: int, type: str
) -> None:
    answer = client.post(IMPORT, content=body, headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{type}")


@on_sqlite
def test_a_channel_goes_where_one_goes_already(client: httpx.Client, service: Service) -> None:
    from tidings.store import StoredChannel, Subscribe

    hook = {"url": "https://example.org/hook"}
    channel = StoredChannel("mine", "tester", "webhook", hook, secrets=(("whsec_x", None),))
    service.store.append([Subscribe("mine", "price < 1", "tester", None, "webhook", channel)])
    known, unknown = ({"kind": "webhook", "url": url} for url in (hook["url"], "https://elsewhere.example"))
    asked = [
        {"id": "1", "filter": "price < 2", "channel": known | {"rate": {"count": 5, "seconds": 60}}},
        {"id": "2", "filter": "price < 2", "channel": unknown},
        {"id": "3", "filter": "price < 2", "channel": {"kind": "pigeon"}},
    ]
    answer = client.post(IMPORT, json=asked)
    assert statuses(answer) == [(1, "accepted"), (2, "refused"), (3, "refused")]
    assert "subscribe once with this channel" in answer.json()["results"][1]["problem"]["detail"]
    made = service.store.channel(answer.json()["results"][0]["id"], "tester")
    assert made is not None
    assert (made.state, made.secrets, made.settings["url"]) == ("active", (("whsec_x", None),), hook["url"])
    assert made.settings["rate"] == {"count": 5, "seconds": 60}
    assert service.joined("bob").post(IMPORT, json=asked[:1]).json()["refused"] == 1, "another's channel is none of his"
    assert client.post(IMPORT, json=exported(client)).json()["duplicates"] == 2
