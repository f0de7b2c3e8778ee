"""Where one request ends and the next begins."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.service.xml.framing import DEEPEST, MOST_ATTRIBUTES, Document, Framing, MalformedRequest, RequestTooLarge

LARGEST = 100_000


def framed(text: bytes, largest: int = LARGEST) -> tuple[list[bytes], Framing]:
    framing = Framing(largest)
    return [document.text for document in framing.feed(text)], framing


@pytest.mark.parametrize(
    "document",
    [
        b"<A/>",
        b"<A></A>",
        b"<A><B/><C>text</C></A>",
        b'<A b="x>y"/>',
        b"<A b='/>'></A>",
        b"<A><!-- </A> --><B/></A>",
        b"<A><![CDATA[</A>]]></A>",
        b"<A><?target </A>?></A>",
        b'<?xml version="1.0" encoding="UTF-8"?>\n<A/>',
        b"<!-- before --><?target?><A/>",
        b"<A  b = '1'\n c=\"2\" ></A >",
    ],
)
def test_a_document_ends_with_its_root(document: bytes) -> None:
    found, framing = framed(b" \n" + document + b"\r\n\t" + document + b"\n" + document[:3])
    assert found == [document, document]
    assert framing.problem is None
    assert framing.partial


def test_what_follows_a_root_belongs_to_the_next_document() -> None:
    found, framing = framed(b"<A/><!-- of nobody --><?xml version='1.0'?><B/><!-- of C --><C/>")
    assert found == [b"<A/>", b"<?xml version='1.0'?><B/>", b"<!-- of C --><C/>"]
    assert not framing.partial


def test_a_document_type_that_names_a_file_is_blanked_out() -> None:  # thesis, appendix C
    text = b'<!DOCTYPE ADD_DOMAIN SYSTEM\n  "intellix.intelligence.tuc.gr:8090/dtds/add_dom.dtd">\n<ADD_DOMAIN/>'
    (found,), framing = framed(text)
    assert framing.problem is None
    assert found.split() == [b"<ADD_DOMAIN/>"]
    assert len(found) == len(text)
    assert found.count(b"\n") == 2


@pytest.mark.parametrize(
    "text",
    [
        b"text",
        b"<A/>text<B/>",
        b"</A>",
        b"<A/></A>",
        b"<![CDATA[x]]><A/>",
        b"<!ELEMENT A ANY><A/>",
        b'<!DOCTYPE A [<!ENTITY a "b">]><A>&a;</A>',
        b'<!DOCTYPE A SYSTEM "x" [ ]><A/>',
        b"<!DOCTYPE A SYSTEM><A/>",
        b"<!DOCTYPE><A/>",
        b"<!DOCTYPE A><!DOCTYPE A><A/>",
        b"<A><!DOCTYPE A></A>",
        b"<A <B/>></A>",
        b"<A b='<'/>",
        b"<\x00A\x00/\x00>\x00",
        b"\xff\xfe<\x00A\x00",
        b'<?xml version="1.0" encoding="utf-16"?><A/>',
        b'<?xml version="1.0" encoding="cp037"?><A/>',
        b"<!DOCTYPE A><?xml version='1.0'?><A/>",
        b"<A>" * (DEEPEST + 1),
        b"<A " + b" ".join(b"a%d=''" % number for number in range(MOST_ATTRIBUTES + 1)) + b"/>",
    ],
)
def test_what_no_request_may_have(text: bytes) -> None:
    found, framing = framed(b"<FIRST/>" + text + b"<LAST/>")
    assert found[0] == b"<FIRST/>"
    assert b"<LAST/>" not in found
    assert isinstance(framing.problem, MalformedRequest)
    assert framing.feed(b"<A/>") == []


def test_the_problem_says_where() -> None:
    _, framing = framed(b"<A>\n</A>\n\n  <B>\n<!x></B>")
    assert framing.problem is not None
    assert framing.problem.args[:2] == (2, 3)


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [(b"UTF-8", "utf-8"), (b"us-ascii", "us-ascii"), (b"ISO-8859-1", "iso-8859-1"), (b"utf8", "utf-8")],
)
def test_encodings(declared: bytes, encoding: str) -> None:
    text = b'<?xml version="1.0" encoding="' + declared + b'"?><A/>'
    assert Framing(LARGEST).feed(text) == [Document(text, encoding)]


def test_the_next_document_has_an_encoding_of_its_own() -> None:
    (first, second) = Framing(LARGEST).feed(b'<?xml version="1.0" encoding="iso-8859-1"?><A/>\n<B/>')
    assert (first.encoding, second.encoding) == ("iso-8859-1", "utf-8")


def test_a_byte_order_mark_is_skipped() -> None:
    framing = Framing(LARGEST)
    assert framing.feed(b"\xef") == []
    assert framing.feed(b"\xbb\xbf<A/>\xef\xbb\xbf<B/>") == [Document(b"<A/>", "utf-8"), Document(b"<B/>", "utf-8")]


@pytest.mark.parametrize("inside", [b"", b"<!--", b"<B b='", b"<B", b"<![CDATA[", b"<?b ", b"<B>text"])
def test_bytes_are_counted_wherever_they_stand(inside: bytes) -> None:
    framing = Framing(100)
    assert framing.feed(b"<A>" + inside) == []
    for _ in range(200):
        framing.feed(b"x")
    assert isinstance(framing.problem, RequestTooLarge)
    assert not framing.partial


def test_the_largest_request_is_taken() -> None:
    fits = b"<A>" + b"x" * 93 + b"</A>"
    assert len(fits) == 100
    assert framed(b"  " + fits + b"\n" + fits, 100)[0] == [fits, fits]
    found, framing = framed(fits + b"<A>" + b"x" * 94 + b"</A>", 100)
    assert found == [fits]
    assert isinstance(framing.problem, RequestTooLarge)


def test_the_deepest_request_is_taken() -> None:
    deepest = b"<A>" * (DEEPEST - 1) + b"<B/>" + b"</A>" * (DEEPEST - 1)
    assert framed(deepest)[0] == [deepest]


PIECES = st.sampled_from(
    [b"<A>", b"</A>", b"<A/>", b"<B b='x'>", b'<B b="x>"/>', b"</B>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?",
     b"?>", b"<?xml version='1.0' encoding='utf-8'?>", b"<!DOCTYPE A SYSTEM 'a'>", b"<!DOCTYPE", b"[", b"<", b">",
     b"'", b'"', b"<!", b"text", b" ", b"\n", b"\xef\xbb\xbf", b"\xef", b"\x00", b"&a;", b"/", b"<?xml encoding='x' ?>"]
)  # fmt: skip


@given(
    st.lists(st.lists(PIECES, max_size=20).map(b"".join) | st.just(b"<A><B b='x'>y</B></A>"), max_size=4),
    st.lists(st.integers(0, 200), max_size=6),
    st.integers(8, 60),
)
def test_any_cut_gives_the_same_documents(parts: list[bytes], cuts: list[int], largest: int) -> None:
    text = b"".join(parts)
    whole = Framing(largest)
    expected = whole.feed(text)
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    for pieces in (
        [text[start:stop] for start, stop in pairwise(places)],
        [text[place : place + 1] for place in range(len(text))],
    ):
        framing = Framing(largest)
        assert [document for piece in pieces for document in framing.feed(piece)] == expected
        assert type(framing.problem) is type(whole.problem)
        assert framing.partial == whole.partial


@pytest.mark.parametrize("begun", [b"<B b='", b"<B ", b"<!--", b"<?b ", b"<![CDATA[", b"<B>"])
def test_what_is_dribbled_is_read_once(begun: bytes) -> None:
    """Each byte a feed: were a tag read from its start each time, this would take minutes."""
    framing = Framing(300_000)
    framing.feed(b"<A>" + begun)
    for _ in range(200_000):
        framing.feed(b"x")
    assert framing.problem is None
    assert framing.partial
