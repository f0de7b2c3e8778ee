"""Composites over HTTP and XML: subscribe, edit, list, import, export, try, and what they wait for."""

import json
from dataclasses import replace
from html import escape
from typing import Any

import httpx
import pytest

from tests.service.conftest import Service, car, on_sqlite
from tests.service.xml_served import Speaker
from tidings.schema import Instant

SUBSCRIPTIONS = "/v1/subscriptions"
PAIR = "[brand = mini] before [year < 1950] within 600 s"
CANONICAL = "[brand = 'mini'] before [year < 1950] within 10 min"


def at(service: Service, seconds: int) -> str:
    """So many seconds before now."""
    return str(Instant(service.store.clock.now() - seconds * 1_000_000))


def publish(service: Service, id: str, seconds: int, **values: Any) -> int:
    answer = service.client.post("/v1/events", json=car(id, **values) | {"time": at(service, seconds)})
    assert answer.status_code == 202, answer.text
    return int(answer.json()["position"])


def test_the_whole_life_of_a_composite(client: httpx.Client, service: Service) -> None:
    posted = client.post(SUBSCRIPTIONS, json={"composite": PAIR, "name": "Mini, then cheap"})
    assert posted.status_code == 201, posted.text
    made = posted.json()
    assert made["composite"] == CANONICAL
    assert "filter" not in made
    path = posted.headers["location"]
    del made["warnings"]
    assert client.get(path).json() == made
    assert client.get(SUBSCRIPTIONS).json()["items"] == [made]
    standing = service.store.subscription(made["id"])
    assert (standing.filter, standing.composite) == (CANONICAL, True)
    tail = service.store.tail()
    assert "position" not in client.patch(path, json={"composite": PAIR}).json(), "it is so already"
    assert service.store.tail() == tail
    changed = client.patch(path, json={"composite": PAIR.replace("600 s", "1 h")}).json()
    assert (changed["composite"], changed["position"]) == (CANONICAL.replace("10 min", "1 h"), tail + 1)
    plain = client.patch(path, json={"filter": "price < 5"}).json()
    assert (plain["filter"], "composite" in plain) == ("price < 5", False)
    assert client.patch(path, json={"composite": PAIR}).json()["composite"] == CANONICAL
    assert client.delete(path).status_code == 200


@on_sqlite
def test_the_repeat_of_a_request_makes_one(client: httpx.Client) -> None:
    key = {"Idempotency-Key": "k"}
    first, again = (client.post(SUBSCRIPTIONS, json={"composite": PAIR}, headers=key).json()["id"] for _ in "ab")
    assert first == again


@on_sqlite
def test_a_profile_is_read(client: httpx.Client) -> None:
    profile = "PROFILE(COMP(PRI(brand = mini) BEFORE PRI(year < 1950), EVALTIME = '10 min'))"
    assert client.post(SUBSCRIPTIONS, json={"composite": profile}).json()["composite"] == CANONICAL


@on_sqlite
@pytest.mark.parametrize(
    ("composite", "type", "column", "told"),
    [
        ("[price < 3] before [price > 5]", "invalid-filter", 31, "write e.g. 'within 10 min'"),
        ("[price < 3] before [price > 5] within 0 s", "invalid-filter", 39, "more than 0 and at most 366 day"),
        ("[price < 3] before [price > 5] within 400 day", "invalid-filter", 39, "at most 366 day"),
        ("[price < 3] before [prise > 5] within 1 h", "unknown-attribute", 21, "did you mean 'price'?"),
        ("[price < 3] and [price > 5] within 1 h by brandy", "unknown-attribute", 43, "did you mean 'brand'?"),
        ("[brand = mini] and [price < 3] within 1 h by brand", "invalid-filter", 20, "'by' needs 'brand'"),
        ("(" * 17 + "[price < 3]" + ")" * 17, "composite-too-large", 17, "nested at most 16 deep"),
        ("price < 3", "unexpected-token", 1, "expected"),
        ("PROFILE(PRI(price < ))", "unexpected-token", 21, "expected"),
    ],
)
def test_a_wrong_one_is_pointed_at(client: httpx.Client, composite: str, type: str, column: int, told: str) -> None:
    for path in (SUBSCRIPTIONS, "/v1/composites/test"):
        answer = client.post(path, json={"composite": composite})
        problem = answer.json()
        assert (answer.status_code, problem["type"]) == (422, f"/problems/{type}"), answer.text
        assert (problem["line"], problem["column"], problem["text"]) == (1, column, composite)
        assert told in problem["detail"]


