"""A document on a page: a tree that opens, what paths select marked, never more than fits."""

from __future__ import annotations

from tidings.language import Filter
from tidings.paths.parser import parse_path
from tidings.schema import Catalog
from tidings.service.pages.parts.shown_document import Line, Part, ShownDocument, document_paths, shown_document

NEWS = '<news><head><title lang="en">A storm</title><empty></empty></head><body>So <b>they</b> say</body></news>'
SPACE = "urn:example:news"


def _shown(document: str, *paths: str) -> ShownDocument:
    return shown_document(document, [parse_path(path) for path in paths])


def _marked(shown: ShownDocument) -> list[str]:
    found = []
    for line in shown.lines:
        found += [line.name] if line.is_marked else []
        found += [f"@{one.name}" for one in line.attributes if one.is_marked]
        found += [line.text.text] if line.text is not None and line.text.is_marked else []
    return found


def test_elements_that_hold_others_open_and_texts_stand_beside_their_element() -> None:
    news, head, title, empty, body, so, they, say = _shown(NEWS).lines
    assert (news.folds, head.folds, body.folds) == (True, True, True)
    assert title == Line("title", attributes=(Part("en", "lang"),), text=Part("A storm"))
    assert (empty.text, empty.closes) == (None, 1)
    assert (so.name, so.text, they.text, say.closes) == ("", Part("So"), Part("they"), 2)


def test_each_element_that_opens_is_closed() -> None:
    for document in (NEWS, "<a/>", "<a>x</a>", "<a>" * 90 + "x" + "</a>" * 90):
        lines = _shown(document).lines
        assert sum(line.closes for line in lines) == sum(line.folds for line in lines), document


def test_what_paths_select_is_marked_and_open_the_rest_is_folded() -> None:
    shown = _shown(NEWS, "//title/@lang", "//b")
    assert _marked(shown) == ["@lang", "b"]
    assert [line.name for line in shown.lines if line.is_open] == ["news", "head", "body"]
    assert _marked(_shown(NEWS, "//title/text()")) == ["A storm"]
    only = _shown(NEWS, "//title")
    assert [line.name for line in only.lines if line.folds and not line.is_open] == ["body"]
    assert _marked(_shown(NEWS, "//nothing")) == []
    assert [line.name for line in _shown(NEWS).lines if line.is_open] == ["news", "head", "body"]


def test_of_a_long_document_the_first_nodes_are_shown_and_what_is_marked() -> None:
    long = "<list>" + "".join(f"<one><n>{number}</n></one>" for number in range(5_000)) + "</list>"
    shown = _shown(long, "//n[. = 4321]")
    assert len(shown.lines) < 500
    assert _marked(shown) == ["n"]
    gaps = [line.gap for line in shown.lines if line.gap > 1]  # one is within an element
    assert sum(gaps) + sum(line.name == "one" for line in shown.lines) == 5_000
    assert shown.notes == ("Some nodes are left out. The event's page has all of them under “As JSON”.",)


def test_what_is_too_large_to_read_whole_is_shown_from_its_beginning() -> None:
    huge = "<list>" + "<one>1</one>" * 100_000 + "</list>"
    shown = _shown(huge, "//one")
    assert 100 < len(shown.lines) < 500
    assert "Only the first 400 nodes" in shown.notes[0]
    assert "not marked" in shown.notes[1]


def test_many_marks_attributes_and_long_texts_are_bounded() -> None:
    shown = _shown("<a>" + "<b/>" * 30 + "</a>", "//b")
    assert len(_marked(shown)) == 20
    assert shown.notes == ("Of 30 nodes that a path selects, 20 are marked.",)
    attributes = " ".join(f'a{number}="1"' for number in range(50))
    (line,) = _shown(f"<a {attributes}/>", "//@a49").lines
    assert (len(line.attributes), line.more, _marked(_shown(f"<a {attributes}/>", "//@a49"))) == (13, 37, ["@a49"])
    (line,) = _shown(f"<a>{'x' * 1_000}</a>").lines
    assert line.text == Part("x" * 300 + "…")


def test_a_path_that_takes_too_long_marks_nothing() -> None:
    deep = "<a>" * 90 + "<b/>" * 500 + "</a>" * 90
    shown = _shown(deep, "//a//a//a//a//a//a//b[c]")
    assert _marked(shown) == []
    assert "Nodes are not marked: the document is too large for that." in shown.notes


def test_names_are_written_as_paths_name_them() -> None:
    document = f'<x:news xmlns:x="{SPACE}" xmlns:y="urn:other"><x:t/><y:t/></x:news>'
    shown = shown_document(document, [parse_path("//n:t", {"n": SPACE})], {"n": SPACE})
    assert [(line.name, line.namespace, line.is_marked) for line in shown.lines] == [
        ("n:news", SPACE, False),
        ("n:t", SPACE, True),
        ("t", "urn:other", False),
    ]


def test_the_paths_of_a_filter_also_those_that_are_negated() -> None:
    catalog = Catalog.from_dict(
        {
            "domains": [{"name": "d", "kind": "document"}, {"name": "n", "kind": "numeric"}],
            "attributes": [{"name": name, "domain": "d"} for name in ("one", "two")] + [{"name": "n", "domain": "n"}],
            "event_types": [{"name": "e", "attributes": [{"name": name} for name in ("one", "two", "n")]}],
        }
    )
    text = "n > 3 and (one xpath '/a' or one not xpath '/b') and two xpath '/c'"
    found = document_paths(Filter.parse(text, catalog).tree)
    assert {name: {str(path) for path in paths} for name, paths in found.items()} == {
        "one": {str(parse_path("/a")), str(parse_path("/b"))},
        "two": {str(parse_path("/c"))},
    }
