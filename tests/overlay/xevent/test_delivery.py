"""The delivery tree: figure 6 of the XEvent paper, its order after random joins and leaves, and who is reached."""

import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from tests.overlay.xevent.test_sketch import ARTICLE, FIGURE_5
from tests.paths.strategies import paths
from tests.paths.test_covering import FIGURE_3
from tidings.documents.tree import read_tree
from tidings.overlay.xevent.delivery import DeliveryTree, PlacedPath, more_specific
from tidings.overlay.xevent.peers import Peers
from tidings.overlay.xevent.records import ELEMENT_PATHS, random_document, random_path
from tidings.overlay.xevent.routers import Routers
from tidings.overlay.xevent.scribe import Scribe
from tidings.overlay.xevent.sketch import Node, SketchTree, node_text
from tidings.overlay.xevent.system import XEvent
from tidings.overlay.xevent.traffic import holds_in
from tidings.paths.covering import covers
from tidings.paths.parser import parse_path
from tidings.paths.printer import path_text
from tidings.paths.tree import Path

SKETCH = SketchTree(ELEMENT_PATHS)
# A grammar that is met by the paths of tests.paths: names repeat at several places.
FEW = SketchTree([("a", "a", "b"), ("a", "b", "a"), ("a", "b", "or"), ("a", "or"), ("b", "a", "b", "a")])
PEERS = Peers(300, 1, routers=Routers(1, 2, 2, 2, 3))


def figure_6() -> tuple[DeliveryTree, dict[int, PlacedPath]]:
    tree = DeliveryTree(SKETCH)
    return tree, {number: tree.subscribe(number, parse_path(text))[0] for number, text in FIGURE_3.items()}


def test_filters_are_at_the_nodes_of_figure_6() -> None:
    _, filters = figure_6()
    nodes = {number: node_text(filter.node) for number, filter in filters.items()}
    keys = {1: 1, 2: 11, 3: 8, 4: 1, 5: 8, 6: 11, 7: 11, 8: 1}  # the sub-filter S of each filter F
    assert nodes == {number: FIGURE_5[key] for number, key in keys.items()}
    assert filters[8].text == ARTICLE + "/authors/author"  # instantiated: section IV.B, note 1


def test_filters_are_linked_as_in_figure_6() -> None:
    """The drawing is lost; sections II and IV.B give the relations, and the design which of several parents."""
    tree, filters = figure_6()
    numbers = {filter: number for number, filter in filters.items()}
    parents = {number: numbers.get(tree.parent(filter)) for number, filter in filters.items()}
    assert parents == {1: None, 3: 1, 5: 3, 2: 5, 6: 2, 7: 6, 4: None, 8: 1}
    author = filters[1].node
    assert [tree.entered_from(filters[number]) for number in (1, 4, 6)] == [{author}, {author}, set()]
    # Links between hosts go past S7, which has no filter: section IV.B, note 2.
    links = {(node_text(one), node_text(other)) for one, others in tree.links().items() for other in others}
    assert links == {(FIGURE_5[1], FIGURE_5[8]), (FIGURE_5[8], FIGURE_5[11])}


def test_a_filter_is_put_between_those_it_covers_and_those_that_cover_it() -> None:  # XEvent, section IV.B
    tree = DeliveryTree(SKETCH)
    narrow, wide = (tree.subscribe(1, parse_path(text))[0] for text in (FIGURE_3[1], FIGURE_3[2]))
    assert tree.parent(wide) == narrow
    middle = tree.subscribe(2, parse_path(FIGURE_3[5]))[0]
    assert (tree.parent(wide), tree.parent(middle)) == (middle, narrow)
    tree.unsubscribe(2, parse_path(FIGURE_3[5]))
    assert tree.parent(wide) == narrow


def test_a_path_that_the_parent_cannot_be_met_along_has_a_link_of_its_own() -> None:
    tree = DeliveryTree(SKETCH)
    volume, any_child = (tree.subscribe(1, parse_path(f"/SigmodRecord/issue/{name}"))[0] for name in ("volume", "*"))
    assert tree.parent(any_child) == volume
    assert {node_text(root) for root in tree.entered_from(any_child)} == {FIGURE_5[number] for number in range(1, 6)}
    reached, _ = carried(tree, "<SigmodRecord><issue><number>3</number></issue></SigmodRecord>", [any_child.path])
    assert reached == {1: 1}


def test_what_satisfies_the_parent_is_not_tested() -> None:  # XEvent, section III
    tree, filters = figure_6()
    document = read_tree(
        "<SigmodRecord><issue><articles><article><authors><author position='00'/></authors></article></articles>"
        "</issue></SigmodRecord>"
    )
    found = tree.satisfied(SKETCH.nodes, holds_in(document))
    assert found == {filters[number]: number == 1 for number in (1, 2, 3, 5, 6, 7, 8)}


