from collections import Counter

import pytest
from hypothesis import given

from tests.strategies.filters import RICH, filter_texts
from tidings.language import Filter, advice
from tidings.language.analysis import satisfiability
from tidings.language.analysis.satisfiability import fit_exclude, never_matches
from tidings.language.normal_form import Conjunction
from tidings.language.predicates.kind import Fits
from tidings.schema import Catalog


def warnings(text: str) -> tuple[str, ...]:
    return Filter.parse(text, RICH).warnings


@pytest.mark.parametrize(
    "text",
    [
        "price < 5",
        "price != 5 or not (price exists)",
        "price exists and not (price = 5)",
        "not (price = 5 and price exists)",
        "price != 5 and price < 10",
        "paint = 'red'",
        "prices > 5 and prices < 10",
        "not not (paint = 'red')",
        "paint contains red and paint contains blue",
        "not (paint exists)",
        "not (unused exists)",
        "paint = 'red' or paint = 'blue'",
    ],
)
def test_most_filters_get_none(text: str) -> None:
    assert warnings(text) == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("paint != 'red'", "paint != 'red'"),
        ("not (paint = 'red')", "not (paint = 'red')"),
        ("not (price = 1 or paint = 'red')", "not (paint = 'red')"),
        ("not (prices < 10)", "not (prices < 10)"),
        ("prices not in (1, 2)", "prices not in (1, 2)"),
        ("prices not between 1 and 2", "prices not between 1 and 2"),
        ("kinds not under table", "not (kinds <= 'furniture > table')"),
        ("prices != price", 'prices != "price"'),
        ("price != prices", 'price != "prices"'),
        ("event_type != car", "event_type != 'car'"),
    ],
)
def test_avoiding_a_value_where_there_may_be_several_is_a_trap(text: str, shown: str) -> None:  # section 3
    (warning,) = (one for one in warnings(text) if "may have several values" in one)
    assert f"may have several values: {shown} matches as soon as one of them fits" in warning
    assert "contains …)" in warning


@pytest.mark.parametrize(
    ("text", "shown", "asked"),
    [
        ("price != 5", "price != 5", "not (price exists)"),
        ("not (price = 5)", "not (price = 5)", "not (price exists)"),
        ("colour = 'red' and not (price < 5 or colour = blue)", "not (price < 5)", "not (price exists)"),
        ("not (paint contains red)", "paint not contains 'red'", "not (paint exists)"),
        ("title not contains all 'red mini'", "title not contains all 'red mini'", "not (title exists)"),
        ('"zip code" not in (1, 2)', '"zip code" not in (1, 2)', 'not ("zip code" exists)'),
        ("spot not near (0, 0) within 5 km", "spot not near (0, 0) within 5 km", "not (spot exists)"),
        ("event.time != '2026-05-01'", "event.time != '2026-05-01T00:00:00Z'", "not (event.time exists)"),
    ],
)
def test_excluding_a_value_loses_events_that_say_nothing(text: str, shown: str, asked: str) -> None:
    found = [one for one in warnings(text) if f"match {shown};" in one]
    name = asked.removeprefix("not (").removesuffix(" exists)").strip('"')
    assert found == [
        f"{name!r} may be missing: events without it do not match {shown}; to include them, add: or {asked}"
    ]
    assert not any("may be missing" in one for one in warnings(f"{text} or {asked}"))


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ("year != 5", False),  # mandatory wherever it is used
        ("price != 5", True),
        ("event_type contains car and price != 5", False),
        ("event_type = 'car' and (year = 1 or not (price = 5))", False),
        ("event_type contains bid and price != 5", True),
        ("event_type contains bid and event_type contains car and price != 5", False),
        ("event_type contains bid and year != 5", True),  # bids have none
        ("event_type contains car or price != 5", True),
        ("not (event_type contains car or price = 5)", True),
        ("event_type != 'car'", False),
        ("event.source != 'a'", False),
    ],
)
def test_what_events_of_the_required_types_must_have_is_not_missing(text: str, warned: bool) -> None:
    schema = Catalog.from_dict(
        {
            "domains": [{"name": "n", "kind": "numeric"}],
            "attributes": [{"name": "price", "domain": "n"}, {"name": "year", "domain": "n"}],
            "event_types": [
                {"name": "car", "attributes": [{"name": "price"}, {"name": "year"}]},
                {"name": "bid", "attributes": [{"name": "price", "mandatory": False}]},
            ],
        }
    )
    assert any("may be missing" in one for one in Filter.parse(text, schema).warnings) == warned


