"""Bytes as records, also of bytes that mean harm."""

import json
from typing import Any

import pytest

from tidings.feeds import NoRecords, UnreadableFeed
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.records.json_values import Damaged
from tidings.feeds.records.records import LARGEST, Record, located_records, read_records
from tidings.feeds.sources.content import Content


def read(body: bytes | str, layout: Layout, *paths: str, encoding: str = "") -> list[Record]:
    content = Content("there", body.encode() if isinstance(body, str) else body, encoding)
    return list(read_records(content, layout, paths))


def values(records: list[Record]) -> list[list[Any]]:
    return [[value for one in record.values() for value in one] for record in records]


CSV = Layout("csv")


def test_csv() -> None:
    found = read('\ufeff a ,b\r\n1,"x, ""y""\nz"\r\n\r\n2\r\n', CSV, "a", "b")
    assert found == [{"a": ("1",), "b": ('x, "y"\nz',)}, {"a": ("2",), "b": ()}]
    assert read("a;b\n1;2", Layout("csv", delimiter=";"), "b") == [{"b": ("2",)}]
    assert read("", CSV) == []


def test_csv_with_blanks_after_commas_and_blank_rows() -> None:
    assert values(read('a, b, c\n1, "x, y", 3\n,,\n , \n\n4,5,6\n', CSV, "a", "b", "c")) == [
        ["1", "x, y", "3"],
        ["4", "5", "6"],
    ]
    assert values(read("\n\na b\n1 2\n", Layout("csv", delimiter=" "), "b")) == [["2"]]


def read_and_told(text: str, *paths: str) -> tuple[list[list[Any]], str]:
    """What is read, and what is said after that."""
    found: list[Record] = []
    try:
        for record in read_records(Content("there", text.encode()), CSV, paths):
            found.append(record)
    except UnreadableFeed as problem:
        return values(found), str(problem)
    return values(found), ""


def test_a_row_longer_than_the_header_is_left_out_and_told() -> None:
    found, told = read_and_told('a,b\n"1\n1",2\n1,2,3\n5,6,,\n7,8,9\n1,3\n', "a", "b")
    assert found == [["1\n1", "2"], ["5", "6"], ["1", "3"]]
    assert told.startswith("there: line 4 and 1 more have more cells than the first line; such rows are skipped;")
    found, told = read_and_told("sep=,\na\n1,2\n3\n", "a")
    assert found == [["3"]]
    assert "line 3 has more cells" in told


def test_a_quote_without_end_is_told() -> None:
    found, told = read_and_told('a,b\n1,2\n3,"4\n5,6\n', "a")
    assert found == [["1"]]
    assert "line 3: a quote is never closed; nothing after it was read" in told
    assert read_and_told('a\n"1"', "a") == ([["1"]], "")


def test_csv_that_is_none() -> None:
    with pytest.raises(UnreadableFeed, match="no column 'c'"):
        read("a,b\n1,2", CSV, "c")
    with pytest.raises(UnreadableFeed, match="byte 2"):
        read(b"a\n\xff", CSV, "a")
    with pytest.raises(UnreadableFeed, match="not valid CSV"):
        read("a\n" + "x" * 4_200_000, CSV, "a")
    with pytest.raises(UnreadableFeed, match="line 1: not valid UTF-8"):
        read(b"a,\xff\n" + b"1,2\n" * 200, CSV, "a")
    with pytest.raises(UnreadableFeed, match="columns"):
        read("a" + ",a" * 2_000, CSV, "a")


def test_json() -> None:
    document = {"data": {"items": [{"a": {"b": [1, 2]}}, {"a": 5}, 7]}}
    found = read(json.dumps(document), Layout("json", "/data/items"), "a/b", "a")
    assert values(found) == [[[1, 2], {"b": [1, 2]}], [5], []]
    assert values(read('{"a": 1}', Layout("json"), "a")) == [[1]]
    assert values(read('[{"a": 1}, {"a": 2}]', Layout("json"), "a")) == [[1], [2]]
    assert values(read('{"a": 1}\n\n{"a": 2}\n', Layout("json"), "a")) == [[1], [2]]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "nope",
        '{"a": 1} x',
        '{"a":1}\n{\n{',
        "[" * 100_000,
        '{"a":1}\n' + 2 * ("[" * 100_000 + "\n"),
        "1" * 5_000,
    ],
)
def test_json_that_is_none(body: str) -> None:
    with pytest.raises(UnreadableFeed, match="there: "):
        read(body, Layout("json"), "a")


