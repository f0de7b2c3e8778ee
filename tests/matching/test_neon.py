"""Neon: predicates unfactored, by event type and operation; all that concern an event are tested."""

from tests.matching.shop import EVENTS, MIXED, SHOP, batch, expected, filled, matched
from tidings.matching.papers.neon import AT_LEAST, BOUND, EQUAL, LESS, NeonMatcher


def test_it_equals_the_specification():
    assert matched(filled(NeonMatcher(SHOP), *MIXED), EVENTS) == expected(MIXED, EVENTS)


def test_equal_predicates_are_tested_as_often_as_they_occur():  # Le Subscribe, section 3
    matcher = filled(NeonMatcher(SHOP), *(f"a = 1 and b = {i}" for i in range(10)))
    found = matcher.match(batch({"a": 1}))
    assert (found.cost.candidates, found.cost.predicates) == (10, 10)


def test_predicates_on_unbound_attributes_are_not_tested():
    matcher = filled(NeonMatcher(SHOP), "a < 1", "b < 1", "c < 1")
    assert matcher.match(batch({"b": 0})).cost.predicates == 1


def test_predicates_of_other_event_types_are_not_tested():
    toys = [f"event_type contains toy and a = {i}" for i in range(10)]
    matcher = filled(NeonMatcher(SHOP), *toys, "event_type contains car and a = 1", "a = 2")
    costs = [matcher.match(batch({"a": 1, "event_type": type})).cost.predicates for type in ("toy", "car", "pet")]
    assert costs == [11, 2, 1]  # the common part, and the event's own


def test_an_event_of_two_types_is_tested_by_both():
    texts = ["event_type contains toy and a = 1", "event_type contains car and a = 1", "a = 1"]
    matcher = filled(NeonMatcher(SHOP), *texts)
    assert matched(matcher, batch({"a": 1, "event_type": ["toy", "car"]})) == [set(texts)]


def test_a_filter_of_an_event_type_alone_needs_no_predicate():
    matcher = filled(NeonMatcher(SHOP), "event_type contains toy", "not (b exists)")
    assert matcher.match(EVENTS).cost.predicates == 0
    assert matched(matcher, EVENTS) == expected(["event_type contains toy", "not (b exists)"], EVENTS)


def test_operations_are_the_different_attributes_and_comparisons_of_a_part():
    matcher = filled(NeonMatcher(SHOP), "a = 1", "a = 2", "a < 3", "b >= 1", "c exists", "c between 1 and 3", "c = 2")
    matcher.match(EVENTS)
    assert matcher.operations[:, :2].tolist() == [
        [0, EQUAL],
        [0, LESS],
        [1, AT_LEAST],
        [2, EQUAL],
        [2, LESS],
        [2, AT_LEAST],
        [2, BOUND],
    ]


def test_a_range_with_two_ends_is_two_predicates():
    matcher = filled(NeonMatcher(SHOP), "c between 1 and 3", "c = 2")
    found = matched(matcher, batch({"c": 0}, {"c": 1}, {"c": 2}, {"c": 4}))
    assert found == [set(), {"c between 1 and 3"}, {"c between 1 and 3", "c = 2"}, set()]
    assert matcher.n_predicates.tolist() == [2, 1]
