from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.schema.samples import CATEGORIES
from tests.strategies.schemas import hierarchies, texts
from tidings.schema import Hierarchy
from tidings.schema.hierarchy import LEVELS, NO_PARENT, NotPreOrder, RepeatedNode, TooDeep, UnknownNode
from tidings.schema.values import NotText


def test_everything_below_a_node_is_one_interval():  # Le Subscribe 2.1
    start, stop = CATEGORIES.interval("dining room")
    assert CATEGORIES.nodes[start:stop] == (
        "dining room",
        "table",
        "dining table",
        "extending table",
        "chair",
    )
    assert CATEGORIES.interval("bench") == (len(CATEGORIES) - 1, len(CATEGORIES))
    assert [CATEGORIES.nodes[n] for n in CATEGORIES.ancestors("dining table")] == ["table", "dining room"]
    assert CATEGORIES.ancestors("outdoor") == ()
    assert "table" in CATEGORIES
    assert "tabel" not in CATEGORIES


def test_an_unknown_node_is_refused_with_the_nearest():
    with pytest.raises(UnknownNode, match="no node 'tabel' in the hierarchy; did you mean 'table'\\?"):
        CATEGORIES.number("tabel")
    with pytest.raises(UnknownNode, match="'benhc' in the hierarchy; did you mean 'bench'"):
        CATEGORIES.append("stool", "benhc")


def test_a_cycle_and_a_repeated_node_are_told_apart():
    with pytest.raises(RepeatedNode, match="cycle: 'a' is below itself"):
        Hierarchy.from_tree({"a": {"b": {"a": {}}}})
    with pytest.raises(RepeatedNode, match="'b' occurs twice"):
        Hierarchy.from_tree({"a": {"b": {}}, "c": {"b": {}}})
    with pytest.raises(RepeatedNode, match="cycle"):
        CATEGORIES.append("bed", "bed")
    with pytest.raises(RepeatedNode, match="'bed' occurs twice"):
        CATEGORIES.append("bed", "outdoor")


def test_a_mapping_within_itself_is_a_cycle_too():
    tree: dict[str, object] = {}
    tree["a"] = tree
    with pytest.raises(RepeatedNode, match="cycle: 'a'"):
        Hierarchy.from_tree(tree)


@pytest.mark.parametrize("parents", [(1, 0), (-1, 5), (-1, 1), (0, -1), (-1, -2), (-1, 0, -1, 1)])
def test_parents_that_are_not_in_pre_order_are_refused(parents):
    with pytest.raises(NotPreOrder, match="pre-order"):
        Hierarchy(tuple("abcd"[: len(parents)]), parents)


def chain(length: int) -> dict[str, object]:
    tree: dict[str, object] = {}
    for number in reversed(range(length)):
        tree = {f"n{number}": tree}
    return tree


def test_a_tree_may_have_so_many_levels_and_no_more():
    deepest = Hierarchy.from_tree(chain(LEVELS))
    assert deepest.interval("n0") == (0, LEVELS)
    with pytest.raises(TooDeep, match=f"node 'n{LEVELS}' has {LEVELS} above it"):
        deepest.append(f"n{LEVELS}", f"n{LEVELS - 1}")
    with pytest.raises(TooDeep):
        Hierarchy.from_tree(chain(10_000))


def test_half_a_surrogate_pair_names_no_node():
    with pytest.raises(NotText, match="unpaired surrogate"):
        Hierarchy.from_tree({"a\ud800": {}})


def relations(hierarchy: Hierarchy) -> set[tuple[str, str]]:
    """Every (node, ancestor), found by walking up."""
    found = set()
    for number, node in enumerate(hierarchy.nodes):
        while (number := hierarchy.parents[number]) != NO_PARENT:
            found.add((node, hierarchy.nodes[number]))
    return found


@given(hierarchies())
def test_an_interval_holds_exactly_the_descendants(hierarchy):
    related = relations(hierarchy)
    for node in hierarchy.nodes:
        start, stop = hierarchy.interval(node)
        assert set(hierarchy.nodes[start:stop]) == {node} | {below for below, above in related if above == node}
        assert {hierarchy.nodes[n] for n in hierarchy.ancestors(node)} == {a for b, a in related if b == node}


@given(hierarchies())
def test_a_tree_of_mappings_and_back_is_the_same_hierarchy(hierarchy):
    assert Hierarchy.from_tree(hierarchy.tree()) == hierarchy


@given(hierarchies(), texts, st.data())
def test_appending_keeps_all_relations_and_adds_those_of_the_new_node(hierarchy, node, data):
    parent = data.draw(st.none() | st.sampled_from(hierarchy.nodes)) if hierarchy.nodes else None
    if node in hierarchy:
        with pytest.raises(RepeatedNode):
            hierarchy.append(node, parent)
        return
    grown = hierarchy.append(node, parent)
    above = [] if parent is None else [parent, *(hierarchy.nodes[n] for n in hierarchy.ancestors(parent))]
    assert relations(grown) == relations(hierarchy) | {(node, ancestor) for ancestor in above}
    assert tuple(n for n in grown.nodes if n != node) == hierarchy.nodes
    assert grown.interval(node)[1] - grown.interval(node)[0] == 1
