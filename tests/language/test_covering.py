from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies.filters import RICH, catalogs, events, filter_texts, predicate_texts, value_text
from tidings.events.event import Bindings
from tidings.language import Filter, covers
from tidings.matching.naive import matches
from tidings.schema import Catalog
from tidings.schema.domain import COMPARISONS
from tidings.schema.values import Value


def covering(wider: str, narrower: str) -> bool:
    return covers(Filter.parse(wider, RICH), Filter.parse(narrower, RICH), RICH)


@pytest.mark.parametrize(
    ("wider", "narrower"),
    [
        ("price < 20", "price < 10"),
        ("price < 20", "price < 10 and colour = blue"),
        ("price exists", "price < 10"),
        ("price != 5", "price > 5"),
        ("price between 1 and 9", "price in (1, 2, 9)"),
        ("category < furniture", "category <= table"),
        ("category != toy", "category under vehicle"),
        ("size >= M", "size in (M, L, XL)"),
        ("colour != blue", "colour in ('red', green, 'it''s')"),  # that is all there is
        ("title >= 'a' and title < 'b'", "title = 'abc'"),
        ("event.id >= ''", "price = 1"),  # every event has an id
        ("event_type exists", "price = 1"),
        ("price = 1", "price < 1 and price > 1"),  # what never matches is covered by all
        ("paint contains blue", "paint = blue"),
        ("paint = blue", "paint contains blue and paint = 'red'"),
        ("title contains any 'a b'", "title contains all 'b c'"),
        ("title contains 'mini'", "title = 'Red mini'"),
        ("title not contains all 'a b'", "title not contains 'a'"),
        ("price < budget", "price < 5 and budget >= 5"),
        ("price <= budget", "budget > price"),
        ("price = budget", "price = 5 and budget = 5"),
        ("title = desk", "title = 'a' and desk = 'a'"),
        ("price > 1 or size = M", "size = M and red = 5 or price > 2"),
        ("not (price exists)", "not (price exists) and red = 1"),
    ],
)
def test_a_wider_filter_covers_a_narrower(wider: str, narrower: str) -> None:
    assert covering(wider, narrower)


@pytest.mark.parametrize(
    ("wider", "narrower"),
    [
        ("price < 10", "price < 20"),
        ("price < 10 and colour = blue", "price < 10"),
        ("price >= 0", "colour = blue"),
        ("price = budget", "price >= 5 and price < 6 and budget >= 5 and budget < 6"),  # 5.1 and 5.9
        ("title = desk", "title >= 'a' and title < 'b' and desk >= 'a' and desk < 'b'"),
        (
            "prices > 5 and prices < 10",
            "prices contains 4 and prices contains 11",
        ),
        ("prices < 10 and prices > price", "prices contains 5 and prices > price"),
        (
            "category < kinds",
            "category = table and kinds = furniture",
        ),  # true, but not found
        ("category < kinds", "category = furniture and kinds = table"),  # in pre-order, but the other way round
        ("price < budget", "price <= budget"),
        ("price < budget", "price < 10 and budget > 5"),
        ("paint not contains blue", "paint != blue"),
        ("title contains all 'a b'", "title contains any 'a b'"),
        ("not (price exists)", "red = 1"),
    ],
)
def test_no_covering_is_claimed(wider: str, narrower: str) -> None:
    assert not covering(wider, narrower)


@given(catalogs(), st.data())
def test_covering_is_sound(catalog: Catalog, data: st.DataObject) -> None:
    predicates = predicate_texts(catalog)
    texts = filter_texts(catalog, most=3) | st.lists(predicates, min_size=1, max_size=4).map(" and ".join)
    filters = [Filter.parse(data.draw(texts), catalog) for _ in range(3)]
    found = [event.bindings() for event in data.draw(st.lists(events(catalog), min_size=1, max_size=4))]
    for wider, narrower in product(filters, filters):
        if covers(wider, narrower, catalog):
            for event in found:
                if matches(narrower.tree, event, catalog):
                    assert matches(wider.tree, event, catalog), (wider.text, narrower.text)


@given(catalogs(), st.data())
def test_a_filter_covers_itself_and_what_it_is_part_of(catalog: Catalog, data: st.DataObject) -> None:
    one, other = (data.draw(predicate_texts(catalog)) for _ in range(2))
    filter = Filter.parse(one, catalog)
    assert covers(filter, filter, catalog)
    assert covers(filter, Filter.parse(f"{one} and {other}", catalog), catalog)
    assert covers(Filter.parse(f"{other} or {one}", catalog), filter, catalog)


# Constants, and the points at, between and around them: a covering that fails, fails at one of these.
CONSTANTS: dict[str, tuple[Value, ...]] = {
    "price": (1, 2, 3),
    "title": ("", "a", "b", "b\0"),
    "colour": ("red", "blue", "green", "it's"),
    "size": ("S", "M", "L", "XL"),
    "category": tuple(RICH.domain_of("category").vocabulary),  # type: ignore[union-attr]
    "event_type": RICH.event_type_names,
    "event.id": ("", "b"),
}
POINTS = CONSTANTS | {
    "price": (-5, 1, 1.5, 2, 2.5, 3, 1e9),
    "title": ("", "\0", "a", "ab", "b", "b\0", "b\0\0", "c"),
    "event.id": ("", "\0", "b", "c"),
}


@st.composite
def conjunctions(draw: st.DrawFn, attributes: list[str]) -> str:
    """One to three comparisons with constants, plain or negated."""
    written = []
    for name in draw(st.lists(st.sampled_from(attributes), min_size=1, max_size=3)):
        domain = RICH.domain_of(name)
        assert domain is not None
        one, other = (value_text(draw(st.sampled_from(CONSTANTS[name]))) for _ in range(2))
        operators = [operator for operator in domain.operators or () if operator in COMPARISONS]
        forms = [f"{name} {operator} {one}" for operator in operators] + [f"{name} in ({one}, {other})"]
        forms += [f"{name} between {one} and {other}"] if "<=" in operators else []
        form = draw(st.sampled_from(forms))
        written.append(draw(st.sampled_from([form, f"not ({form})"])))
    return " and ".join(written)


def all_events(attributes: list[str]) -> Iterator[Bindings]:
    """Every event that binds each of the attributes to one point or, where that can be, not at all."""
    always = ("event_type", "event.id")
    choices = [[*POINTS[name], *([] if name in always else [None])] for name in attributes]
    for values in product(*choices):
        pairs = zip(attributes, values, strict=True)
        yield {name: (value,) for name, value in pairs if value is not None}


@given(st.lists(st.sampled_from(sorted(CONSTANTS)), min_size=1, max_size=2, unique=True), st.data())
def test_covering_is_complete_for_comparisons_with_constants(attributes: list[str], data: st.DataObject) -> None:
    wider, narrower = (Filter.parse(data.draw(conjunctions(attributes)), RICH) for _ in range(2))
    truth = all(
        matches(wider.tree, event, RICH) for event in all_events(attributes) if matches(narrower.tree, event, RICH)
    )
    assert covers(wider, narrower, RICH) == truth, (wider.text, narrower.text)
