"""Rows and text kept in step: what the builder asks of the server."""

from typing import Any

import httpx
import pytest

from tests.service.conftest import SCHEMA, Service, car, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.language import Filter
from tidings.schema import json_form
from tidings.service.pages.builder import choices, rows_of, text_of

CATALOG = json_form.read(SCHEMA.read_bytes())


def _ask(visitor: Visitor, path: str = "/pages/filter", **body: Any) -> httpx.Response:
    visitor.get("/")
    headers = {"X-Form-Proof": visitor.tree.find("body").get("data-proof")}
    return visitor.client.post(path, json=body, headers=headers)


def _row(attribute: str, operator: str, *values: str) -> dict[str, Any]:
    return {"attribute": attribute, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    "text",
    [
        "brand = 'mini'",
        "brand = 'mini' and price < 1300",
        "brand = 'mini' or price < 1300",
        "brand = 'mini' and price < 1300 or year between 1960 and 1979",
        "(brand = 'mini' or price < 1300) and (year > 1990 or title contains 'red')",
        "brand = 'mini' and (price < 1300 or year > 1990)",
        "brand not in ('mini', 'audi') and estimate exists and not (condition exists)",
        "category <= 'vehicle' and ends > '2026-05-04T12:00:00Z'",
        "title contains any 'mini cooper' and title not contains all 'red one'",
        "event_type contains 'car' and paint not contains 'red'",
        "title = 'it''s red' and price != -2.5",
    ],
)
def test_what_has_rows_is_the_same_filter_again(text: str) -> None:
    filter = Filter.parse(text, CATALOG)
    rows = rows_of(filter.tree)
    assert rows is not None
    again, places = text_of(rows, CATALOG)
    assert Filter.parse(again, CATALOG) == filter
    assert len(places) == sum(len(group) for group in rows.groups)


@pytest.mark.parametrize(
    "text",
    [
        "price < estimate",
        "not (price < 10 and year > 3)",
        "brand = mini and (price < 1 or year > 1 and price > 5)",
        "not (price < 3)",
    ],
)
def test_what_rows_cannot_say_has_none(text: str) -> None:
    filter = Filter.parse(text, CATALOG)
    rows = rows_of(filter.tree)
    if rows is not None:  # binding may have made something simpler of it
        assert Filter.parse(text_of(rows, CATALOG)[0], CATALOG) == filter
        pytest.fail(f"{text} has rows: {rows}")


def test_every_operator_that_is_offered_is_legal() -> None:
    values = {"numeric": "1", "string": "red", "enumerated": "", "hierarchical": "vehicle", "time": "2026-05-04T12:00"}
    for name in CATALOG.attribute_names:
        domain = CATALOG.domain_of(name)
        assert domain is not None
        for choice in choices(domain, CATALOG.may_be_multiple(name)):
            value = (domain.values or ("",))[0] or values[str(domain.kind)]
            count = {"none": 0, "two": 2}.get(choice.takes, 1)
            from tidings.service.pages.builder import Row, Rows

            text, _ = text_of(Rows("or", ((Row(name, choice.operator, (value,) * count),),)), CATALOG)
            assert Filter.parse(text, CATALOG).text, (name, choice)


@on_sqlite
def test_rows_become_canonical_text_and_text_becomes_rows(ann: Visitor) -> None:
    rows = {"join": "or", "groups": [[_row("brand", "=", "mini"), _row("price", "<", "1300")], [_row("", "")]]}
    told = _ask(ann, rows=rows).json()
    assert told["text"] == "brand = 'mini' and price < 1300"
    assert told["rows"]["groups"] == [rows["groups"][0]]
    told = _ask(ann, text="brand=mini AND price<1300").json()
    assert told["text"] == "brand = 'mini' and price < 1300"
    assert _ask(ann, text="price < estimate").json()["rows"] is None
    assert _ask(ann, text="  ").json() == {"empty": True, "text": ""}
    assert "can never match" in _ask(ann, text="price < 1 and price > 2").json()["warnings"][0]


@on_sqlite
def test_an_error_has_its_place_in_the_text_and_in_the_rows(ann: Visitor) -> None:
    error = _ask(ann, text="brand = mini and\nprise < 10").json()["error"]
    assert (error["line"], error["column"], error["offset"]) == (2, 1, 17)
    assert error["picture"].split("\n")[0].strip() == "prise < 10"
    rows = {
        "join": "and",
        "groups": [[_row("brand", "=", "mini")], [_row("year", "=", "1"), _row("price", "<", "cheap")]],
    }
    error = _ask(ann, rows=rows).json()["error"]
    assert error["row"] == [1, 1]
    assert "price" in error["told"]


@on_sqlite
@pytest.mark.parametrize("body", [{"rows": {"groups": 3}}, {"rows": {"groups": [["x"]]}}, {"text": 3}, {"other": 1}])
def test_a_strange_body_is_refused(ann: Visitor, body: dict[str, Any]) -> None:
    assert _ask(ann, **body).status_code == 422


@on_sqlite
def test_strange_rows_do_no_harm(ann: Visitor) -> None:
    for row in (_row("no such", "=", "1"), _row("price", "drop", "1"), _row('a" or "b', "not in", "x'")):
        told = _ask(ann, rows={"join": "x", "groups": [[row]]}).json()
        assert "error" in told


@on_sqlite
def test_how_many_of_the_last_events_it_matches(service: Service, ann: Visitor) -> None:
    for number in range(5):
        service.client.post("/events", json=car(f"e{number}", year=1990 + number))
    id = ann.subscribe("year > 1980")
    told = _ask(ann, "/pages/filter/count", text="year > 1992").json()
    assert (told["matched"], told["scanned"], told["covered_by"]) == (2, 5, [id])
    assert "error" in _ask(ann, "/pages/filter/count", text="year >").json()


@on_sqlite
def test_what_the_builder_offers(ann: Visitor) -> None:
    offered = {one["name"]: one for one in ann.client.get("/pages/attributes").json()["attributes"]}
    assert offered["brand"]["values"] == ["opel", "mini", "audi", "volvo"]
    assert offered["brand"]["select"]
    assert "is, or lies under" in [choice["label"] for choice in offered["category"]["choices"]]
    assert "event_type" in offered
    found = ann.client.get("/pages/values", params={"attribute": "category", "q": "TABLE"}).json()["values"]
    assert found == ["table", "dining table"]
    assert ann.client.get("/pages/values", params={"attribute": "none"}).json() == {"values": []}
