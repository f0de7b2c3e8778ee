import pytest
from hypothesis import given

from tests.strategies.filters import RICH, filter_texts
from tidings.language import Filter


def warnings(text: str) -> tuple[str, ...]:
    return Filter.parse(text, RICH).warnings


@pytest.mark.parametrize(
    "text",
    [
        "price < 5",
        "price != 5",
        "not (price = 5)",
        "paint = 'red'",
        "not (paint contains red)",
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
    (warning,) = warnings(text)
    assert f"may have several values: {shown} matches as soon as one of them fits" in warning
    assert "contains …)" in warning


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


@given(filter_texts(RICH))
def test_warnings_are_sentences_for_people(text: str) -> None:
    assert all(0 < len(warning) < 2_000 for warning in warnings(text))
