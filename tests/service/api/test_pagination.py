"""Every list is paged alike: `limit`, `after`, `next`, and the header Link."""

import re

import httpx
import pytest

from tests.service.conftest import Service, car, on_sqlite
from tidings.schema import Instant
from tidings.service.door.scopes import HTTP
from tidings.store import Token

GROWING = ("/v1/notifications", "/v1/subscriptions/{id}/notifications", "/v1/notices")  # next is never null


def _followed(client: httpx.Client, path: str, **query: object) -> list[object]:
    """All items, by the header Link alone."""
    found: list[object] = []
    answer = client.get(path, params={"limit": 2, **query})  # type: ignore[arg-type]
    for _ in range(20):
        body = answer.json()
        assert answer.status_code == 200, answer.text
        assert body.keys() >= {"items", "next"}
        assert len(body["items"]) <= 2
        found += body["items"]
        link = answer.headers.get("link")
        assert (link is None) == (body["next"] is None)
        if link is None or not body["items"]:
            return found
        address, relation = re.fullmatch(r'<(.+)>; rel="(.+)"', link).groups()  # type: ignore[union-attr]
        assert relation == "next"
        answer = client.get(address)
    raise AssertionError("it has no end")


@on_sqlite
def test_lists_are_read_to_their_end_by_the_header_alone(client: httpx.Client, service: Service) -> None:
    for number in range(5):
        client.post("/v1/subscriptions", json={"filter": f"price > {number}"})
        client.post("/v1/events", json=car(f"e{number}", year=1970 + number))
        service.store.add_token(Token(bytes([number]) * 32, "tester", "token", "", frozenset(), Instant(0), None))
    assert len(_followed(client, "/v1/subscriptions", state="active")) == 5
    assert len(_followed(client, "/v1/events", filter="year >= 1971")) == 4
    assert len(_followed(client, "/v1/events", order="newest")) == 5
    assert len(_followed(client, "/v1/tokens")) == 6
    history = _followed(client, "/v1/schema/history")
    assert len(history) > 5
    assert _followed(client, "/v1/queries") == []


@on_sqlite
def test_a_link_keeps_the_other_parameters(client: httpx.Client) -> None:
    for number in range(3):
        client.post("/v1/events", json=car(f"e{number}", year=1970))
    answer = client.get("/v1/events", params={"filter": "year < 1980 and brand in ('mini')", "limit": 1, "after": "0"})
    link = httpx.URL(re.fullmatch(r"<(.+)>; rel=.+", answer.headers["link"])[1])  # type: ignore[index]
    assert link.path == "/v1/events"
    assert link.params.get_list("after") == [answer.json()["next"]]
    assert (link.params["limit"], link.params["filter"]) == ("1", answer.request.url.params["filter"])


@on_sqlite
def test_every_list_says_so(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    lists = {}
    for path, operations in document["paths"].items():
        answer = operations.get("get", {}).get("responses", {}).get("200", {})
        reference = answer.get("content", {}).get("application/json", {}).get("schema", {}).get("$ref", "")
        shape = document["components"]["schemas"].get(reference.rpartition("/")[2], {})
        if "next" in shape.get("properties", {}):
            lists[path] = (shape, answer, {one["name"] for one in operations["get"].get("parameters", ())})
    assert len(lists) >= 9
    for path, (shape, answer, parameters) in lists.items():
        assert {"items", "next"} <= set(shape["required"]), path
        assert {"after", "limit"} <= parameters, path
        assert "Link" in answer["headers"], path
    assert {f"GET {path}" for path in lists} <= HTTP.keys()
    assert set(GROWING) <= lists.keys()


@on_sqlite
@pytest.mark.parametrize("path", ["/v1/tokens", "/v1/queries", "/v1/subscriptions", "/v1/notices", "/v1/events"])
def test_wrong_cursors_and_limits_are_refused(client: httpx.Client, path: str) -> None:
    assert client.get(path, params={"after": "\0"}).json()["type"] == "/problems/invalid-cursor"
    for limit in (0, 1_001, "many"):
        answer = client.get(path, params={"limit": limit})
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-request")
