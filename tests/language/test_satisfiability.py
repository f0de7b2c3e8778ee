import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies.filters import RICH, catalogs, events, filter_texts
from tidings.language import Filter, print_filter
from tidings.language.analysis.satisfiability import contradiction, never_matches
from tidings.language.tree import And
from tidings.matching.naive import matches
from tidings.schema import Catalog


def clash(text: str) -> list[str] | None:
    (conjunction,) = Filter.parse(text, RICH).conjunctions
    found = contradiction(conjunction, RICH)
    assert (found is not None) == never_matches(conjunction, RICH)
    return None if found is None else [print_filter(literal) for literal in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("price > 5 and red = 1 and price < 5", ["price > 5", "price < 5"]),
        ("price = 1 and price = 2 and price = 3", ["price = 1", "price = 2"]),
        ("size < 'S'", ["size < 'S'"]),
        ("title < ''", ["title < ''"]),
        ("category < 'toy'", ["category < 'toy'"]),
        ("category > 'furniture'", ["category > 'furniture'"]),
        ("category <= 'table' and category <= 'vehicle'", ["category <= 'furniture > table'", "category <= 'vehicle'"]),
        ("price between 2 and 1", ["price between 2 and 1"]),
        ("price exists and not (price exists)", ["price exists", "not (price exists)"]),
        ("not (event.id exists)", ["not (event.id exists)"]),
        ("not (event_type exists)", ["not (event_type exists)"]),
        ("price < budget and budget < price", ['price < "budget"', 'budget < "price"']),
        ("price < price", ['price < "price"']),
        ("category < kinds and kinds < category", ['category < "kinds"', 'kinds < "category"']),
        (
            "paint contains blue and paint not contains blue",
            ["paint contains 'blue'", "paint not contains 'blue'"],
        ),
        (
            "colour contains blue and colour contains green",
            ["colour contains 'blue'", "colour contains 'green'"],
        ),
        ("colour contains blue and colour != 'blue'", ["colour contains 'blue'", "colour != 'blue'"]),
        (
            "title contains all 'a b' and title not contains 'a'",
            ["title contains all 'a b'", "title not contains 'a'"],
        ),
        (
            "price in (1, 2) and price != 1 and red = 1 and price != 2",
            ["price in (1, 2)", "price != 1", "price != 2"],
        ),
    ],
)
def test_predicates_that_exclude_each_other_are_named(text: str, found: list[str]) -> None:
    assert clash(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "prices = 5 and price = 6",
        "prices contains 5 and prices contains 6",
        "prices contains 5 and prices < 5",
        "paint contains blue and paint contains green",
        "title contains 'a' and title not contains all 'a b'",
        "title contains any 'a b' and title not contains all 'a b'",
        "not (event.time exists)",
        "price <= budget and budget <= price",
        "category != kinds and not (category < kinds) and not (category > kinds)",  # unrelated
    ],
)
def test_what_can_match_is_not_called_impossible(text: str) -> None:
    assert clash(text) is None


def test_between_two_neighbouring_floats_there_is_nothing() -> None:
    assert clash("price > 1 and price < 1.0000000000000002") is not None
    assert clash("price > 1 and price < 1.0000000000000004") is None
    assert clash("price = 1 and price < -1.7976931348623157e308") is not None


def test_a_long_conjunction_is_judged_soon_and_returned_whole() -> None:
    listed = ", ".join(map(str, range(10_000)))
    text = f"price in ({listed}) and " + " and ".join(f"price != {i}" for i in range(10_000))
    assert len(clash(text) or ()) == 10_001
    assert clash(" and ".join(f"price != {i}" for i in range(10_000))) is None


@given(catalogs(), st.data())
def test_what_is_judged_impossible_never_matches(catalog: Catalog, data: st.DataObject) -> None:
    filter = Filter.parse(data.draw(filter_texts(catalog)), catalog)
    event = data.draw(events(catalog)).bindings()
    for conjunction in filter.conjunctions:
        if matches(And(conjunction), event, catalog):
            assert not never_matches(conjunction, catalog)


@given(filter_texts(RICH))
def test_of_a_contradiction_nothing_can_be_left_out(text: str) -> None:
    for conjunction in Filter.parse(text, RICH).conjunctions:
        found = contradiction(conjunction, RICH)
        for left_out in found or ():
            fewer = tuple(literal for literal in found or () if literal is not left_out)
            assert not fewer or not never_matches(fewer, RICH)
