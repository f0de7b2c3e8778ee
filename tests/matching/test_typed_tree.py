"""The typed tree of A-MEDIAS: a tree per event type, ordered by a measure of selectivity."""

import pickle

import pytest

from tests.matching.shop import EVENTS, MIXED, SHOP, batch, expected, filled, matched
from tidings.matching.papers.typed_tree import MissingSample, TypedTreeMatcher, UnknownMeasure


def order(matcher: TypedTreeMatcher, part: int = 0) -> list[str]:
    """The attributes of a tree, the first to be looked at first."""
    matcher.match(EVENTS)
    return [matcher._table.dimensions[node.dimension].axis.attribute for node in matcher.trees[part]]


@pytest.mark.parametrize(("measure", "sample"), [("A1", None), ("A2", EVENTS), ("A2", batch())])
def test_it_equals_the_specification(measure, sample):
    matcher = filled(TypedTreeMatcher(SHOP, measure, sample), *MIXED)
    assert matched(matcher, EVENTS) == expected(MIXED, EVENTS)


def test_each_event_type_has_a_tree_of_its_own():
    toys = [f"event_type contains toy and a = {i}" for i in range(10)]
    matcher = filled(TypedTreeMatcher(SHOP), *toys, "event_type contains car and b = 1", "c = 1")
    matcher.match(EVENTS)
    assert [[node.dimension for node in tree] for tree in matcher.trees] == [[2], [1], [0]]
    costs = [matcher.match(batch({"a": 1, "event_type": type})).cost for type in ("toy", "car", "pet")]
    assert [(cost.candidates, cost.predicates) for cost in costs] == [(11, 2), (2, 2), (1, 1)]


# a has the greater zero-subdomain among its elementary intervals: below 5, between 5 and 9, and above; b is
# covered but for what lies above 9.
ZEROS = ("a = 5 and b < 9", "a = 9 and b <= 9")


def test_a1_puts_the_attribute_with_the_greatest_share_of_unasked_values_first():  # A-MEDIAS 9.4
    assert order(filled(TypedTreeMatcher(SHOP, "A1"), *ZEROS)) == ["a", "b"]


def test_a2_weighs_the_share_by_the_events():
    sample = batch(*({"a": 5, "b": 10 + i} for i in range(10)))  # no event misses at a, and all miss at b
    assert order(filled(TypedTreeMatcher(SHOP, "A2", sample), *ZEROS)) == ["b", "a"]


def test_a2_takes_for_each_tree_the_events_of_its_type():
    texts = [f"event_type contains {type} and {rest}" for type in ("car", "toy") for rest in ZEROS]
    sample = batch({"a": 5, "b": 10, "event_type": "car"}, {"a": 1, "b": 1, "event_type": "toy"})
    matcher = filled(TypedTreeMatcher(SHOP, "A2", sample), *texts)
    assert (order(matcher, 1), order(matcher, 2)) == (["b", "a"], ["a", "b"])


def test_where_filters_do_not_care_the_share_that_each_lacks_decides():
    texts = ["a = 1", "a = 2", "b < 5", "b < 6", "b < 7"]
    assert order(filled(TypedTreeMatcher(SHOP), *texts)) == ["a", "b"]


def test_an_event_that_matches_nothing_is_let_go_early():
    matcher = filled(TypedTreeMatcher(SHOP), *ZEROS)
    assert matcher.match(batch({"a": 6, "b": 1})).cost.predicates == 1
    assert matcher.match(batch({"a": 5, "b": 1})).cost.predicates == 2


def test_many_filters_are_right_in_every_word():
    texts = [f"a < {i} and b >= {i % 7}" for i in range(1, 200)]
    events = batch(*({"a": i, "b": i % 9} for i in range(0, 210, 13)), {"b": 3}, {})
    assert matched(filled(TypedTreeMatcher(SHOP), *texts), events) == expected(texts, events)


def test_a2_without_a_sample_is_refused():
    with pytest.raises(MissingSample, match="sample of events"):
        TypedTreeMatcher(SHOP, "A2")


def test_an_unknown_measure_is_refused():
    with pytest.raises(UnknownMeasure, match="'A1' or 'A2'"):
        TypedTreeMatcher(SHOP, "A3")
    assert str(pickle.loads(pickle.dumps(UnknownMeasure("A3")))) == str(UnknownMeasure("A3"))


def test_filters_without_sides_match_everywhere():
    matcher = filled(TypedTreeMatcher(SHOP), "not (a exists)")
    assert matched(matcher, batch({}, {"a": 1})) == [{"not (a exists)"}, set()]
