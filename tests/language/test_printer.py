import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies.filters import RICH, catalogs, filter_texts, trees
from tidings.language import Filter, parse, print_filter
from tidings.language.errors import FilterTooLong
from tidings.language.parser import DEEPEST
from tidings.language.tokens import LONGEST_FILTER
from tidings.language.tree import Node
from tidings.language.words import words_of
from tidings.schema import Attribute, Catalog
from tidings.schema.catalog import EventType
from tidings.schema.growth import AppendNode, AppendValue, CreateAttribute, CreateEventType, grow


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("price<1.50", "price < 1.5"),
        ("price = 1e3", "price = 1000"),
        ("colour = blue", "colour = 'blue'"),
        ("price<budget", 'price < "budget"'),
        ('"not"=5', '"not" = 5'),
        ("category under table", "category <= 'furniture > table'"),
        ("paint contains blue", "paint contains 'blue'"),
        ("paint not in (blue,'it''s')", "paint not in ('blue', 'it''s')"),
        ("not paint contains blue", "paint not contains 'blue'"),
        ("not price<5", "not (price < 5)"),
        ("title contains 'Red'", "title contains 'red'"),
        ("title contains any 'red'", "title contains 'red'"),
        ("title contains all 'Red,mini'", "title contains all 'red mini'"),
        ("made > '2026-05-01'", "made > '2026-05-01T00:00:00Z'"),
        (
            "(price=1 or price=2) and (not(red=1 and red=2))",
            "(price = 1 or price = 2) and not (red = 1 and red = 2)",
        ),
        ("price=1 and budget=1 or red exists", "price = 1 and budget = 1 or red exists"),
    ],
)
def test_the_canonical_text(text: str, canonical: str) -> None:
    assert Filter.parse(text, RICH).text == canonical
    assert str(Filter.parse(canonical, RICH)) == canonical


@given(trees())
def test_a_parsed_tree_is_printed_and_read_again(tree: Node) -> None:
    assert parse(print_filter(tree)) == tree


@given(catalogs(), st.data())
def test_a_bound_filter_is_printed_and_read_again(catalog: Catalog, data: st.DataObject) -> None:
    filter = Filter.parse(data.draw(filter_texts(catalog)), catalog)
    again = Filter.parse(filter.text, catalog)
    assert again == filter
    assert again.conjunctions == filter.conjunctions
    assert again.text == filter.text


def _grown() -> Catalog:
    """Every attribute's name has become a value of all lists, and many a value an attribute's name."""
    catalog = RICH
    for name in (attribute.name for attribute in RICH.attributes):
        for domain in ("colours", "sizes"):
            if name not in RICH.domain(domain).values:  # type: ignore[union-attr]
                catalog = grow(catalog, AppendValue(domain, name))
        if name not in RICH.domain("categories").hierarchy:  # type: ignore[union-attr]
            catalog = grow(catalog, AppendNode("categories", name, "table"))
        catalog = grow(catalog, CreateEventType(EventType(name)))
    for value in ("blue", "green", "S", "XL", "table", "mini", "car", "antique", "a", "b"):
        catalog = grow(catalog, CreateAttribute(Attribute(value, "colours")))
    return catalog


GROWN = _grown()


@given(filter_texts(RICH))
def test_the_canonical_text_means_the_same_however_the_schema_grows(text: str) -> None:  # section 4
    filter = Filter.parse(text, RICH)
    assert Filter.parse(filter.text, GROWN) == filter


def test_bare_words_that_growth_has_made_unclear_are_quoted_in_the_canonical_text() -> None:
    filter = Filter.parse("colour = blue and price < budget", RICH)
    assert Filter.parse(filter.text, GROWN) == filter
    assert filter.text == "colour = 'blue' and price < \"budget\""


@pytest.mark.parametrize("opening", ["not ", "not (", "(not "])
def test_the_canonical_text_is_nested_no_deeper_than_what_was_read(opening: str) -> None:
    deep = DEEPEST if "(not" not in opening else DEEPEST // 2
    filter = Filter.parse(opening * deep + "price = 1" + ")" * deep * opening.count("("), RICH)
    assert Filter.parse(filter.text, RICH) == filter


def test_a_filter_whose_canonical_text_would_be_too_long_to_read_back_is_refused() -> None:
    text = f"price in ({','.join(f'{number}e9' for number in range(1, 25_000))})"
    assert len(text) < LONGEST_FILTER
    with pytest.raises(FilterTooLong, match="also in canonical form"):
        Filter.parse(text, RICH)
    longest = Filter.parse(f"price in ({','.join(str(number) for number in range(30_000))})", RICH)
    assert Filter.parse(longest.text, RICH) == longest


def test_every_word_is_its_own_only_word() -> None:
    """Words are printed and cut again, so cutting must change nothing the second time."""
    for number in range(0x110000):
        if unicodedata.category(character := chr(number)) not in ("Cs", "Cn", "Lo", "Co"):
            for word in words_of(character):
                assert words_of(word) == [word], hex(number)
