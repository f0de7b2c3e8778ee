"""/v1/filters/explain, /v1/filters/test, /v1/events and /v1/queries of a running service."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.service.conftest import SETTINGS, Service, car, on_sqlite
from tidings.service.actions import questions as actions
from tidings.service.workers import questions
from tidings.settings import Settings
from tidings.store import Subscribe

YEARS = [1970 + number for number in range(40)]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(SETTINGS, data=tmp_path / "data")


@pytest.fixture
def filled(service: Service) -> list[int]:
    """Forty cars, one of each year; their positions."""
    events = [car(f"e{year}", year=year) | {"source": "dealer"} for year in YEARS]
    positions = []
    for event in events:
        answer = service.client.post("/v1/events", json=event)
        assert answer.status_code == 202, answer.text
        positions.append(answer.json()["position"])
    return positions


def pages(client: httpx.Client, path: str = "/v1/events", **parameters: Any) -> list[dict[str, Any]]:
    found = []
    while True:
        answer = client.get(path, params=parameters)
        assert answer.status_code == 200, answer.text
        found += answer.json()["items"]
        if answer.json()["next"] is None:
            return found
        parameters["after"] = answer.json()["next"]


def years(events: list[dict[str, Any]]) -> list[int]:
    return [event["event"]["attributes"]["year"] for event in events]


def refused(answer: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == f"/problems/{kind}"
    problem: dict[str, Any] = answer.json()
    return problem


def test_explain_an_event_that_is_not_published(client: httpx.Client) -> None:
    body = {"filter": "year < 1980 and brand = 'mini'", "event": car(None, year=1971)}
    answer = client.post("/v1/filters/explain", json=body)
    assert answer.status_code == 200, answer.text
    explanation = answer.json()
    assert explanation["matches"] is True
    (alternative,) = explanation["alternatives"]
    assert [one["predicate"] for one in alternative["predicates"]] == ["year < 1980", "brand = 'mini'"]
    assert alternative["predicates"][0]["values"] == {"year": [1971]}
    assert client.post("/v1/filters/explain", json=body | {"filter": "year > 1980"}).json()["matches"] is False


def test_explain_a_stored_event(client: httpx.Client, filled: list[int]) -> None:
    by_position = client.post("/v1/filters/explain", json={"filter": "year = 1972", "position": filled[2]})
    assert by_position.json()["matches"] is True
    by_id = client.post("/v1/filters/explain", json={"filter": "year = 1972", "id": "e1972", "source": "dealer"})
    assert by_id.json() == by_position.json()


@on_sqlite
def test_explain_what_is_wrong(client: httpx.Client, filled: list[int]) -> None:
    filter = {"filter": "year = 1972"}
    refused(
        client.post("/v1/filters/explain", json=filter | {"position": 1}), 404, "no-such-event"
    )  # a change of the schema
    refused(client.post("/v1/filters/explain", json=filter | {"position": filled[-1] + 1}), 404, "no-such-event")
    refused(
        client.post("/v1/filters/explain", json=filter | {"id": "e1972"}), 404, "no-such-event"
    )  # of another source
    refused(client.post("/v1/filters/explain", json=filter), 422, "invalid-body")
    refused(client.post("/v1/filters/explain", json=filter | {"position": 3, "id": "e"}), 422, "invalid-body")
    refused(client.post("/v1/filters/explain", json=filter | {"event": {}, "source": "a"}), 422, "invalid-body")
    broken = refused(client.post("/v1/filters/explain", json=filter | {"event": car(year="old")}), 422, "invalid-event")
    assert [error["rule"] for error in broken["errors"]] == ["domain"]
    wrong = refused(
        client.post("/v1/filters/explain", json={"filter": "yaer = 7", "position": filled[0]}), 422, "unknown-attribute"
    )
    assert (wrong["line"], wrong["column"]) == (1, 1)
    wrong = refused(
        client.post("/v1/filters/explain", json={"filter": "year =", "position": filled[0]}), 422, "unexpected-token"
    )
    assert (wrong["line"], wrong["column"]) == (1, 7)
    assert wrong["expected"]


def test_a_filter_is_tested(service: Service, client: httpx.Client, filled: list[int]) -> None:
    service.store.append([Subscribe("s-wide", "year < 2000", "tester"), Subscribe("s-other", "year < 2000", "ann")])
    answer = client.post("/v1/filters/test", json={"filter": "brand = mini and year<1980", "limit": 2})
    assert answer.status_code == 200, answer.text
    tried = answer.json()
    assert tried["filter"] == "brand = 'mini' and year < 1980"
    assert (tried["matched"], tried["scanned"], tried["of_newest"]) == (10, 40, None)
    assert [event["position"] for event in tried["newest"]] == [filled[9], filled[8]]
    assert years(tried["newest"]) == [1979, 1978]
    assert sum(day["count"] for day in tried["per_day"]) == 10
    assert len(tried["per_day"]) == 8  # the seven days up to now have parts of eight
    assert tried["covered_by"] == ["s-wide"]
    assert (tried["never_matches"], tried["matches_everything"], tried["warnings"]) == (False, False, [])
    assert tried["complete_from"] >= 1


@on_sqlite
def test_what_is_odd_about_a_filter_is_told(client: httpx.Client, filled: list[int]) -> None:
    never = client.post("/v1/filters/test", json={"filter": "year < 5 and year > 7"}).json()
    assert never["never_matches"] is True
    assert "can never match" in never["warnings"][0]
    everything = client.post("/v1/filters/test", json={"filter": "event_type exists", "since": "1d"}).json()
    assert (everything["matches_everything"], everything["matched"]) == (True, 40)
    later = client.post("/v1/filters/test", json={"filter": "event_type exists", "since": "2999-01-01"}).json()
    assert (later["matched"], later["per_day"]) == (0, [])


@on_sqlite
def test_a_wrong_test(client: httpx.Client) -> None:
    wrong = refused(client.post("/v1/filters/test", json={"filter": "year <\n year <"}), 422, "unexpected-token")
    assert (wrong["line"], wrong["column"]) == (2, 7)
    refused(client.post("/v1/filters/test", json={"filter": "year < 5", "since": "soon"}), 422, "invalid-time")
    refused(client.post("/v1/filters/test", json={"filter": "year < 5", "limit": 101}), 422, "invalid-body")


@on_sqlite
def test_of_a_long_period_only_the_newest_events_are_tested(
    service: Service, filled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "SCANNED", 10)
    day = 86_400 * 1_000_000
    now = questions.Instant(service.store.entries(filled[-1] - 1).__next__().accepted)
    tried = questions.test(service.store, "ann", "year > 0", questions.Instant(now - 30 * day), now, 3)
    assert (tried.matched, tried.scanned, tried.of_newest) == (10, 10, 10)
    assert len(tried.per_day) == 1


def test_events_page_by_page(client: httpx.Client, filled: list[int]) -> None:
    found = pages(client, limit=7)
    assert years(found) == YEARS
    assert [event["position"] for event in found] == filled
    assert found[0]["event"]["id"] == "e1970"
    assert years(pages(client, limit=7, order="newest")) == YEARS[::-1]


def test_events_that_match(client: httpx.Client, filled: list[int]) -> None:
    assert years(pages(client, filter="year >= 2000", limit=3)) == list(range(2000, 2010))
    assert years(pages(client, filter="year >= 2000", limit=3, order="newest")) == list(range(2009, 1999, -1))
    assert pages(client, filter="year < 0") == []


def test_events_of_a_period(client: httpx.Client, filled: list[int]) -> None:
    assert len(pages(client, since="1h")) == 40
    assert pages(client, until="1h") == []
    assert pages(client, since="2999-01-01") == []
    accepted = pages(client)[20]["accepted"]
    assert len(pages(client, since=accepted)) + len(pages(client, until=accepted)) == 40


@on_sqlite
def test_one_answer_goes_through_so_many_events_and_no_more(
    service: Service, filled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "SCANNED", 10)
    monkeypatch.setattr(questions, "_ROWS", 5)
    after, upto = filled[0] - 1, filled[-1]
    up = questions.search(service.store, "year >= 2000", after, upto, 100)
    assert (up.events, up.next, up.scanned) == ((), filled[9], 10)
    down = questions.search(service.store, "year < 2000", after, upto, 100, newest_first=True)
    assert (down.events, down.next, down.scanned) == ((), filled[-10], 10)
    rest = questions.search(service.store, "year < 2000", after, down.next - 1, 100, newest_first=True)
    assert [event.position for event in rest.events] == filled[20:30][::-1]


@on_sqlite
def test_large_events_make_short_pages(service: Service, filled: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "_MOST_BYTES", 200)
    for newest_first in (False, True):
        found = questions.search(service.store, "", 0, filled[-1], 100, newest_first)
        assert 1 <= len(found.events) < 5
        assert found.next == found.events[-1].position


@on_sqlite
def test_wrong_questions_about_events(client: httpx.Client, filled: list[int]) -> None:
    assert "expected" in refused(client.get("/v1/events", params={"filter": "year <"}), 422, "unexpected-token")
    refused(client.get("/v1/events", params={"since": "soon"}), 422, "invalid-time")
    refused(client.get("/v1/events", params={"after": "x"}), 422, "invalid-cursor")
    refused(client.get("/v1/events", params={"limit": 0}), 422, "invalid-request")
    assert client.get("/v1/events", params={"after": str(2**62)}).json()["items"] == []
    assert client.get("/v1/events", params={"after": "1", "order": "newest"}).json()["items"] == []


def test_one_event(client: httpx.Client, filled: list[int]) -> None:
    answer = client.get(f"/v1/events/{filled[3]}")
    assert answer.json()["event"] == car("e1973", year=1973) | {"source": "dealer", "event_type": ["car"]}
    assert answer.json()["position"] == filled[3]
    refused(client.get("/v1/events/1"), 404, "no-such-event")
    refused(client.get(f"/v1/events/{2**62}"), 404, "no-such-event")
    refused(client.get("/v1/events/0"), 422, "invalid-request")


@on_sqlite
def test_a_token_is_needed(service: Service) -> None:
    guest = service.anonymous()
    for path in ("/v1/events", "/v1/events/1", "/v1/queries", "/v1/queries/q-1", "/v1/queries/q-1/events"):
        refused(guest.get(path), 401, "token-missing")
    refused(guest.delete("/v1/queries/q-1"), 401, "token-missing")
    for path in ("/v1/filters/explain", "/v1/filters/test"):
        refused(guest.post(path, json={}), 401, "token-missing")


def finished(client: httpx.Client, location: str) -> dict[str, Any]:
    until = time.monotonic() + 60
    while True:
        answer = client.get(location)
        assert answer.status_code == 200, answer.text
        query: dict[str, Any] = answer.json()
        if query["state"] in ("done", "failed"):
            return query
        assert time.monotonic() < until
        time.sleep(0.1)


@on_sqlite
def test_a_query_as_a_job(service: Service, client: httpx.Client, filled: list[int]) -> None:
    headers = {"Prefer": "respond-async, wait=10"}
    asked = client.get("/v1/events", params={"filter": "year>=2000"}, headers=headers)
    assert asked.status_code == 202, asked.text
    assert asked.headers["Preference-Applied"] == "respond-async"
    location = asked.headers["Location"]
    assert location == f"/v1/queries/{asked.json()['query']}"
    done = finished(client, location)
    assert (done["state"], done["matched"], done["complete"], done["problem"]) == ("done", 10, True, None)
    assert done["filter"] == "year >= 2000"
    assert years(pages(client, f"{location}/events", limit=3)) == list(range(2000, 2010))
    assert [one["id"] for one in client.get("/v1/queries").json()["items"]] == [done["id"]]
    refused(client.get(f"{location}/events", params={"after": "1"}), 422, "invalid-cursor")
    assert client.delete(location).status_code == 204
    refused(client.get(location), 404, "no-such-query")


@on_sqlite
def test_another_user_does_not_see_a_query(service: Service, client: httpx.Client, filled: list[int]) -> None:
    location = client.get("/v1/events", headers={"Prefer": "respond-async"}).headers["Location"]
    other = service.joined("other")
    refused(other.get(location), 404, "no-such-query")
    refused(other.get(f"{location}/events"), 404, "no-such-query")
    refused(other.delete(location), 404, "no-such-query")
    assert other.get("/v1/queries").json()["items"] == []
    assert finished(client, location)["state"] == "done"
    assert len(pages(client, f"{location}/events")) == 40


@on_sqlite
def test_a_wrong_filter_makes_no_job(client: httpx.Client) -> None:
    headers = {"Prefer": "respond-async"}
    refused(client.get("/v1/events", params={"filter": "year <"}, headers=headers), 422, "unexpected-token")
    assert client.get("/v1/queries").json()["items"] == []


@on_sqlite
def test_whoever_asks_for_much_without_paging_gets_a_job(
    client: httpx.Client, filled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "LARGE", 30)
    assert client.get("/v1/events", params={"filter": "year > 0"}).status_code == 202
    assert client.get("/v1/events", params={"filter": "year > 0", "limit": 5}).status_code == 200
    assert client.get("/v1/events").status_code == 200