def test_a_damaged_line_of_json_lines_costs_no_other() -> None:
    body = (
        '{"a": 1, "b": {"c": [7]}}\n{"a": \n\n'
        + "[" * 100_000
        + '\n{"a": 2, "b": {"c": [8, 9]}}\n'
        + "1" * 5_000
        + "\n3\n4"
    )
    for head in ("", "{]\n"):
        found = list(located_records(Content("there", (head + body).encode()), Layout("json"), ["a"]))
        whole = [one for one in found if type(one.record) is not Damaged]
        assert values([one.record for one in whole]) == [[1], [2], [], []]
        assert [one.line for one in found] == [
            line + bool(head) for line in ([0] if head else []) + [1, 2, 4, 5, 6, 7, 8]
        ]
        told = [one.record.problem for one in found if type(one.record) is Damaged][-3:]
        assert [problem.partition(":")[2][:20] for problem in told] == [
            " Expecting value: li", " nested too deeply", " Exceeds the limit (",
        ]  # fmt: skip
    inner = list(located_records(Content("there", body.encode()), Layout("json", "*/b/c"), [""]))
    assert [type(one.record) is Damaged for one in inner] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]  # the damaged ones first
    each = list(located_records(Content("there", body.encode()), Layout("json", each="b/c"), ["^a", ""]))
    assert [dict(one.record) for one in each] == [
        {"^a": (1,), "": (7,)}, {}, {}, {"^a": (2,), "": (8,)}, {"^a": (2,), "": (9,)}, {},
    ]  # fmt: skip


def test_a_line_that_is_no_text_costs_no_other() -> None:
    good = b'{"a": "x"}\n' * 200
    found = list(located_records(Content("there", good + b'{"a": "\xff"}\n' + good), Layout("json"), ["a"]))
    (bad,) = [one for one in found if type(one.record) is Damaged]
    assert (len(found), bad.line) == (401, 201)
    cells: list[Record] = []
    with pytest.raises(UnreadableFeed, match=r"line 202: not valid UTF-8.*all others were read"):
        cells.extend(read_records(Content("there", b"a\n" + b"x\n" * 200 + b"\xff\n" + b"x\n" * 200), CSV, ["a"]))
    assert (len(cells), cells[200]) == (401, {"a": ("\udcff",)})
    for body, form in ((b'{"a": "x"}\n' * 50 + b'{"a": "\xff"}\n', "json"), (b"a\n" + b"x\n" * 50 + b"\xff\n", "csv")):
        with pytest.raises(UnreadableFeed, match="not valid UTF-8; set another with"):
            read(body, Layout(form), "a")


def test_xml() -> None:
    rss = "<rss><item><t>a</t><c>1</c><c>2</c></item><item><t>b &amp; <![CDATA[<c>]]></t></item></rss>"
    assert values(read(rss, Layout("xml", "item"), "t", "c")) == [["a", "1", "2"], ["b & <c>"]]
    assert values(read("<item><t>alone</t></item>", Layout("xml", "item"), "t")) == [["alone"]]
    greek = '<?xml version="1.0" encoding="iso-8859-7"?><r><i>αβγ</i></r>'.encode("iso-8859-7")
    assert values(read(greek, Layout("xml", "i"), ".")) == [["αβγ"]]


@pytest.mark.parametrize(
    "body",
    [
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r><i>&x;</i></r>',
        '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><r><i>&b;</i></r>',
        "<r><i>&unknown;</i></r>",
        "<i>" * 1_000,
        "<r>" + "<i>" * 300 + "</i>" * 300 + "</r>",
        "no markup",
        "",
    ],
)
def test_harmful_xml_is_refused(body: str) -> None:
    with pytest.raises(UnreadableFeed):
        read(body, Layout("xml", "i"), ".")