def test_two_equalities_where_contains_was_meant_are_a_trap() -> None:  # section 3
    trap, never = warnings("paint = 'red' and paint = 'blue'")
    assert "write paint contains … and paint contains …" in trap
    assert never == "this filter can never match: paint = 'red' contradicts paint = 'blue'"


def test_an_attribute_that_no_event_type_has() -> None:
    assert warnings("unused > 5") == ("no event type has the attribute 'unused' yet: nothing can satisfy unused > 5",)
    assert warnings("price < unused") == (
        "no event type has the attribute 'unused' yet: nothing can satisfy price < \"unused\"",
    )


def test_a_filter_and_one_alternative_that_can_never_match() -> None:
    assert warnings("price < 5 and price > 10") == ("this filter can never match: price < 5 contradicts price > 10",)
    assert warnings("price < 5 and price > 10 or red = 1") == (
        "one alternative can never match: price < 5 contradicts price > 10",
    )
    assert warnings("price between 2 and 1") == (
        "this filter can never match: no value satisfies price between 2 and 1",
    )


def test_at_most_three_contradictions_are_shown_and_long_ones_are_cut() -> None:
    assert len(warnings(" or ".join(f"price < {i} and price > {i}" for i in range(10)))) == 3
    listed = ", ".join(map(str, range(1_000)))
    (warning,) = warnings(f"price in ({listed}) and " + " and ".join(f"price != {i}" for i in range(1_000)))
    assert warning.endswith("and 995 more")
    assert len(warning) < 500


def test_a_thousand_long_alternatives_are_judged_soon() -> None:
    clashes = " and ".join(f"price != {i}" for i in range(50))
    choices = " and ".join(f"(red = {i} or budget = {i})" for i in range(10))
    assert len(warnings(f"price in (1, 2, 3, 4) and {clashes} and {choices}")) == 1  # all for the same reason


def test_a_short_filter_with_hundreds_of_alternatives_is_not_searched_to_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched = 0

    def counting(conjunction: Conjunction, catalog: Catalog) -> bool:
        nonlocal searched
        searched += len(conjunction)
        return never_matches(conjunction, catalog)

    monkeypatch.setattr(advice, "never_matches", counting)
    choices = " and ".join(f"(title != 'a{i}' or title != 'b{i}')" for i in range(9))
    text = f"{choices} and " + " and ".join(f"title != 'c{i}'" for i in range(54))
    assert len(text) < 1_500
    assert warnings(f"price < 5 and price > 10 or {text}")[-1].startswith("one alternative can never match")
    assert searched < 4_000  # of 32,258 predicates


def test_patterns_are_compared_with_each_other_only_where_they_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = Counter[str]()

    def counting(absent: Fits, wanted: Fits) -> bool:
        compared["pairs"] += 1
        return fit_exclude(absent, wanted)

    monkeypatch.setattr(satisfiability, "fit_exclude", counting)
    assert warnings("not title like '%a%' and title like '%bab%'")[-1].startswith("this filter can never match")
    compared.clear()
    absent = " and ".join(f"not title like '%{i}%'" for i in range(900))
    assert not any("never" in one for one in warnings(f"title like '%{'x' * 200}%' and {absent}"))
    assert not compared


@given(filter_texts(RICH))
def test_warnings_are_sentences_for_people(text: str) -> None:
    assert all(0 < len(warning) < 2_000 for warning in warnings(text))
