from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.schema.samples import CATEGORIES
from tests.strategies.schemas import hierarchies, texts
from tidings.schema import Hierarchy
from tidings.schema.hierarchy import (
    LEVELS,
    NO_PARENT,
    AmbiguousNode,
    IllegalNode,
    NotPreOrder,
    RepeatedNode,
    TooDeep,
    UnknownNode,
    is_node_name,
)
from tidings.schema.values import NotText

CARS = Hierarchy.from_tree({"Peugeot": {"206": {}, "andere": {}}, "Audi": {"A4": {}, "andere": {"TT": {}}}})


def test_everything_below_a_node_is_one_interval():  # Le Subscribe 2.1
    start, stop = CATEGORIES.interval("dining room")
    assert CATEGORIES.names[start:stop] == (
        "dining room",
        "table",
        "dining table",
        "extending table",
        "chair",
    )
    assert CATEGORIES.interval("bench") == (len(CATEGORIES) - 1, len(CATEGORIES))
    assert [CATEGORIES.names[n] for n in CATEGORIES.ancestors("dining table")] == ["table", "dining room"]
    assert CATEGORIES.ancestors("outdoor") == ()
    assert "table" in CATEGORIES
    assert "tabel" not in CATEGORIES


def test_a_node_is_named_by_its_path_or_by_an_end_that_occurs_once():
    assert CARS.nodes[-1] == "Audi > andere > TT"
    for text in ("TT", "andere > TT", "Audi > andere > TT"):
        assert CARS.path(text) == "Audi > andere > TT"
    assert CARS.spellings(len(CARS) - 1) == ["Audi > andere > TT", "andere > TT", "TT"]
    assert CARS.spellings(CARS.number("Audi > andere")) == ["Audi > andere"]
    assert "Peugeot > TT" not in CARS


def test_an_end_that_occurs_several_times_is_refused_with_the_paths():
    assert "andere" in CARS
    with pytest.raises(AmbiguousNode, match=r"the whole path: 'Peugeot > andere', 'Audi > andere'$"):
        CARS.number("andere")
    with pytest.raises(AmbiguousNode):
        CARS.append("RS", "andere")


def test_a_whole_path_names_its_node_whatever_else_ends_so():
    grown = CARS.append("andere", None)
    assert grown.path("andere") == "andere"
    assert grown.path("Audi > andere") == "Audi > andere"


@pytest.mark.parametrize("name", ["a > b", "> b", "a >", ">", " >"])
def test_a_name_that_would_make_paths_ambiguous_is_refused(name):
    with pytest.raises(IllegalNode, match="separates the names in a path"):
        Hierarchy.from_tree({name: {}})
    with pytest.raises(IllegalNode):
        CARS.append(name, "Audi")


def test_an_unknown_node_is_refused_with_the_nearest():
    with pytest.raises(UnknownNode, match="no node 'tabel' in the hierarchy; did you mean 'table'\\?"):
        CATEGORIES.number("tabel")
    with pytest.raises(UnknownNode, match="'benhc' in the hierarchy; did you mean 'bench'"):
        CATEGORIES.append("stool", "benhc")


def test_siblings_have_different_names():
    with pytest.raises(RepeatedNode, match="node 'Audi > A4' occurs twice"):
        CARS.append("A4", "Audi")
    with pytest.raises(RepeatedNode, match="node 'Audi' occurs twice"):
        CARS.append("Audi", None)
    with pytest.raises(RepeatedNode, match="node 'a > b' occurs twice"):
        Hierarchy(("a", "b", "b"), (-1, 0, 0))
    assert Hierarchy.from_tree({"a": {"b": {"a": {}}}}).nodes[-1] == "a > b > a"


def test_a_mapping_within_itself_is_too_deep():
    tree: dict[str, object] = {}
    tree["a"] = tree
    with pytest.raises(TooDeep):
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


@given(hierarchies(), texts.filter(is_node_name), st.data())
def test_appending_keeps_all_relations_and_adds_those_of_the_new_node(hierarchy, name, data):
    parent = data.draw(st.none() | st.sampled_from(hierarchy.nodes)) if hierarchy.nodes else None
    node = name if parent is None else f"{parent} > {name}"
    if node in hierarchy.nodes:
        with pytest.raises(RepeatedNode):
            hierarchy.append(name, parent)
        return
    grown = hierarchy.append(name, parent)
    above = [] if parent is None else [parent, *(hierarchy.nodes[n] for n in hierarchy.ancestors(parent))]
    assert relations(grown) == relations(hierarchy) | {(node, ancestor) for ancestor in above}
    assert tuple(n for n in grown.nodes if n != node) == hierarchy.nodes
    assert grown.interval(node)[1] - grown.interval(node)[0] == 1


@given(hierarchies())
def test_a_text_names_a_node_if_its_path_alone_ends_so(hierarchy):
    split = [node.split(" > ") for node in hierarchy.nodes]
    texts = {" > ".join(names[first:]) for names in split for first in range(len(names))}
    for text in texts:
        parts = text.split(" > ")
        meant = [n for n, names in enumerate(split) if names == parts] or [
            n for n, names in enumerate(split) if names[-len(parts) :] == parts
        ]
        if len(meant) == 1:
            assert hierarchy.number(text) == meant[0]
            assert text in hierarchy.spellings(meant[0])
        else:
            with pytest.raises(AmbiguousNode) as caught:
                hierarchy.number(text)
            assert caught.value.paths == tuple(hierarchy.nodes[n] for n in meant)
    assert set(hierarchy.all_spellings()) == {t for t in texts if len(hierarchy._meant(t)) == 1}