def test_html() -> None:
    page = "<ul><li class=item>1 &lt; 2<br>x<li class=item>US&nbsp;$1,<b>299</b><script>alert(1)</script></ul>"
    assert values(read(page, Layout("html", "li.item"), ".")) == [["1 < 2 x"], ["US $1,299"]]


def test_hostile_html_stays_text() -> None:
    page = (
        "<div class=r><p class=t>&lt;script&gt;alert(1)&lt;/script&gt;</p><a href='javascript:alert(1)'>x</a>"
        "<style>p{}</style><template><p class=t>hidden</p></template><!-- <p class=t>no</p> --></div>"
    )
    (found,) = read(page, Layout("html", "div.r"), "p.t", "a@href", ".")
    assert found["p.t"][0] == "<script>alert(1)</script>"
    assert found["a@href"] == ("javascript:alert(1)",)
    assert found["."] == ("<script>alert(1)</script> x",)


def test_html_of_great_depth_or_none() -> None:
    with pytest.raises(NoRecords):
        read("<div>" * 50_000 + "x", Layout("html", "p"), ".")
    with pytest.raises(UnreadableFeed):
        read("", Layout("html", "p"), ".")
    assert read("\x00<p>a\x00b</p>", Layout("html", "p"), ".") == [{".": ("ab",)}]


def test_encodings() -> None:
    page = "<meta charset=iso-8859-7><p>αβγ</p>".encode("iso-8859-7")
    assert values(read(page, Layout("html", "p"), ".")) == [["αβγ"]]
    assert values(read("<p>αβγ</p>", Layout("html", "p"), ".")) == [["αβγ"]]
    assert values(read("<p>é</p>".encode("latin-1"), Layout("html", "p"), ".", encoding="latin-1")) == [["é"]]
    assert values(read("a\né".encode("cp1252"), Layout("csv", encoding="cp1252"), "a")) == [["é"]]
    assert values(read(b"<p>\xff</p>", Layout("html", "p"), ".")) == [["\ufffd"]]
    for format, start, path in [("html", "<p>", "p"), ("xml", "<p>", "p"), ("csv", "a\n", "")]:
        marked = ("\ufeff" + start + "αβ").encode() + (b"</p>" if path else b"")
        layout = Layout(format, path)
        assert values(read(marked, layout, "." if path else "a", encoding="iso-8859-1")) == [["αβ"]]
    for name in ("iso-8859-1", "us-ascii", "windows-1252"):
        assert values(read(b"<p>\x80 5</p>", Layout("html", "p"), ".", encoding=name)) == [["€ 5"]]
    for name in ("rot13", "zlib", "idna", "unicode_escape", "no such", "\x00"):
        with pytest.raises(UnreadableFeed, match="encoding"):
            read("a\n1", CSV, "a", encoding=name)


def test_the_encoding_of_xml() -> None:
    items = Layout("xml", "i")
    greek = "<r><i>αβγ</i></r>"
    declared = f'<?xml version="1.0" encoding="iso-8859-1"?>{greek}'
    assert values(read(declared.encode("iso-8859-7"), items, ".", encoding="iso-8859-7")) == [["αβγ"]]
    assert values(read(f' \n<?xml version="1.0"?>{greek}', items, ".")) == [["αβγ"]]
    assert values(read(f'<?xml version="1.0" encoding="UTF-16"?>{greek}', items, ".")) == [["αβγ"]]
    with pytest.raises(UnreadableFeed, match="not valid UTF-8; set another with the mapping's `encoding`"):
        read(greek.encode("iso-8859-7"), items, ".")
    with pytest.raises(UnreadableFeed, match="unknown encoding 'nothing'; set another with the mapping's `encoding`"):
        read('<?xml version="1.0" encoding="nothing"?><r/>', items, ".")


def test_what_is_too_large_is_not_parsed() -> None:
    with pytest.raises(UnreadableFeed, match="at most"):
        read(b" " * (LARGEST + 1), CSV, "a")


def test_values_of_one_path_are_bounded() -> None:
    (record,) = read("<r>" + "<i/>" * 5_000 + "</r>", Layout("xml", "r"), "i")
    assert len(record["i"]) == 1_001  # by which it is seen that there are too many