@on_sqlite
def test_a_filter_or_a_composite(client: httpx.Client) -> None:
    path = client.post(SUBSCRIPTIONS, json={"filter": "price < 5"}).headers["location"]
    both = {"filter": "price < 5", "composite": PAIR}
    for answer in (
        client.post(SUBSCRIPTIONS, json=both),
        client.post(SUBSCRIPTIONS, json={"name": "neither"}),
        client.patch(path, json=both),
    ):
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-body")
        assert "one of 'filter'" in answer.json()["detail"]


@on_sqlite
def test_exported_and_imported(client: httpx.Client, service: Service) -> None:
    client.post(SUBSCRIPTIONS, json={"composite": PAIR, "name": "Both"})
    (line,) = [json.loads(text) for text in client.get(f"{SUBSCRIPTIONS}/export").text.splitlines()]
    assert (line["composite"], line["name"], "filter" in line) == (CANONICAL, "Both", False)
    moved = service.joined("bob")
    wrong = {"composite": "[price < 3] before [price > 5]"}
    lines = [line, line | {"id": "x", "filter": "price < 5"}, {"name": "neither"}, wrong]
    for check in (True, False):
        answer = moved.post(f"{SUBSCRIPTIONS}/import", json=lines, params={"check": check}).json()
        assert [one["status"] for one in answer["results"]] == ["accepted", "refused", "refused", "refused"]
        told = [one["problem"]["detail"] for one in answer["results"][1:]]
        assert told[0] == told[1] == "a subscription has either a 'filter' or a 'composite'; give exactly one of them"
        assert "needs a frame of time" in told[2]
    assert moved.post(f"{SUBSCRIPTIONS}/import", json=[line]).json()["duplicates"] == 1
    other = moved.post(f"{SUBSCRIPTIONS}/import", json=[{**line, "composite": CANONICAL.replace("10 min", "1 h")}])
    assert other.json()["results"][0]["problem"]["type"] == "/problems/subscription-exists"


def test_tried_on_stored_events(client: httpx.Client, service: Service) -> None:
    """In the order in which they happened, not in that of their arrival."""
    positions = [
        publish(service, "cheap", 100, brand="opel", year=1940),
        publish(service, "mini", 400),
        publish(service, "late", 2_000),
        publish(service, "other", 300),
    ]
    answer = client.post("/v1/composites/test", json={"composite": PAIR, "limit": 3})
    assert answer.status_code == 200, answer.text
    tried = answer.json()
    assert (tried["composite"], tried["detected"], tried["scanned"]) == (CANONICAL, 2, 4)
    other, found = tried["newest"]
    assert [one["id"] for one in other["events"]] == ["other", "cheap"]
    assert [(one["id"], one["position"]) for one in found["events"]] == [
        ("mini", positions[1]),
        ("cheap", positions[0]),
    ]
    assert found["events"][0]["event"]["attributes"]["year"] == 1990
    assert (found["time"], found["key"]) == (found["events"][1]["time"], {})
    assert sum(day["count"] for day in tried["per_day"]) == 2
    assert client.post("/v1/composites/test", json={"composite": PAIR, "limit": 1}).json()["newest"] == [other]
    assert client.post("/v1/composites/test", json={"composite": PAIR, "limit": 0}).json()["newest"] == []


@on_sqlite
def test_time_runs_on_until_what_is_open_is_over(client: httpx.Client, service: Service) -> None:
    publish(service, "mini", 400)
    unless = "[brand = mini] unless [price < 3] within {}"
    found = client.post("/v1/composites/test", json={"composite": unless.format("5 min")}).json()
    assert (found["detected"], [one["id"] for one in found["newest"][0]["events"]]) == (1, ["mini"])
    assert client.post("/v1/composites/test", json={"composite": unless.format("10 min")}).json()["detected"] == 0
    silence = client.post("/v1/composites/test", json={"composite": "absent([brand = mini]) within 1 min"}).json()
    assert (silence["detected"], silence["newest"][0]["events"]) == (1, []), "one frame after the last event"


