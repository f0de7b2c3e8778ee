"""Filters as texts, matched a page at a time: few one by one, many by the engine, with equal answers."""

import json

import pytest

from tests.network.nodes import CHANGES
from tidings.network import engine_filters
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
    assert filters.travelling("price < 5 and ends < now + 1 day") == "price < 5 and ends exists"
    assert filters.travelling("price < 5") == "price < 5"


def test_what_depends_on_statistics_travels_as_exists() -> None:
    text = {"change": "create_domain", "domain": {"name": "words", "kind": "text"}}
    body = {"change": "create_attribute", "attribute": {"name": "body", "domain": "words"}}
    filters = EngineFilters(grow(grow(CATALOG, json_form.read_change(text)), json_form.read_change(body)))
    similar = "body ~ 'red car' at least 0.4"
    assert filters.travelling(f"{similar} and price < 5") == "body exists and price < 5"
    assert filters.travelling(f"not ({similar} or price < 5)") == "body exists and price >= 5"
    assert filters.travelling(f"{similar} and body ~ 'red' at least 0.2") == "body exists"


def test_thousands_of_filters_are_merged_to_the_limit() -> None:
    many = [f"price between {2 * number} and {2 * number + 1}" for number in range(900)]
    summary = FILTERS.summary(many, 100)
    assert len(summary) <= 100
    selects = FILTERS.selector(summary)
    assert all(selects(content) for content in PAGE.contents[:20])
    assert FILTERS.fits(summary)
    assert not FILTERS.fits(["colour = red"])


def test_one_filter_less_merges_one_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [f"price between {2 * number} and {2 * number + 1}" for number in range(3_000)]
    filters = EngineFilters(CATALOG)
    first = filters.summary(many, 100)
    before = filters._merged.cache_info().misses
    assert 30 < before < 300
    filters.summary(many[:1_500] + many[1_501:], 100)
    assert filters._merged.cache_info().misses <= before + 2
    assert len(first) <= 100


def test_no_filter_and_no_summary_is_too_long_for_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_filters, "LONGEST_TEXT", 100)
    monkeypatch.setattr(engine_filters, "_MOST_TEXT", 500)
    long = f"price in ({', '.join(str(number) for number in range(5, 50))})"
    assert FILTERS.travelling(long) == "price >= 5 and price < 49.00000000000001"
    many = [f"price between {2 * number} and {2 * number + 1}" for number in range(100)]
    summary = FILTERS.summary(many, 1_000)
    assert 100 < sum(map(len, map(str, summary))) <= 500
    selects = FILTERS.selector(summary)
    assert all(selects(content) for content in PAGE.contents[:20])
    assert FILTERS.fits(summary)
    assert not FILTERS.fits(many)  # more text than any server sends
