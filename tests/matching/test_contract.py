"""The contract of every matcher, one suite for all algorithms that are registered."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies.filters import RICH, catalogs, events, filter_texts
from tidings.errors import MatchingError
from tidings.events import Event, EventBatch
from tidings.language import Filter, Subscription
from tidings.matching import Algorithm, Cost, Matches
from tidings.matching.algorithm import ForeignBatch
from tidings.matching.algorithms import ALGORITHMS, matcher_class
from tidings.matching.naive import matches
from tidings.matching.spans import DisorderedPosition, DuplicateSubscription, UnknownSubscription
from tidings.schema import Catalog
from tidings.schema.growth import AppendNode, AppendValue, grow

MATCHERS: list[type[Algorithm]] = [matcher_class(name) for name in ALGORITHMS]


@pytest.fixture(params=MATCHERS, ids=lambda kind: kind.name)
def matcher(request: pytest.FixtureRequest) -> Algorithm:
    made = request.param(RICH)
    assert isinstance(made, Algorithm)
    return made


def subscription(id: str, text: str = "price < 10", catalog: Catalog = RICH) -> Subscription:
    return Subscription(id, Filter.parse(text, catalog))


def batch(*prices: float, first: int = 1, catalog: Catalog = RICH) -> EventBatch:
    """An event for each price, at the positions from `first` on."""
    made = [Event(f"e{n}", ("car",), (("price", (price,)),)) for n, price in enumerate(prices)]
    return EventBatch.of(made, catalog, first)


def found(matcher: Algorithm, events: EventBatch) -> list[list[str]]:
    """The ids that each event matched, in the order in which they were added."""
    result = matcher.match(events)
    return [[matcher.id(number) for number in sorted(result.of(row).tolist())] for row in range(len(events))]


def test_each_event_gets_the_subscriptions_that_it_matches(matcher: Algorithm) -> None:
    matcher.add(subscription("cheap"))
    matcher.add(subscription("dear", "price > 5"))
    assert found(matcher, batch(1, 7, 20)) == [["cheap"], ["cheap", "dear"], ["dear"]]


def test_without_subscriptions_or_events_there_are_no_matches(matcher: Algorithm) -> None:
    assert found(matcher, batch(1, 2)) == [[], []]
    matcher.add(subscription("cheap"))
    assert found(matcher, batch()) == []
    assert len(matcher.match(batch())) == 0


def test_a_match_of_several_alternatives_is_reported_once(matcher: Algorithm) -> None:
    matcher.add(subscription("often", "price < 10 or price < 20 or price exists"))
    assert found(matcher, batch(1)) == [["often"]]


def test_a_subscription_counts_from_where_it_was_added_to_where_it_was_withdrawn(matcher: Algorithm) -> None:
    matcher.add(subscription("a"), at=3)
    matcher.add(subscription("b"), at=5)
    matcher.withdraw("a", at=5)
    assert found(matcher, batch(*[1] * 6, first=1)) == [[], [], ["a"], ["a"], ["b"], ["b"]]


def test_the_answer_does_not_depend_on_when_the_matcher_was_told(matcher: Algorithm) -> None:
    matcher.add(subscription("a"), at=2)
    late = batch(1, 1, 1, first=10)
    assert found(matcher, late) == [["a"]] * 3
    matcher.withdraw("a", at=11)
    assert found(matcher, late) == [["a"], [], []]
    assert found(matcher, batch(1, 1, 1, first=1)) == [[], ["a"], ["a"]]


def test_positions_need_not_follow_each_other(matcher: Algorithm) -> None:
    matcher.add(subscription("a"), at=5)
    matcher.withdraw("a", at=8)
    assert found(matcher, batch(1, 1, 1, 1).at([9, 5, 2, 7])) == [[], ["a"], [], ["a"]]


def test_a_span_that_ends_where_it_begins_is_empty(matcher: Algorithm) -> None:
    matcher.add(subscription("a"), at=5)
    matcher.withdraw("a", at=5)
    assert found(matcher, batch(1, 1, 1, first=4)) == [[], [], []]


def test_an_edited_filter_closes_one_span_and_opens_the_next(matcher: Algorithm) -> None:  # section 4
    first = matcher.add(subscription("a", "price < 10"), at=1)
    matcher.withdraw("a", at=3)
    second = matcher.add(subscription("a", "price > 10"), at=3)
    assert first != second
    assert found(matcher, batch(1, 20, 1, 20)) == [["a"], [], [], ["a"]]
    assert len(matcher) == 1


def test_an_id_is_added_once(matcher: Algorithm) -> None:
    matcher.add(subscription("a"), at=1)
    with pytest.raises(DuplicateSubscription, match="'a' is active already"):
        matcher.add(subscription("a", "price > 10"), at=2)
    assert found(matcher, batch(1, 20, first=2)) == [["a"], []]


def test_an_unknown_id_cannot_be_withdrawn(matcher: Algorithm) -> None:
    matcher.add(subscription("cheap-cars"))
    with pytest.raises(UnknownSubscription, match="did you mean 'cheap-cars'"):
        matcher.withdraw("cheap-car", at=5)
    matcher.withdraw("cheap-cars", at=5)
    with pytest.raises(UnknownSubscription, match="no active subscription 'cheap-cars'"):
        matcher.withdraw("cheap-cars", at=6)


def test_changes_of_one_subscription_come_in_order(matcher: Algorithm) -> None:
    matcher.add(subscription("a"), at=5)
    with pytest.raises(DisorderedPosition, match="cannot change at position 4: it already changed at 5"):
        matcher.withdraw("a", at=4)
    matcher.withdraw("a", at=7)
    with pytest.raises(DisorderedPosition, match="at 7"):
        matcher.add(subscription("a"), at=6)
    matcher.add(subscription("b"), at=1)  # another one's changes do not matter
    assert found(matcher, batch(1, first=6)) == [["a", "b"]]
    assert len(matcher) == 1


def test_its_length_is_the_number_of_active_subscriptions(matcher: Algorithm) -> None:
    for number in range(100):
        matcher.add(subscription(f"s{number}"), at=number)
    matcher.withdraw("s7", at=100)
    assert len(matcher) == 99
    assert found(matcher, batch(1, first=50))[0] == [f"s{number}" for number in range(51)]


def test_a_batch_of_another_version_of_the_schema_is_refused_until_it_is_adopted(matcher: Algorithm) -> None:
    matcher.add(subscription("red", "colour != 'blue'"))
    matcher.add(subscription("tables", "category under table"))
    grown = grow(grow(RICH, AppendValue("colours", "pink")), AppendNode("categories", "bench", "table"))
    event = Event("e", ("car",), (("category", ("bench",)), ("colour", ("pink",))))
    with pytest.raises(ForeignBatch, match=f"version {grown.version} and the matcher has {RICH.version}"):
        matcher.match(EventBatch.of([event], grown))
    matcher.adopt(grown)
    matcher.add(subscription("pink", "colour = pink", grown))
    assert found(matcher, EventBatch.of([event], grown)) == [["red", "tables", "pink"]]
    with pytest.raises(ForeignBatch):
        matcher.match(batch(1))


def test_growth_that_moves_numbers_changes_no_meaning(matcher: Algorithm) -> None:
    texts = {"below": "category < furniture", "above": "kinds >= chair", "toys": "category = toy"}
    for id, text in texts.items():
        matcher.add(subscription(id, text))
    grown = grow(RICH, AppendNode("categories", "stool", "table"))  # before chair, toy and all vehicles
    matcher.adopt(grown)
    made = [
        Event("1", ("offer",), (("category", ("stool",)), ("kinds", ("furniture", "mini")))),
        Event("2", ("offer",), (("category", ("toy",)), ("kinds", ("stool", "car")))),
    ]
    assert found(matcher, EventBatch.of(made, grown)) == [["below", "above"], ["toys"]]


def test_matches_carry_their_cost(matcher: Algorithm) -> None:
    matcher.add(subscription("a"))
    cost = matcher.match(batch(1, 2)).cost
    assert cost.candidates >= 2
    assert cost + Cost(1, 2) == Cost(cost.candidates + 1, cost.predicates + 2)


def test_matches_by_event_and_in_one_row() -> None:
    made = Matches(np.array([0, 2, 2, 3]), np.array([4, 7, 4], np.int32))
    assert len(made) == 3
    assert [made.of(row).tolist() for row in range(3)] == [[4, 7], [], [4]]
    assert made.events().tolist() == [0, 0, 2]


@pytest.mark.parametrize(
    "error",
    [
        DuplicateSubscription("a"),
        UnknownSubscription("a", ("b", "c")),
        DisorderedPosition("a", 1, 2),
        ForeignBatch(1, 2),
    ],
)
def test_errors_come_back_from_a_worker_as_they_were(error: MatchingError) -> None:
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("kind", MATCHERS, ids=lambda kind: kind.name)
@settings(max_examples=30)  # times 12 algorithms; `test_every_algorithm` has larger sets of filters
@given(catalogs(), st.data())
def test_every_matcher_finds_what_the_specification_says(
    kind: type[Algorithm], catalog: Catalog, data: st.DataObject
) -> None:
    filters = [Filter.parse(text, catalog) for text in data.draw(st.lists(filter_texts(catalog), max_size=5))]
    published = data.draw(st.lists(events(catalog), max_size=5))
    starts = [data.draw(st.integers(0, 6)) for _ in filters]
    stops = [data.draw(st.none() | st.integers(start, 7)) for start in starts]
    matcher = kind(catalog)
    for number, (filter, start, stop) in enumerate(zip(filters, starts, stops, strict=True)):
        matcher.add(Subscription(f"s{number}", filter), at=start)
        if stop is not None:
            matcher.withdraw(f"s{number}", at=stop)
    spans = list(zip(filters, starts, stops, strict=True))
    expected = [
        [
            f"s{number}"
            for number, (filter, start, stop) in enumerate(spans)
            if start <= position and (stop is None or position < stop)
            if matches(filter.tree, event.bindings(), catalog)
        ]
        for position, event in enumerate(published, start=1)
    ]
    assert found(matcher, EventBatch.of(published, catalog, 1)) == expected