def expected_parents(tree: DeliveryTree) -> dict[PlacedPath, PlacedPath | None]:
    """By comparing all pairs."""
    filters = list(tree.subscribers)
    parents: dict[PlacedPath, PlacedPath | None] = {}
    for filter in filters:
        below = [one for one in filters if more_specific(one, filter)]
        nearest = [one for one in below if not any(more_specific(one, other) for other in below)]
        parents[filter] = min(nearest, key=lambda one: (one.text, one.node), default=None)
    return parents


def check_order(tree: DeliveryTree) -> None:
    for filter, parent in expected_parents(tree).items():
        assert tree.parent(filter) == parent
        if parent is not None:
            assert covers(filter.path, parent.path)
            assert parent.node[: len(filter.node)] == filter.node  # the parent is at the node, or above it
            assert parent.ways <= filter.ways


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_the_order_holds_after_joins_and_leaves(seed: int) -> None:
    chosen = random.Random(seed)
    tree = DeliveryTree(SKETCH)
    present: list[tuple[int, Path]] = []
    for number in range(40):
        if present and chosen.random() < 0.35:
            tree.unsubscribe(*present.pop(chosen.randrange(len(present))))
        else:
            present.append((number, random_path(chosen)))
            tree.subscribe(*present[-1])
    check_order(tree)
    assert set(tree.subscribers) == {filter for _, path in present for filter in tree.placed(path)}
    for one in present:
        tree.unsubscribe(*one)
    assert not tree.subscribers
    assert not tree.links()


def carried(tree: DeliveryTree, document: str, subscribed: list[Path]) -> tuple[Counter[int], set[int]]:
    """How often each subscriber is sent the document by a node that has its path, and who should be, by libxml2."""
    root = read_tree(document)
    xevent = XEvent(PEERS, tree)
    entrances = SKETCH.entrances(root) if tree.sketch is SKETCH else tree.sketch.entrances(root)
    satisfied = tree.satisfied(xevent.reached(entrances), holds_in(root))
    result = xevent.carry(7, entrances, satisfied)
    assert Scribe(PEERS, tree).carry(7, entrances, satisfied).arrivals.keys() == result.arrivals.keys()
    sent = Counter(one for filter in satisfied for one in tree.subscribers[filter])
    assert result.arrivals.keys() == sent.keys()
    parsed = etree.fromstring(document)
    prefixes = {"namespaces": {"n": "urn:n"}}
    wanted = {number for number, path in enumerate(subscribed, 1) if parsed.xpath(path_text(path), **prefixes)}
    return sent, wanted


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_each_matching_subscriber_is_sent_a_document_once(seed: int) -> None:
    chosen = random.Random(seed)
    tree = DeliveryTree(SKETCH)
    subscribed = [random_path(chosen) for _ in range(30)]
    for number, path in enumerate(subscribed, 1):
        tree.subscribe(number, path)
    for _ in range(3):
        sent, wanted = carried(tree, random_document(chosen), subscribed)
        assert sent == dict.fromkeys(wanted, 1)


def test_each_branch_of_a_scribe_tree_carries_a_document_once() -> None:
    tree = DeliveryTree(SKETCH)
    members = random.Random(1).sample(range(300), 100)
    for member in members:
        (filter,) = tree.subscribe(member, parse_path("//title"))
    scribe = Scribe(PEERS, tree)
    group = scribe.groups[filter.node]
    result = scribe.carry(7, [filter.node], [filter])
    assert sorted(result.arrivals) == sorted(members)
    downward = result.sends[1:]
    assert result.sends[0] == (7, group.root)
    assert sorted(downward) == sorted((above, peer) for peer, above in group.parents.items())
    assert all(group.branch(member)[-1] == group.root for member in members)


def few_document(chosen: random.Random, node: Node) -> str:
    """With some of the children that the grammar allows, some of them twice."""
    below = {root[len(node)] for root in FEW.roots if root[: len(node)] == node and len(root) > len(node)}
    children = [name for name in sorted(below) for _ in range(chosen.choice((0, 1, 1, 2)))]
    attributes = chosen.choice(("", ' k="1"', ' k="xy"'))
    text = chosen.choice(("", "x", "2.5", "07"))
    inside = "".join(few_document(chosen, (*node, name)) for name in children)
    return f"<{node[-1]}{attributes}>{text}{inside}</{node[-1]}>"


@settings(max_examples=50)
@given(subscribed=st.lists(paths, min_size=1, max_size=12), seed=st.integers(0, 10**6))
def test_paths_of_the_whole_language_reach_their_subscribers(subscribed: list[Path], seed: int) -> None:
    chosen = random.Random(seed)
    tree = DeliveryTree(FEW)
    for number, path in enumerate(subscribed, 1):
        tree.subscribe(number, path)
    check_order(tree)
    for _ in range(3):
        sent, wanted = carried(tree, few_document(chosen, (chosen.choice("ab"),)), subscribed)
        assert sent.keys() == wanted  # a path with several instances may be found at several nodes