@on_sqlite
def test_a_trial_has_the_room_that_the_pipeline_has(client: httpx.Client, service: Service) -> None:
    for id in ("one", "two", "three"):
        publish(service, id, 400)
    asked = {"composite": "[brand = mini] before [year > 3000] within 1 h"}
    assert client.post("/v1/composites/test", json=asked).json()["dropped"] == 0
    service.gateway.settings = replace(service.gateway.settings, waiting_instances=2)
    assert client.post("/v1/composites/test", json=asked).json()["dropped"] == 1


@on_sqlite
def test_what_would_have_expired_is_tried_too(client: httpx.Client, service: Service) -> None:
    publish(service, "mini", 400)
    pair = "[brand = mini] before [year < 1950] within {} report expired"
    found = client.post("/v1/composites/test", json={"composite": pair.format("5 min")}).json()
    assert (found["detected"], found["newest"][0]["expired"]) == (1, "[year < 1950]")
    assert client.post("/v1/composites/test", json={"composite": pair.format("10 min")}).json()["detected"] == 0


def test_what_it_waits_for(client: httpx.Client, service: Service) -> None:
    path = client.post(SUBSCRIPTIONS, json={"composite": PAIR}).headers["location"]
    waiting = client.get(f"{path}/waiting")
    assert waiting.status_code == 200, waiting.text
    (nothing,) = waiting.json()["waiting"]
    assert (nothing["partial"], nothing["expires"]) == (0, None)
    assert nothing["told"] == "waiting for [brand = 'mini']"
    for id in ("one", "two"):
        service.client.post("/v1/events", json=car(id))
    (wait,) = client.get(f"{path}/waiting").json()["waiting"]
    assert (wait["awaited"], wait["partial"], wait["must_not"]) == ("[year < 1950]", 2, False)
    assert wait["told"].startswith("waiting for [year < 1950]; 2 partial matches; the oldest expires in 9 min")
    client.patch(path, json={"state": "paused"})
    assert client.get(f"{path}/waiting").json()["waiting"] == []
    plain = client.post(SUBSCRIPTIONS, json={"filter": "price < 5"}).headers["location"]
    refused = client.get(f"{plain}/waiting")
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/not-composite")
    assert service.joined("eve").get(f"{path}/waiting").status_code == 404


@on_sqlite
def test_in_xml(ann: Speaker) -> None:
    post = '<PUBLISH_SUB username="ann" token="{token}">'
    id = ann.ok(f"{post}<COMPOSITE>{escape(PAIR)}</COMPOSITE></PUBLISH_SUB>")["id"]
    listed = ann.ask('<LIST_SUBS token="{token}"/>').find(".//PUBLISH_SUB")
    assert (listed.get("id"), listed.findtext("COMPOSITE")) == (id, CANONICAL)
    assert ann.refused(f"{post}<COMPOSITE>[price &gt; 3] before [price &lt; 3]</COMPOSITE></PUBLISH_SUB>") == (
        "FrameMissing"
    )


@on_sqlite
def test_partial_matches_that_expire_in_xml(ann: Speaker) -> None:
    post = '<PUBLISH_SUB username="ann" token="{token}"><COMPOSITE>%s</COMPOSITE></PUBLISH_SUB>'
    id = ann.ok(post % escape(f"{PAIR} by brand REPORT  expired"))["id"]
    listed = ann.ask('<LIST_SUBS token="{token}"/>').find(".//PUBLISH_SUB")
    assert (listed.get("id"), listed.findtext("COMPOSITE")) == (id, f"{CANONICAL} by brand report expired")
    again = ann.ok(post % escape(listed.findtext("COMPOSITE")))["id"]
    kept = {one.id: one.filter for one in ann.daemon.store.subscriptions()}
    assert kept[again] == kept[id] == f"{CANONICAL} by brand report expired"
    assert ann.refused(post % "nth([price &gt; 3], 3) report expired") == "OptionMeansNothing"
    assert ann.refused(post % escape(f"{PAIR} report expire")) == "UnexpectedToken"
