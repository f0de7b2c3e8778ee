"""Aguilera's tree: filters share what they begin with, and an event follows every path that fits."""

from tests.matching.shop import EVENTS, MIXED, SHOP, batch, expected, filled, matched
from tidings.matching.papers.aguilera import DIMENSION, EDGES, STAR, AguileraMatcher


def grown(*texts: str) -> AguileraMatcher:
    matcher = filled(AguileraMatcher(SHOP), *texts)
    matcher.match(EVENTS)
    return matcher


def test_it_equals_the_specification():
    assert matched(filled(AguileraMatcher(SHOP), *MIXED), EVENTS) == expected(MIXED, EVENTS)


def test_a_common_beginning_is_one_path():
    matcher = grown(*(f"a = 1 and b = {i}" for i in range(5)))
    assert len(matcher.nodes) == 2  # the root, and where a = 1 leads
    assert len(matcher.edges) == 1 + 5


def test_equal_filters_end_at_one_edge():
    matcher = grown("a = 1 and b < 2", "b < 2 and a = 1")
    assert len(matcher.edges) == 2
    assert matched(matcher, batch({"a": 1, "b": 1})) == [{"a = 1 and b < 2", "b < 2 and a = 1"}]


def test_filters_that_do_not_care_go_by_the_star_edge():
    matcher = grown("a = 1", "a = 2", "b = 1")
    root = matcher.nodes[0]
    assert root[STAR] == 1
    assert [matcher._table.dimensions[node[DIMENSION]].axis.attribute for node in matcher.nodes] == ["a", "b"]


def test_a_node_with_nothing_but_a_star_edge_is_left_out():
    matcher = grown("a = 1 and b = 1 and c = 1", "c = 2")
    assert [matcher._table.dimensions[node[DIMENSION]].axis.attribute for node in matcher.nodes].count("b") == 1


def test_dimensions_with_many_equalities_come_first():
    matcher = grown("a > 1", "a > 2", "a < 2", "b = 1", "b = 2", "c = 1 and b > 1")
    names = [matcher._table.dimensions[place].axis.attribute for place in matcher.order]
    assert names == ["b", "c", "a"]


def test_edges_are_sorted_by_kind():
    matcher = grown("a = 1", "a = 2", "a < 3", "a > 4", "a exists", "a between 5 and 6", "a > 5.5")
    root = matcher.nodes[0]
    equal, below, above, between = (root[EDGES + kind + 1] - root[EDGES + kind] for kind in range(4))
    assert (equal, below, above, between) == (2, 1, 3, 1)


def test_of_many_equalities_one_edge_is_followed():  # Le Subscribe, figure 7, line 10
    matcher = filled(AguileraMatcher(SHOP), *(f"a = {i}" for i in range(100)))
    found = matcher.match(batch({"a": 7}))
    assert (found.cost.candidates, found.cost.predicates) == (1, 1)


def test_all_satisfied_ranges_are_followed_and_no_other():
    matcher = filled(
        AguileraMatcher(SHOP), *(f"a < {i} and b = 1" for i in range(100)), *(f"a > {i}" for i in range(100))
    )
    found = matcher.match(batch({"a": 89.5}))
    assert len(found) == 90
    assert found.cost.candidates == 90
    # b is tested first, since it is asked for equality: one *-edge, and below it the 90 ranges.
    assert found.cost.predicates == 91


def test_filters_without_sides_match_everywhere():
    matcher = filled(AguileraMatcher(SHOP), "not (a exists)")
    assert matched(matcher, batch({}, {"a": 1})) == [{"not (a exists)"}, set()]
