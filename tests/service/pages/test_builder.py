"""Rows and text kept in step: what the builder asks of the server."""

from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.service.conftest import Service, car, on_sqlite
from tests.service.example_store import SCHEMA
from tests.service.pages.visitor import Visitor
from tests.strategies.filters import RICH, catalogs, filter_texts
from tidings.language import Filter
from tidings.language.patterns.parser import parse_pattern
from tidings.schema import Catalog, Domain, growth, json_form
from tidings.schema.catalog import RESERVED, Attribute, AttributeUse
from tidings.schema.domain import Kind
from tidings.service.pages.forms.builder import MOST_GROUPS, rows_of
from tidings.service.pages.forms.builder_rows import Row, Rows
from tidings.service.pages.forms.builder_text import text_of
from tidings.service.pages.forms.choices import choices, grouped, offered
from tidings.service.workers import filter_trial
from tidings.store import Grow

CATALOG = json_form.read(SCHEMA.read_bytes())


def _ask(visitor: Visitor, path: str = "/pages/filter", **body: Any) -> httpx.Response:
    visitor.get("/pages/subscriptions/new")
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
        'price < "estimate" and ends > now',
        'price <= 1.1 * "estimate" - 50 and ends < now + 2 h',
        'price > "estimate" + 3 and ends >= now - 36 h',
    ],
)
def test_what_has_rows_is_the_same_filter_again(text: str) -> None:
    filter = Filter.parse(text, CATALOG)
    rows = rows_of(filter.tree, CATALOG)
    assert rows is not None
    again, places = text_of(rows, CATALOG)
    assert Filter.parse(again, CATALOG) == filter
    assert len(places) == sum(len(group) for group in rows.groups)


@pytest.mark.parametrize(
    "text",
    [
        "not (price < estimate)",
        "not (price < 10 and year > 3)",
        "brand = mini and (price < 1 or year > 1 and price > 5)",
        "not (price < 3)",
        "brand not contains 'audi'",  # brand has one value: the form offers "is not" for it
        "category between 'car' and 'vehicle'",
        "title = ' red'",
        "title = ''",
        "title = 'two\nlines'",
        " or ".join(f"price = {number} and year = 1" for number in range(MOST_GROUPS + 1)),
    ],
)
def test_what_rows_cannot_say_has_none(text: str) -> None:
    assert rows_of(Filter.parse(text, CATALOG).tree, CATALOG) is None


def test_an_attribute_that_no_event_type_has_is_not_offered_and_has_no_rows() -> None:
    assert "unused" not in offered(RICH)
    assert rows_of(Filter.parse("unused > 3 and price < 5", RICH).tree, RICH) is None


@given(catalog=catalogs(), data=st.data())
def test_rows_are_none_or_say_the_same_by_what_is_offered(catalog: Catalog, data: st.DataObject) -> None:
    filter = Filter.parse(data.draw(filter_texts(catalog)), catalog)
    rows = rows_of(filter.tree, catalog)
    if rows is None:
        return
    assert Filter.parse(text_of(rows, catalog)[0], catalog) == filter
    for row in (row for group in rows.groups for row in group):
        domain = catalog.domain_of(row.attribute)
        assert row.attribute in offered(catalog)
        assert domain is not None
        legal = [choice.operator for choice in choices(domain, catalog.may_be_multiple(row.attribute))]
        assert row.operator in legal


PLACES = Catalog.from_dict(
    {
        "domains": [
            {"name": "spot", "kind": "place"},
            {"name": "instant", "kind": "time"},
            {"name": "text", "kind": "text"},
        ],
        "attributes": [
            {"name": "spot", "domain": "spot"},
            {"name": "body", "domain": "text"},
            *({"name": n, "domain": "instant"} for n in ("start", "end")),
        ],
        "event_types": [{"name": "quake", "attributes": [{"name": n} for n in ("spot", "start", "end", "body")]}],
    }
)


