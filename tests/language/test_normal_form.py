import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies.filters import RICH, catalogs, events, filter_texts
from tidings.language import Filter
from tidings.language.errors import NormalFormTooLarge, TooManyPredicates
from tidings.language.normal_form import MOST_CONJUNCTIONS
from tidings.language.printer import print_filter
from tidings.language.tree import And, Or
from tidings.matching.naive import matches
from tidings.schema import Catalog


def alternatives(text: str) -> list[list[str]]:
    return [[print_filter(literal) for literal in c] for c in Filter.parse(text, RICH).conjunctions]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("price = 1", [["price = 1"]]),
        ("price = 1 and red = 2", [["price = 1", "red = 2"]]),
        ("price = 1 and price = 1.0", [["price = 1"]]),
        ("price = 1 or price = 1.0", [["price = 1"]]),
        ("(price = 1 or price = 2) and red = 3", [["price = 1", "red = 3"], ["price = 2", "red = 3"]]),
        ("price = 1 and (price = 1 or red = 3)", [["price = 1"], ["price = 1", "red = 3"]]),
        ("not (price = 1 and red < 2)", [["price != 1"], ["red >= 2"]]),
        ("not (price = 1 or not (red >= 2))", [["price != 1", "red >= 2"]]),
        ("not (price <= 1 or red > 2)", [["price > 1", "red <= 2"]]),
        ("not (price between 1 and 2)", [["price not between 1 and 2"]]),
        ("not (price in (1, 2))", [["price not in (1, 2)"]]),
        ("not (price < budget)", [['price >= "budget"']]),
        ("not (size < L)", [["size >= 'L'"]]),
        ("not (category < table)", [["not (category < 'furniture > table')"]]),  # the order is partial
        ("not (category = table)", [["category != 'furniture > table'"]]),
        ("not (category >= kinds)", [['not (category >= "kinds")']]),
        ("not (price exists)", [["not (price exists)"]]),
        ("not (body = 'a')", [["body != 'a'"]]),
        ("not not (paint contains blue)", [["paint contains 'blue'"]]),
    ],
)
def test_negation_goes_to_the_predicates_and_or_to_the_top(text: str, expected: list[list[str]]) -> None:
    assert alternatives(text) == expected


def test_in_and_between_count_as_one_predicate() -> None:
    listed = ", ".join(map(str, range(5_000)))
    text = " and ".join([f"not (price in ({listed}) or red between 1 and 2)"] * 3)
    assert len(Filter.parse(text, RICH).conjunctions) == 1


def choices(count: int) -> str:
    return " and ".join(f"(price = {i} or red = {i})" for i in range(count))


def test_a_normal_form_of_the_limit_is_made_and_a_larger_one_refused_with_the_count() -> None:
    assert MOST_CONJUNCTIONS == 1024
    assert len(Filter.parse(choices(10), RICH).conjunctions) == 1024
    with pytest.raises(NormalFormTooLarge, match=r"has 2,048 conjunctions; at most 1,024 are allowed") as caught:
        Filter.parse(choices(11), RICH)
    assert caught.value.text == choices(11)
    with pytest.raises(NormalFormTooLarge, match=r"has 4 conjunctions; at most 3"):
        Filter.parse(choices(2), RICH, limit=3)


def test_an_astronomic_normal_form_is_refused_at_once_and_can_be_shown() -> None:
    with pytest.raises(NormalFormTooLarge, match=r"more than 10\^12 conjunctions") as caught:
        Filter.parse("and".join(["(red=1or red=2or red=3)"] * 10_000), RICH)
    assert repr(caught.value)  # integers of more than 4,300 digits cannot be shown


def test_a_normal_form_with_too_many_predicates_is_refused() -> None:
    long = " and ".join(f"budget < {i}" for i in range(1_000))
    assert len(Filter.parse(long, RICH).conjunctions[0]) == 1_000
    with pytest.raises(TooManyPredicates, match=r"has 1,034,240 predicates; at most 65,536 are allowed"):
        Filter.parse(f"{long} and {choices(10)}", RICH)


@given(catalogs(), st.data())
def test_the_alternatives_mean_what_the_tree_means(catalog: Catalog, data: st.DataObject) -> None:
    filter = Filter.parse(data.draw(filter_texts(catalog)), catalog)
    rebuilt = Or(tuple(And(conjunction) for conjunction in filter.conjunctions))
    for event in data.draw(st.lists(events(catalog), min_size=1, max_size=3)):
        bindings = event.bindings()
        assert matches(filter.tree, bindings, catalog) == matches(rebuilt, bindings, catalog)
