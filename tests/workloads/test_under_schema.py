"""Made-up subscriptions and events: valid under any schema, the same for a seed, and now and then they match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies.schemas import catalogs, small_catalogs
from tidings.events import validate
from tidings.language import Filter
from tidings.language.predicates import attributes_of
from tidings.language.tree import And, Contains
from tidings.matching.naive import matches
from tidings.schema import Catalog, Domain, EventType, Kind
from tidings.schema.catalog import Attribute, AttributeUse
from tidings.schema.files import read_catalog
from tidings.workloads.thesis import CATALOG
from tidings.workloads.under_schema import NothingToSimulate, UnderSchema


@given(catalogs() | small_catalogs(), st.integers(0, 5), st.integers(0, 1000))
def test_all_are_valid_under_any_schema(catalog: Catalog, seed: int, number: int) -> None:
    try:
        made = UnderSchema(catalog, seed)
    except NothingToSimulate:
        return
    event = validate({"id": "e", **made.event(number)}, catalog)
    subscription = made.subscription(number)
    bound = Filter.parse(subscription.filter, catalog)
    assert bound.text == subscription.filter
    assert isinstance(matches(bound.tree, event.bindings(), catalog), bool)


def test_a_subscription_has_its_type_and_a_predicate_on_each_attribute() -> None:
    """Thesis 8.1."""
    made = UnderSchema(CATALOG)
    for number in range(50):
        subscription = made.subscription(number)
        tree = Filter.parse(subscription.filter, CATALOG).tree
        assert isinstance(tree, And)
        assert tree.terms[0] == Contains("event_type", subscription.event_type)
        event_type = CATALOG.event_type(subscription.event_type)
        assert event_type is not None
        tested = [attributes_of(term)[0] for term in tree.terms[1:]]
        assert tested == [use.name for use in event_type.attributes]


def test_values_operators_and_types_are_spread_evenly() -> None:
    made = UnderSchema(CATALOG)
    events = [made.event(number) for number in range(2_000)]
    for name in CATALOG.event_type_names:
        share = sum(event["event_type"] == [name] for event in events) / len(events)
        assert 0.15 < share < 0.25
    prices = {event["attributes"]["price"] for event in events}
    assert prices == set(range(41))
    operators = {
        one.operator for n in range(500) for one in made.subscription(n).predicates if one.attribute == "price"
    }
    assert operators == {"=", "!=", "<", "<=", ">", ">="}


def test_one_of_eleven_subscribes_and_the_first() -> None:
    """Thesis 5.5: ten events for a subscription."""
    made = UnderSchema(CATALOG)
    assert made.is_subscription(0, 10)
    assert 700 < sum(made.is_subscription(number, 10) for number in range(10_000)) < 1_120
    assert all(made.is_subscription(number, 0) for number in range(100))


def test_the_same_seed_makes_the_same() -> None:
    first, again, other = UnderSchema(CATALOG, 7), UnderSchema(CATALOG, 7), UnderSchema(CATALOG, 8)
    assert [first.event(n) for n in range(20)] == [again.event(n) for n in reversed(range(20))][::-1]
    assert first.subscription(3) == again.subscription(3)
    assert [first.event(n) for n in range(20)] != [other.event(n) for n in range(20)]


@pytest.mark.parametrize("catalog", [CATALOG, read_catalog("examples/schema.json")[0]], ids=["thesis", "examples"])
def test_some_pairs_match(catalog: Catalog) -> None:
    made = UnderSchema(catalog)
    events = [validate({"id": "e", **made.event(n)}, catalog).bindings() for n in range(200)]
    filters = [Filter.parse(made.subscription(n).filter, catalog) for n in range(100)]
    found = sum(matches(filter.tree, event, catalog) for filter in filters for event in events)
    assert 0 < found < len(events) * len(filters) / 10


def test_a_schema_of_which_nothing_can_be_made() -> None:
    with pytest.raises(NothingToSimulate, match="no event type yet"):
        UnderSchema(Catalog())
    empty = Catalog(
        (Domain("brand", Kind.ENUMERATED),),
        (Attribute("brand", "brand"),),
        (EventType("car", (AttributeUse("brand"),)),),
    )
    with pytest.raises(NothingToSimulate, match="'car' can be generated"):
        UnderSchema(empty)


def test_an_attribute_that_nothing_can_be_asked_of_is_asked_to_be_there() -> None:
    catalog = Catalog(
        (Domain("brand", Kind.ENUMERATED, operators=(), values=("opel",)),),
        (Attribute("brand", "brand"),),
        (EventType("car", (AttributeUse("brand"),)),),
    )
    assert UnderSchema(catalog).subscription(0).filter == "event_type contains 'car' and brand exists"
