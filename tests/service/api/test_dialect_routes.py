"""Subscriptions in other languages over HTTP."""

from typing import Any

import httpx
import pytest

from tests.service.conftest import on_sqlite


@on_sqlite
def test_an_expression_in_cesql(client: httpx.Client) -> None:
    posted = client.post("/v1/subscriptions", json={"filter": "brand = 'mini' AND price < 900", "dialect": "cesql"})
    assert posted.status_code == 201
    made = posted.json()
    assert (made["dialect"], made["written"]) == ("cesql", "brand = 'mini' AND price < 900")
    assert made["filter"] == (
        "brand = 'mini' and price < 900 and event_type checked cesql 'brand = ''mini'' AND price < 900'"
    )
    path = posted.headers["location"]
    assert client.get(path).json()["written"] == made["written"]
    changed = client.patch(path, json={"filter": "price < 5"}).json()
    assert "dialect" not in changed
    assert "written" not in changed


@on_sqlite
def test_a_filters_array(client: httpx.Client) -> None:
    posted = client.post("/v1/subscriptions", json={"filters": [{"exact": {"brand": "mini"}}]})
    assert posted.status_code == 201
    made = posted.json()
    assert (made["dialect"], made["written"]) == ("cloudevents", '[{"exact":{"brand":"mini"}}]')
    assert made["filter"].startswith("brand = 'mini' and event_type translated cloudevents ")


@on_sqlite
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"filter": "LENGHT(brand) > 3", "dialect": "cesql"}, "did you mean 'LENGTH'?"),
        ({"filter": "brand", "dialect": "cesql"}, "a filter must be true or false"),
        ({"filters": [{"exat": {"brand": "mini"}}]}, "did you mean 'exact'?"),
        ({"filter": "price < 5", "filters": []}, "exactly one of 'filter', 'filters' and 'composite'"),
        ({"dialect": "cesql"}, "exactly one of 'filter', 'filters' and 'composite'"),
        ({"composite": "[price < 5]", "dialect": "cesql"}, "a composite has no dialect"),
        ({"filter": "price < 5", "dialect": "sql"}, "sql"),
        ({"filters": [], "dialect": "cesql"}, "'filters' is for the dialect 'cloudevents'"),
    ],
)
def test_mistakes(client: httpx.Client, body: dict[str, Any], words: str) -> None:
    answer = client.post("/v1/subscriptions", json=body)
    assert answer.status_code in (400, 422)
    assert words in answer.json()["detail"]


@on_sqlite
def test_lines_of_an_import_say_their_dialect(client: httpx.Client) -> None:
    lines = [{"id": "a", "filter": "brand = 'mini'", "dialect": "cesql"}, {"filter": "brand =", "dialect": "cesql"}]
    answer = client.post("/v1/subscriptions/import", json=lines)
    assert [one["status"] for one in answer.json()["results"]] == ["accepted", "refused"]
    again = client.post("/v1/subscriptions/import", json=lines[:1])
    assert [one["status"] for one in again.json()["results"]] == ["duplicate"]
    (made,) = client.get("/v1/subscriptions").json()["items"]
    assert (made["dialect"], made["written"]) == ("cesql", "brand = 'mini'")