@pytest.mark.parametrize(
    "text",
    [
        "spot near (37.8, -122.4) within 10 km",
        "spot not near (37.8, -122.4) within 0.5 mi or spot inside (37, -123, 38, -122)",
        "body ~ 'it''s up' at least 0.25 and not (body ~ 'bank, rates' at least 1)",
        'spot not inside (37, 179, 38, -179) and end > "start" + 2 h and start = "end" - 1.5 s',
    ],
)
def test_places_times_and_similar_texts_have_rows(text: str) -> None:
    filter = Filter.parse(text, PLACES)
    rows = rows_of(filter.tree, PLACES)
    assert rows is not None
    assert Filter.parse(text_of(rows, PLACES)[0], PLACES) == filter


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (Row("spot", "near", ("1", "2", "", "km")), ""),
        (Row("spot", "near", ("x", "2", "3", "km")), "spot near ('x', 2) within 3 km"),
        (Row("spot", "near", ("1", "2", "3", "km or start exists")), "spot near (1, 2) within 3 'km or start exists'"),
        (Row("body", "similar", ("bank", "")), ""),
        (Row("body", "similar", ("it's", "0.5 or x")), "body ~ 'it''s' at least '0.5 or x'"),
        (Row("body", "not similar", ("bank", "0.5")), "not (body ~ 'bank' at least 0.5)"),
        (Row("end", "compares", ("<", "", "", "")), ""),
        (Row("end", "compares", ("< start or end <", "start", "", "")), ""),
        (Row("end", "compares", ("<", 'st"art', "", "2 h or x")), 'end < "st""art" + \'2 h or x\''),
        (Row("end", "now", ("<", "2 h")), "end < now + 2 h"),
        (Row("end", "now", ("<", "- 1 fortnight")), "end < now + '- 1 fortnight'"),
    ],
)
def test_what_was_typed_wrongly_is_left_to_the_parser_or_is_incomplete(row: Row, text: str) -> None:
    assert text_of(Rows("or", ((row,),)), PLACES)[0] == text


def test_attributes_are_offered_by_event_type() -> None:
    own = [
        ("auction", ("title", "price", "category", "ends", "estimate", "condition")),
        ("car", ("brand", "year", "paint")),
    ]
    assert grouped(CATALOG) == [*own, ("Every event", RESERVED)]
    assert {name for _, names in grouped(RICH) for name in names} == set(offered(RICH))


@pytest.mark.parametrize("typed", ["1_000", "٣", "nan", "1e999", "0x10", "1 000"])
def test_a_number_is_read_as_the_language_reads_it(typed: str) -> None:
    text, _ = text_of(Rows("or", ((Row("price", "<", (typed,)),),)), CATALOG)
    assert text == f"price < '{typed}'", "the parser is to refuse it"


@pytest.mark.parametrize(("typed", "number"), [("+5", "5"), ("-.5", "-0.5"), ("3.", "3.0"), (" 1e3 ", "1000.0")])
def test_numbers_as_people_write_them(typed: str, number: str) -> None:
    assert text_of(Rows("or", ((Row("price", "<", (typed,)),),)), CATALOG)[0] == f"price < {number}"


def test_every_operator_that_is_offered_is_legal() -> None:
    values = {"numeric": "1", "string": "red", "enumerated": "", "hierarchical": "vehicle", "time": "2026-05-04T12:00"}
    for name in CATALOG.attribute_names:
        domain = CATALOG.domain_of(name)
        assert domain is not None
        for choice in choices(domain, CATALOG.may_be_multiple(name)):
            value = (domain.values or ("",))[0] or values[str(domain.kind)]
            if choice.takes in ("compares", "now"):
                filled = ("=", name, "", "") if choice.takes == "compares" else ("<", "+ 2 h")
                text, _ = text_of(Rows("or", ((Row(name, choice.operator, filled),),)), CATALOG)
                assert Filter.parse(text, CATALOG).text, (name, choice)
                continue
            count = {"none": 0, "two": 2}.get(choice.takes, 1)
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
    (compared,) = _ask(ann, text="price < 2 * estimate").json()["rows"]["groups"][0]
    assert compared == _row("price", "compares", "<", "estimate", "2", "")
    assert _ask(ann, rows={"groups": [[compared]]}).json()["text"] == 'price < 2 * "estimate"'
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
    assert error["told"].startswith("'cheap' is not a number")


@on_sqlite
def test_rows_that_lack_something_are_told_and_rows_without_an_attribute_are_not(ann: Visitor) -> None:
    full, half = _row("price", "<", "30000"), _row("year", "between", "100", " ")
    told = _ask(
        ann, rows={"join": "or", "groups": [[full, half, _row("", "")], [_row("title", "contains any")]]}
    ).json()
    assert told["text"] == "price < 30000"
    assert told["incomplete"] == [[0, 1], [1, 0]]
    assert _ask(ann, rows={"groups": [[half]]}).json() == {"empty": True, "text": "", "incomplete": [[0, 0]]}
    assert _ask(ann, rows={"groups": [[full, _row("estimate", "exists")]]}).json()["incomplete"] == []
    wrong = _ask(ann, rows={"groups": [[half, _row("price", "<", "cheap")]]}).json()
    assert (wrong["error"]["row"], wrong["incomplete"]) == ([0, 1], [[0, 0]])


