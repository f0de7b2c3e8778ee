"""Where something stands: paths into XML and HTML, and into JSON."""

from typing import Any

import pytest
from lxml import etree

from tidings.feeds.errors import WrongPath
from tidings.feeds.records.element_path import ElementPath
from tidings.feeds.records.json_path import JsonPath, written

PAGE = etree.fromstring(
    """<body><div id="list"><ul class="big cars">
    <li class="item new" data-n="1"><b>one</b> <i>x</i></li>
    <li class="item" data-n="2"><b>two</b><p><b>deep</b></p></li></ul></div>
    <table><tr><td>a</td><td>b</td></tr></table><li>other</li></body>"""
)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("li", ["one x", "two deep", "other"]),
        ("li.item", ["one x", "two deep"]),
        ("li.item.new", ["one x"]),
        (".cars .item b", ["one", "two", "deep"]),
        ("#list li p b", ["deep"]),
        ("ul.big li@data-n", ["1", "2"]),
        ("li@data-none", []),
        ("p li", []),
        ("td:2", ["b"]),
        ("td:3", []),
        ("*.new i", ["x"]),
        ("div#list ul li:2 b", ["two", "deep"]),
        ("table ul", []),
    ],
)
def test_elements(path: str, found: list[str]) -> None:
    assert list(ElementPath.parse(path).values(PAGE)) == found


def test_the_element_itself_and_its_attributes() -> None:
    (item,) = ElementPath.parse("li.new").elements(PAGE)
    assert list(ElementPath.parse(".").values(item)) == ["one x"]
    assert list(ElementPath.parse("@data-n").values(item)) == ["1"]
    assert list(ElementPath.parse("i xml()").values(item)) == ["<i>x</i>"]
    assert next(ElementPath.parse(". xml()").values(item)).startswith('<li class="item new" data-n="1">')
    # What stands above the record does not count.
    assert list(ElementPath.parse("ul b").values(item)) == []


@pytest.mark.parametrize(
    "path",
    [
        "",
        "//li",
        "li[1]",
        "li > b",
        "> > b",
        ">",
        "> .",
        "> @id",
        "a@",
        "@a b",
        "string(.)",
        "li.",
        "a:0",
        "a#b#c",
        "x " * 21,
        "a" * 501,
        "a|b",
    ],
)
def test_what_is_no_path_is_refused_with_what_was_expected(path: str) -> None:
    with pytest.raises(WrongPath) as caught:
        ElementPath.parse(path)
    assert path[:10].strip() in str(caught.value)


NESTED = etree.fromstring(
    """<tr id="outer"><td>a<table><tr><td>inner</td><td>x</td></tr></table></td><td>b</td>
    <th><td>c</td></th></tr>"""
)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("> td", ["a inner x", "b"]),
        (">td:2", ["b"]),
        (":scope > td:2", ["b"]),
        ("> td td", ["inner", "x"]),
        ("> td tr td:2", ["x"]),
        ("> table td", []),
        ("> tr", []),
        ("> th td", ["c"]),
        ("td:2", ["x", "b"]),
    ],
)
def test_what_stands_in_the_record_itself(path: str, found: list[str]) -> None:
    assert list(ElementPath.parse(path).values(NESTED)) == found


def test_names_are_compared_without_namespace() -> None:
    atom = etree.fromstring(
        '<feed xmlns="http://a/b" xmlns:x="http://c"><entry x:lang="el"><x:id>7</x:id></entry></feed>'
    )
    assert list(ElementPath.parse("entry id").values(atom)) == ["7"]
    assert list(ElementPath.parse("entry@lang").values(atom)) == ["el"]


DOCUMENT: dict[str, Any] = {
    "data": {"items": [{"a": 1, "b": [{"c": 2}, {"c": 3}]}, {"a": None}]},
    "sl/ash": {"til~de": "x"},
    "": 5,
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("", [DOCUMENT]),
        ("/data/items/0/a", [1]),
        ("data/items/*/a", [1, None]),
        ("data/items/0/b/*/c", [2, 3]),
        ("data/items/9", []),
        ("data/items/-1", []),
        ("data/nothing/below", []),
        ("sl~1ash/til~0de", ["x"]),
        ("/", [5]),
    ],
)
def test_json(path: str, found: list[Any]) -> None:
    assert list(JsonPath.parse(path).values(DOCUMENT)) == found


def test_json_paths_are_written_as_they_are_read() -> None:
    assert JsonPath.parse(written("sl/ash", "til~de")).steps == ("sl/ash", "til~de")


@pytest.mark.parametrize("path", ["a~b", "a/" * 21])
def test_no_json_path(path: str) -> None:
    with pytest.raises(WrongPath):
        JsonPath.parse(path)
