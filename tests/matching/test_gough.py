"""Gough's tree: one path an event, shared sub-trees, and a clear refusal when it explodes."""

import pickle
from itertools import product

import pytest

from tests.matching.shop import EVENTS, MIXED, SHOP, batch, expected, filled, matched
from tidings.matching.papers.gough import GoughMatcher, TreeTooLarge


def test_it_equals_the_specification():
    assert matched(filled(GoughMatcher(SHOP), *MIXED), EVENTS) == expected(MIXED, EVENTS)


def test_an_event_follows_one_path_with_one_test_a_level():  # Le Subscribe, figure 3
    matcher = filled(GoughMatcher(SHOP), "a = 1 and b = 2", "a < 3 and c = 1", "b > 1")
    events = batch({}, {"a": 1, "b": 2, "c": 1}, {"a": 9})
    assert matcher.match(events).cost.predicates == 3 * len(events)


def test_nodes_of_a_level_with_the_same_boxes_are_one():
    matcher = filled(GoughMatcher(SHOP), *(f"a = {i} and b = 1" for i in range(5)), *(f"b = {i}" for i in range(9)))
    matcher.match(EVENTS)
    assert len(matcher.tree) == 1 + 6  # the root, a node for each of five pending filters and one for none


def test_filters_of_one_predicate_do_not_multiply():
    matcher = filled(GoughMatcher(SHOP), *(f"{name} > {i}" for name in "abc" for i in range(10)))
    matcher.match(EVENTS)
    assert len(matcher.tree) == 3


def test_dimensions_are_ordered_so_that_few_boxes_are_pending():
    chain = ["a = 1 and b = 1", "a = 2 and b = 2", "b = 1 and c = 1"]
    matcher = filled(GoughMatcher(SHOP), *chain)
    matcher.match(EVENTS)
    names = [matcher._table.dimensions[place].axis.attribute for place in matcher.order]
    assert names == ["c", "b", "a"]  # from the end of the chain that has one filter pending


def independent() -> list[str]:
    return [f"a < {i} and b < {j} and c < {i + j}" for i, j in product(range(1, 9), range(1, 9))]


def test_a_tree_that_explodes_is_refused():
    matcher = filled(GoughMatcher(SHOP, most_nodes=50), *independent())
    with pytest.raises(TreeTooLarge, match=r"64 conjunctions has more than 50 nodes.*use another algorithm"):
        matcher.match(EVENTS)


def test_it_stays_refused_until_it_is_filled_otherwise():
    matcher = filled(GoughMatcher(SHOP, most_nodes=50), *independent())
    for _ in range(2):
        with pytest.raises(TreeTooLarge):
            matcher.match(EVENTS)
    matcher.most_nodes = 100_000
    filled(matcher, "a = 1")
    assert matched(matcher, EVENTS) == expected([*independent(), "a = 1"], EVENTS)


def test_the_boxes_in_the_tree_are_limited_too():
    nested = [f"a < {i} and b < {i}" for i in range(1, 80)]
    with pytest.raises(TreeTooLarge):
        filled(GoughMatcher(SHOP, most_nodes=100), *nested).match(EVENTS)


def test_the_refusal_survives_the_way_back_from_a_worker():
    error = pickle.loads(pickle.dumps(TreeTooLarge(12, 5)))
    assert str(error) == str(TreeTooLarge(12, 5))


def test_filters_without_sides_match_everywhere():
    matcher = filled(GoughMatcher(SHOP), "not (a exists)")
    assert matched(matcher, batch({}, {"a": 1})) == [{"not (a exists)"}, set()]
