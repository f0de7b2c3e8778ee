"""The specification of paths against libxml2, and where a path stops."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from tests.documents.strategies import documents
from tests.documents.test_batch import PARSER
from tests.paths.strategies import paths
from tidings.documents.one_path import path_selects
from tidings.documents.selection import TooManySteps, selected, stop_of
from tidings.documents.tree import read_tree
from tidings.paths.covering import covers
from tidings.paths.parser import parse_path
from tidings.paths.printer import path_text
from tidings.schema.documents.rules import DocumentRules


@settings(max_examples=150)
@given(path=paths, document=documents)
def test_it_selects_what_libxml2_selects(path, document):
    text = DocumentRules().canonical(document)
    found = etree.XPath(path_text(path), namespaces={"n": "urn:n"})(etree.fromstring(text.encode(), PARSER))
    mine = selected(path, read_tree(text))
    assert len(mine) == len(found)
    names = [one.local if one.kind == "element" else one.value for one in mine]
    assert names == [etree.QName(one).localname if isinstance(one, etree._Element) else str(one) for one in found]
    assert path_selects(path, [text.encode()]) is bool(found)
    assert (stop_of(path, read_tree(text)) is None) is bool(found)


@pytest.mark.parametrize(
    ("path", "found", "failed", "at"),
    [
        ("/x", "", "/x", None),
        ("/a/b/x", "/a/b", "/x", "/a/b[1]"),
        ("/a/b[@k = '3']", "/a/b", "[@k = '3']", "/a/b[1]"),
        ("/a/b[@k][c]/d[x]//e", "/a/b[@k][c]/d", "[x]", "/a/b[2]/d"),
        ("//d/@j", "//d", "/@j", "/a/b[2]/d"),
    ],
)
def test_where_a_path_stops(path, found, failed, at):
    stop = stop_of(parse_path(path), read_tree("<a>\n<b/>\n<b k='1'><c/><d/></b></a>"))
    assert stop is not None
    assert (stop.found, stop.failed) == (found, failed)
    assert (stop.node and stop.node.path) == at


def test_steps_are_counted():
    with pytest.raises(TooManySteps):
        selected(parse_path("//a//a//a"), read_tree("<a>" * 90 + "</a>" * 90), most_steps=1000)


@settings(max_examples=20)
@given(some=st.lists(paths, min_size=12, max_size=12), read=st.lists(documents, min_size=6, max_size=6))
def test_what_covers_selects_wherever_the_other_does(some, read):
    trees = [read_tree(DocumentRules().canonical(document)) for document in read]
    found = [frozenset(place for place, tree in enumerate(trees) if selected(path, tree)) for path in some]
    for (general, wide), (specific, narrow) in product(zip(some, found, strict=True), repeat=2):
        assert narrow <= wide or not covers(general, specific), (path_text(general), path_text(specific))
