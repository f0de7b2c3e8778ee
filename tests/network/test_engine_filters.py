"""Filters as texts, matched a page at a time: few one by one, many by the engine, with equal answers."""

import json

import pytest

from tests.network.nodes import CHANGES
from tidings.network.contents import Page
from tidings.network.engine_filters import EngineFilters
from tidings.schema import Catalog, json_form
from tidings.schema.growth import grow

CATALOG = Catalog()
for one in CHANGES:
    CATALOG = grow(CATALOG, json_form.read_change(one))
FILTERS = EngineFilters(CATALOG)
OFFERS = [{"id": str(price), "event_type": ["offer"], "attributes": {"price": price}} for price in range(20)]
PAGE = Page([*map(json.dumps, OFFERS), '{"id": "no event"}', "{"])


@pytest.mark.parametrize("count", [1, 16, 17])
def test_any_of_the_filters(count: int) -> None:
    selects = FILTERS.selector([f"price = {number}" for number in range(count)])
    assert [selects(content) for content in PAGE.contents] == [*(price < count for price in range(20)), False, False]


def test_nothing_is_wanted_without_filters_and_everything_matches_events() -> None:
    assert not FILTERS.selector(())(PAGE.contents[0])
    assert FILTERS.matches(FILTERS.everything, PAGE.contents[3])


def test_what_depends_on_the_time_of_acceptance_travels_as_exists() -> None:
    time = {"change": "create_domain", "domain": {"name": "moment", "kind": "time"}}
    ends = {"change": "create_attribute", "attribute": {"name": "ends", "domain": "moment"}}
    catalog = grow(grow(CATALOG, json_form.read_change(time)), json_form.read_change(ends))
    filters = EngineFilters(catalog)
    assert filters.travelling("price < 5 and ends < now + 1 day") == "ends exists and price < 5"
    assert filters.travelling("price < 5") == "price < 5"


def test_thousands_of_filters_are_merged_to_the_limit() -> None:
    many = [f"price between {2 * number} and {2 * number + 1}" for number in range(900)]
    summary = FILTERS.summary(many, 100)
    assert len(summary) <= 100
    selects = FILTERS.selector(summary)
    assert all(selects(content) for content in PAGE.contents[:20])
    assert FILTERS.fits(summary)
    assert not FILTERS.fits(["colour = red"])
