"""The sketch tree and the keys of paths: figures 2 and 5, table I and section II of the XEvent paper."""

import pytest

from tidings.documents.tree import read_tree
from tidings.overlay.xevent.records import ELEMENT_PATHS
from tidings.overlay.xevent.sketch import SketchTree, document_paths, node_text, path_prefix
from tidings.paths.parser import parse_path
from tidings.paths.printer import path_text

ARTICLE = "/SigmodRecord/issue/articles/article"
FIGURE_5 = {
    1: ARTICLE + "/authors/author",
    2: ARTICLE + "/endPage",
    3: ARTICLE + "/initPage",
    4: ARTICLE + "/title",
    5: "/SigmodRecord/issue/number",
    6: "/SigmodRecord/issue/volume",
    7: ARTICLE + "/authors",
    8: ARTICLE,
    9: "/SigmodRecord/issue/articles",
    10: "/SigmodRecord/issue",
    11: "/SigmodRecord",
}
SKETCH = SketchTree(ELEMENT_PATHS)


def test_the_nodes_of_figure_5() -> None:
    assert {node_text(node) for node in SKETCH.nodes} == set(FIGURE_5.values())
    assert [node_text(root) for root in SKETCH.roots] == sorted(FIGURE_5[number] for number in range(1, 7))


@pytest.mark.parametrize(
    ("path", "key"),
    [
        (ARTICLE + "/title", ARTICLE + "/title"),  # XEvent, section II, F1
        ("/SigmodRecord/issue/articles//title", "/SigmodRecord/issue/articles"),  # XEvent, section II, F2
        (ARTICLE + "/*/author", ARTICLE),
        (ARTICLE + "[initPage > 3]/authors/author[@position = '00']", ARTICLE + "/authors/author"),
        (ARTICLE + "/authors/author/@position", ARTICLE + "/authors/author"),
        ("//author", "/"),
    ],
)
def test_the_key_is_the_longest_prefix_of_named_children(path: str, key: str) -> None:
    assert node_text(path_prefix(parse_path(path))) == key


@pytest.mark.parametrize(
    ("path", "instance", "node"),
    [
        ("//articles//title", "/SigmodRecord/issue/articles//title", "/SigmodRecord/issue/articles"),  # table I
        ("/*/issue//article/*/author", "/SigmodRecord/issue//article/*/author", "/SigmodRecord/issue"),  # table I
        ("//author", ARTICLE + "/authors/author", ARTICLE + "/authors/author"),  # section IV.B, note 1
        ("//*[. = 3]", "//*[. = 3]", "/SigmodRecord"),  # no name to begin with: every document comes by
        ("//@position", "//@position", "/SigmodRecord"),
    ],
)
def test_instances_are_placed_by_their_keys(path: str, instance: str, node: str) -> None:
    assert [(path_text(one), node_text(at)) for one, at in SKETCH.placements(parse_path(path))] == [(instance, node)]


@pytest.mark.parametrize("path", ["/SigmodRecord/title", "//chapter", "/Record", "/SigmodRecord/*/*/*/title/*"])
def test_what_the_grammar_does_not_allow_is_placed_nowhere(path: str) -> None:
    assert SKETCH.placements(parse_path(path)) == []


def test_an_instance_for_each_way_and_each_root_element() -> None:
    sketch = SketchTree([("r", "a", "x"), ("r", "b", "x"), ("s", "x")])
    placed = [(path_text(one), node_text(at)) for one, at in sketch.placements(parse_path("//x"))]
    assert placed == [("/r/a/x", "/r/a/x"), ("/r/b/x", "/r/b/x"), ("/s/x", "/s/x")]
    assert [node_text(at) for _, at in sketch.placements(parse_path("//*[. = 1]"))] == ["/r", "/s"]


def test_the_element_paths_of_a_document() -> None:  # XEvent, figure 1
    document = read_tree(
        "<SigmodRecord><issue><volume>11</volume><articles><article><title>Process</title><initPage>9</initPage>"
        "<endPage>29</endPage><authors><author position='00'>Philip A. Bernstein</author>"
        "<author position='01'>Marco A. Casanova</author></authors></article></articles></issue></SigmodRecord>"
    )
    found = {node_text(path) for path in document_paths(document)}
    assert found == {FIGURE_5[number] for number in (1, 2, 3, 4, 6)}
    assert {node_text(root) for root in SKETCH.entrances(document)} == found


def test_an_element_path_that_ends_early_goes_to_the_first_root_that_begins_with_it() -> None:
    document = read_tree("<SigmodRecord><issue><volume>1</volume><articles/></issue></SigmodRecord>")
    roots = [node_text(root) for root in SKETCH.entrances(document)]
    assert roots == [FIGURE_5[1], FIGURE_5[6]]