@on_sqlite
@pytest.mark.parametrize("typed", ["30,000", "€500", "abc", "1_000"])
def test_of_a_number_a_row_says_what_the_form_for_publishing_says(ann: Visitor, typed: str) -> None:
    error = _ask(ann, rows={"groups": [[_row("year", "=", "1"), _row("year", "in", "1", typed)]]}).json()["error"]
    assert (error["row"], error["told"]) == ([0, 1], f"'{typed}' is not a number; expected e.g. 1300 or 12.5.")
    ann.get("/pages/publish", type="car")
    ann.submit("/pages/publish", **{"value:year": typed})
    assert ann.errors()["value:year"] == error["told"]


@on_sqlite
def test_of_other_kinds_a_row_says_what_the_text_says(ann: Visitor) -> None:
    in_row = _ask(ann, rows={"groups": [[_row("brand", "=", "saab")]]}).json()["error"]
    assert in_row["told"] == _ask(ann, text="brand = 'saab'").json()["error"]["told"]
    assert "is not a value of 'brand'" in in_row["told"]
    quoted = _ask(ann, text="price < '5'").json()["error"]
    assert quoted["told"] == "'5' is not a value of 'price'; numbers are written without quotes."


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
        service.client.post("/v1/events", json=car(f"e{number}", year=1990 + number))
    for number in range(30):  # what stands between the events does not count
        ann.subscribe(f"year = {number}")
    tried = filter_trial.tried(service.store, "year > 1992", 3)
    assert (tried.matched, tried.scanned) == (2, 3)
    assert ["1994" in one.payload for one in tried.newest] == [True, False], "the newest first"
    told = _ask(ann, "/pages/filter/count", text="year > 1992").json()
    assert (told["matched"], told["scanned"]) == (2, 5)
    assert told["newest"].index("1994") < told["newest"].index("1993")
    assert "error" in _ask(ann, "/pages/filter/count", text="year >").json()


@on_sqlite
def test_what_finds_it_all_already_without_the_one_that_is_edited(ann: Visitor) -> None:
    id = ann.subscribe("year > 1980")
    ann.subscribe("title contains 'oak'")
    asked = "/pages/filter/covered"
    assert _ask(ann, asked, text="year > 1992").json() == {"covered_by": id}
    assert _ask(ann, asked, text="year > 1980", besides=id).json() == {"covered_by": ""}
    assert _ask(ann, asked, text="year > 1970").json() == {"covered_by": ""}
    assert _ask(ann, asked, text="year > 2000 and year < 1").json()["covered_by"], "anything covers nothing"
    assert "error" in _ask(ann, asked, text="year >").json()


@on_sqlite
def test_a_filter_of_what_is_not_offered_has_no_rows(service: Service, ann: Visitor) -> None:
    service.store.append([Grow(growth.CreateAttribute(Attribute("weight", "money")))])
    assert _ask(ann, text="weight > 3 and price < 5").json()["rows"] is None
    service.store.append([Grow(growth.ExtendEventType("car", AttributeUse("weight", False)))])
    assert _ask(ann, text="weight > 3 and price < 5").json()["rows"] is not None
    assert _ask(ann, text="brand not contains 'audi'").json()["rows"] is None


@on_sqlite
def test_what_the_builder_offers(ann: Visitor) -> None:
    offered = {one["name"]: one for one in ann.client.get("/pages/attributes").json()["attributes"]}
    assert offered["brand"]["values"] == ["opel", "mini", "audi", "volvo"]
    assert offered["brand"]["select"]
    assert "is within" in [choice["label"] for choice in offered["category"]["choices"]]
    assert "event_type" in offered
    found = ann.client.get("/pages/values", params={"attribute": "category", "q": "TABLE"}).json()["values"]
    assert found == ["furniture > table", "furniture > table > dining table", "furniture > table > desk"]
    assert ann.client.get("/pages/values", params={"attribute": "none"}).json() == {"values": []}


def test_the_pattern_in_the_label_of_a_word_pattern_is_one() -> None:
    """The label shows every form that the parser reads."""
    domain = Domain("text", Kind.TEXT)
    (label,) = [one.label for one in choices(domain, False) if one.operator == "contains pattern"]
    forms = label[label.index("(") + 1 : -1].split(", ")
    assert forms[:3] == ["and", "or", "not"]
    for form in forms[3:]:
        parse_pattern(form, 0, len(form))
