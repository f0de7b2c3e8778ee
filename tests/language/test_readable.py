"""Canonical text in the words of the language."""

import pytest
from hypothesis import given

from tests.strategies.filters import RICH, filter_texts
from tidings.language import Filter
from tidings.language.readable import readable
from tidings.schema import Catalog, json_form

CATALOG: Catalog = json_form.read(
    {
        "domains": [
            {"name": "money", "kind": "numeric"},
            {"name": "brand", "kind": "enumerated", "values": ["mini", "price", "under", "rolls royce"]},
            {
                "name": "category",
                "kind": "hierarchical",
                "tree": {"vehicle": {"car": {}}, "toy": {"car": {}, "ball": {}}},
            },
            {"name": "text", "kind": "text"},
            {"name": "string", "kind": "string"},
        ],
        "attributes": [
            {"name": "price", "domain": "money"},
            {"name": "estimate", "domain": "money"},
            {"name": "brand", "domain": "brand"},
            {"name": "category", "domain": "category"},
            {"name": "title", "domain": "text"},
            {"name": "seller", "domain": "string"},
        ],
        "event_types": [],
    }
)


@pytest.mark.parametrize(
    "text",
    [
        "category under vehicle",
        "category under 'toy > car'",
        "category under ball and brand in (mini, 'rolls royce')",
        "brand = 'price' or brand != 'under'",
        "price < estimate",
        "price < 1.5 * estimate + 3",
        "not (category under toy)",
        "seller = 'mini'",
        "title contains 'mini'",
    ],
)
def test_what_people_write_is_what_they_read(text: str) -> None:
    assert readable(Filter.parse(text, CATALOG).text, CATALOG) == text


def test_what_the_schema_does_not_know_stays_as_it_is() -> None:
    assert readable("colour = 'red'", CATALOG) == "colour = 'red'"
    long = " or ".join(["category <= 'vehicle'"] * 200)
    assert readable(long, CATALOG) == long


@given(filter_texts(RICH))
def test_it_always_means_the_same(text: str) -> None:
    filter = Filter.parse(text, RICH)
    assert Filter.parse(readable(filter.text, RICH), RICH) == filter
