"""The specification on worked examples: sections 3 and 6 of the semantics, and the papers behind them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies.filters import RICH, catalogs, events, filter_texts
from tidings.events import Event, EventBatch
from tidings.events.event import Bindings
from tidings.language import Filter, Subscription
from tidings.matching.explain import explain
from tidings.matching.naive import matches
from tidings.matching.naive_matcher import NaiveMatcher
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Hierarchy, Kind


def matched(text: str, event: Bindings, catalog: Catalog = RICH) -> bool:
    return matches(Filter.parse(text, catalog).tree, event, catalog)


def catalog_of(domains: dict[str, Domain], *event_types: str) -> Catalog:
    """Each attribute has a domain of its own name, and every event type has all of them."""
    uses = tuple(AttributeUse(name, mandatory=False, unique=False) for name in domains)
    attributes = tuple(Attribute(name, domain.name) for name, domain in domains.items())
    return Catalog(tuple(domains.values()), attributes, tuple(EventType(name, uses) for name in event_types))


ANTIQUE_CARS = catalog_of(
    {
        "price": Domain("price", Kind.NUMERIC),
        "brand": Domain("brand", Kind.ENUMERATED, values=("mini", "audi", "cooper")),
    },
    "antique",
    "car",
)


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        ({"price": (900,)}, False),  # brand is not bound
        ({"price": (900,), "brand": ("audi",)}, False),
        ({"price": (1100,), "brand": ("mini",)}, True),
    ],
)
def test_the_three_events_of_the_antique_car(bound: Bindings, expected: bool) -> None:  # thesis 3.3
    event = Event("e", ("antique", "car"), tuple(sorted(bound.items()))).bindings()
    text = "event_type contains car and price < 1300 and brand = 'mini'"
    assert matched(text, event, ANTIQUE_CARS) == expected


LETTERS = catalog_of({name: Domain(name, Kind.NUMERIC) for name in "abcde"}, "t")


def test_the_counting_example_matches_none_of_the_three() -> None:  # thesis 7.5
    event = Event("e", ("t",), (("c", (8,)), ("d", (9,)), ("e", (0,))))
    texts = ("a > 6 and b = 6 and c < 12", "a > 6 and d = 7", "d = 7 and e < 3")
    satisfied = set()
    for text in texts:
        (alternative,) = explain(Filter.parse(text, LETTERS), event, LETTERS).alternatives
        assert not alternative.matches
        satisfied |= {finding.predicate for finding in alternative.findings if finding.holds}
    assert satisfied == {"c < 12", "e < 3"}


FURNITURE = catalog_of(
    {
        "furniture_category": Domain(
            "furniture_category",
            Kind.HIERARCHICAL,
            hierarchy=Hierarchy.from_tree(
                {"table": {"dining table": {"oak": {"round oak": {}}, "glass": {}}, "desk": {}}, "chair": {}}
            ),
        )
    },
    "furniture",
    "antiques",
)


@pytest.mark.parametrize(
    ("operator", "below"),
    [
        ("<", {"oak", "round oak", "glass"}),
        ("<=", {"dining table", "oak", "round oak", "glass"}),
        ("under", {"dining table", "oak", "round oak", "glass"}),
        (">", {"table"}),
        (">=", {"table", "dining table"}),
        ("=", {"dining table"}),
        ("!=", {"table", "oak", "round oak", "glass", "desk", "chair"}),
    ],
)
def test_categories_below_and_above_dining_table(operator: str, below: set[str]) -> None:  # Le Subscribe 2.3
    text = f"event_type contains antiques and furniture_category {operator} 'dining table'"
    hierarchy = FURNITURE.domains[0].hierarchy
    nodes = dict(zip(hierarchy.names, hierarchy.nodes, strict=True))
    found = {
        name
        for name, node in nodes.items()
        if matched(text, {"event_type": ("antiques",), "furniture_category": (node,)}, FURNITURE)
    }
    assert found == below
    negated = f"event_type contains antiques and not (furniture_category {operator} 'dining table')"
    others = {
        name
        for name, node in nodes.items()
        if matched(negated, {"event_type": ("antiques",), "furniture_category": (node,)}, FURNITURE)
    }
    assert others == set(nodes) - below  # the order is partial: not below is not above


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("prices > 10 and prices < 20", False),  # no one value
        ("prices between 10 and 20", False),
        ("prices > 10", True),
        ("prices < 10", True),
        ("prices > 10 or prices < 3", True),
        ("(prices > 10 or prices = 1) and (prices < 20 or prices = 25)", True),
        ("prices = 5 and prices = 25", False),
        ("prices contains 5 and prices contains 25", True),
        ("prices contains 5 and prices > 20", True),
        ("not (prices between 4 and 6)", True),
        ("prices != 5", True),
        ("prices in (5, 7)", True),
        ("prices not in (5, 25)", False),
        ("prices > price", True),
        ("prices > price and prices < 20", False),  # one choice for both predicates
    ],
)
def test_one_choice_of_a_value_makes_all_comparisons_true(text: str, expected: bool) -> None:  # binding rule
    assert matched(text, {"prices": (5, 25), "price": (7,)}) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("paint contains red and paint contains blue", True),
        ("paint contains red and paint contains 'it''s'", False),
        ("paint = 'red' and paint = 'blue'", False),
        ("paint not contains 'it''s'", True),
        ("paint exists and paint contains green", True),
    ],
)
def test_contains_and_exists_speak_of_the_whole_set(text: str, expected: bool) -> None:  # tags {a, b, c}
    assert matched(text, {"paint": ("red", "blue", "green")}) == expected


@pytest.mark.parametrize(
    ("text", "bound", "expected"),
    [
        ("not (price < 10)", {"price": (10,)}, True),
        ("not (price < 10)", {"price": (9,)}, False),
        ("not (prices < 10)", {"prices": (9, 11)}, True),
        ("not (category < table)", {"category": ("furniture > table",)}, True),
        ("not (category < table)", {"category": ("toy",)}, True),
        ("not (category < table)", {"category": ("furniture > table > dining table > round table",)}, False),
        ("not (price in (1, 2))", {"price": (3,)}, True),
        ("not (price in (1, 2))", {"price": (1,)}, False),
        ("not (price between 1 and 2)", {"price": (0,)}, True),
        ("not (price between 1 and 2)", {"price": (2,)}, False),
        ("not (paint = 'red')", {"paint": ("red", "blue")}, True),  # the trap
        ("not (paint contains red)", {"paint": ("red", "blue")}, False),
        ("not (paint contains red)", {"paint": ("green",)}, True),
        ("not (price exists)", {}, True),
        ("not (price exists)", {"price": (1,)}, False),
        ("not (price = 1 and red = 1)", {"price": (2,)}, True),
        ("not (price = 1 or red = 1)", {"price": (2,)}, False),  # red is not bound
        ("not (price = 1 or not (red exists))", {"price": (2,), "red": (1,)}, True),
        ("not (price < budget)", {"price": (2,), "budget": (2,)}, True),
        ("not (price < budget)", {"price": (2,)}, False),
    ],
)
def test_negation(text: str, bound: Bindings, expected: bool) -> None:  # section 3
    assert matched(text, bound) == expected


@pytest.mark.parametrize(
    "predicate",
    [
        "price = 1",
        "price != 1",
        "price between 1 and 2",
        "price in (1)",
        "price contains 1",
        "price < budget",
        "budget < price",
        "category under table",
        "title contains any 'a b'",
        "colour = blue",
    ],
)
def test_a_missing_attribute_makes_every_predicate_false_negated_or_not(predicate: str) -> None:
    assert not matched(predicate, {"budget": (5,)})
    assert not matched(f"not ({predicate})", {"budget": (5,)})
    assert matched(f"({predicate}) or budget = 5", {"budget": (5,)})


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("body contains 'mini'", ("A red MINI.",), True),
        ("body contains 'min'", ("A red mini.",), False),  # words, not parts of them
        ("body contains any 'red blue'", ("red", "green"), True),
        ("body contains all 'red mini'", ("mini, red",), True),
        ("body contains all 'red mini'", ("red", "mini"), False),  # one value must have both
        ("body not contains 'red'", ("blue", "a red one"), False),
        ("body not contains all 'red mini'", ("red", "mini"), True),
        ("body not contains any 'red mini'", ("blue", "mini"), False),
        ("body contains 'straße'", ("STRASSE",), True),
        ("body contains 'ﬁne'", ("fine",), True),
        ("body = 'Red'", ("red",), False),
    ],
)
def test_words(text: str, values: tuple[str, ...], expected: bool) -> None:  # section 6
    assert matched(text, {"body": values}) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("size > M", True),
        ("size >= XL", False),
        ("title > 'Z'", True),  # by code point
        ("title < 'ä'", True),
        ("event.id = 'e1' and event.source = ''", True),
        ("event.time >= '2026-01-01'", False),  # it has no time
        ("not (event.time exists)", True),
        ("event_type = car and event_type contains antique", True),
        ("event_type = car and event_type = antique", False),
    ],
)
def test_orders_and_the_envelope(text: str, expected: bool) -> None:
    event = Event("e1", ("antique", "car"), (("size", ("L",)), ("title", ("a",))))
    assert matched(text, event.bindings()) == expected


@given(catalogs(), st.data())
def test_the_matcher_says_of_a_batch_what_the_function_says_of_each_event(
    catalog: Catalog, data: st.DataObject
) -> None:
    filters = [Filter.parse(text, catalog) for text in data.draw(st.lists(filter_texts(catalog), max_size=3))]
    published = data.draw(st.lists(events(catalog), max_size=4))
    matcher = NaiveMatcher(catalog)
    for number, filter in enumerate(filters):
        assert matcher.add(Subscription(f"s{number}", filter)) == number
    found = matcher.match(EventBatch.of(published, catalog))
    for row, event in enumerate(published):
        expected = [n for n, f in enumerate(filters) if matches(f.tree, event.bindings(), catalog)]
        assert found.of(row).tolist() == expected
