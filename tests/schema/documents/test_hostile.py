"""Documents and grammars that are made to take all time or memory: refused at once, or read in bounded time.

Before there were limits, each of these took minutes or more memory than a machine has."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator

import pytest

from tidings.documents.batch import read_documents
from tidings.schema.documents.compiling import check_compiles
from tidings.schema.documents.errors import DocumentTooLarge, InvalidDocument, MalformedDocument, WrongGrammar
from tidings.schema.documents.grammar import Grammar
from tidings.schema.documents.limits import DocumentLimits
from tidings.schema.documents.rules import DocumentRules

PLAIN = DocumentRules()
XSD = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a">{}</xs:element></xs:schema>'


@pytest.fixture(autouse=True)
def _in_little_time_and_memory() -> Iterator[None]:
    started, peak = time.process_time(), _peak()
    yield
    assert time.process_time() - started < 20
    assert _peak() - peak < 500


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def dtd(*declarations: str) -> DocumentRules:
    return DocumentRules(Grammar("dtd", "<!ELEMENT a ANY>" + "".join(declarations)))


def laughs(kind: str, reference: str, levels: int) -> str:
    """Each entity is ten times the one before."""
    first = f'<!ENTITY {kind}e0 "xxxxxxxxxx">'
    return first + "".join(
        f'<!ENTITY {kind}e{level} "{f"{reference}e{level - 1};" * 10}">' for level in range(1, levels)
    )


def test_entities_that_refer_to_others_are_not_expanded() -> None:
    rules = dtd(laughs("", "&", 12), '<!ENTITY itself "&itself;"><!ENTITY ping "&pong;"><!ENTITY pong "&ping;">')
    assert rules.canonical("<a>&e0;</a>") == "<a>xxxxxxxxxx</a>"
    for name in ("e11", "itself", "ping"):
        with pytest.raises(MalformedDocument, match="undefined entity"):
            rules.canonical(f"<a>&{name};</a>")


@pytest.mark.parametrize(
    ("declarations", "words"),
    [
        (laughs("% ", "%", 12) + '<!ENTITY e "%e11;">', "its entities expand to more than 4,194,304 characters"),
        (laughs("", "&", 12) + '<!ATTLIST a b CDATA "&e11;">', "amplification"),
        ('<!ENTITY % x "&#37;x;">%x;', "recursive"),
    ],
)
def test_nested_entities_of_a_grammar_are_refused(declarations: str, words: str) -> None:
    with pytest.raises(WrongGrammar, match=words):
        dtd(declarations)


def test_a_long_entity_may_not_make_a_document_larger_than_documents_may_be() -> None:
    rules = dtd(f'<!ENTITY long "{"x" * 500_000}">')
    assert len(rules.canonical("<a>" + "&long;" * 5 + "</a>")) == 2_500_007
    with pytest.raises(DocumentTooLarge) as caught:
        rules.canonical("<a>\n" + "&long;" * 100_000 + "</a>")
    assert str(caught.value) == (
        "line 2, column 31: the document has more than 16,777,216 bytes once its entities are expanded"
    )


@pytest.mark.parametrize(
    ("document", "what", "column"),
    [
        ("<a " + " ".join(f"b{n}=''" for n in range(99_000)) + "/>", "attributes of one element", 1),
        ("<a " + " ".join(f"xmlns:b{n}='u{n}'" for n in range(99_000)) + "/>", "attributes of one element", 1),
        ("<a " + " ".join(f"xmlns:b{n}='u{n}'" for n in range(65)) + "/>", "namespaces declared at once", 1),
        ("".join(f"<a xmlns:b{n}='u'>" for n in range(65)) + "</a>" * 65, "namespaces declared at once", 1079),
        (f"<a xmlns:b='urn:{'u' * 1_000_000}'>{'<b:c b:d=/>' * 40_000}</a>", "bytes of a namespace", 1),
        (f"<a>xmlns <b xmlns{' ' * 20_000}=\n\n'{'é' * 501}'/></a>", "bytes of a namespace", 10),
    ],
)
def test_attributes_and_namespaces_are_limited(document: str, what: str, column: int) -> None:
    for read in (PLAIN.canonical, lambda text: read_documents([text.encode()])):
        with pytest.raises(DocumentTooLarge) as caught:
            read(document)
        assert caught.value.what == what
        assert (caught.value.line, caught.value.column) == (1, column)


def test_at_the_limits_reading_takes_seconds() -> None:
    limits = DocumentLimits()
    attributes = " ".join(f"b{n:03}=''" for n in range(limits.attributes))
    PLAIN.canonical("<a>" + f"<b {attributes}/>" * (limits.nodes // (limits.attributes + 1) - 1) + "</a>")
    spaces = " ".join(f"xmlns:b{n}='urn:{'u' * (limits.namespace - 6)}{n:02}'" for n in range(limits.namespaces))
    assert PLAIN.canonical(f"<a {spaces}>" + "<b1:c/>" * (limits.nodes - 1) + "</a>")


def test_the_canonical_form_may_not_be_many_times_as_large() -> None:
    """A namespace that is a relative address is repeated on each element: 241 KB became 41 MB."""
    spaces = " ".join(f"xmlns:b{n}='{n}{'u' * 50}'" for n in range(5))
    some = f"<a {spaces}>" + "<b0:c/>" * 20 + "</a>"
    assert len(PLAIN.canonical(some)) < 8 * len(some)
    document = f"<a {spaces}>" + "<b0:c b1:d=''/>" * 15_000 + "</a>"
    with pytest.raises(DocumentTooLarge) as caught:
        PLAIN.canonical(document)
    assert (caught.value.what, caught.value.limit) == ("bytes in its canonical form", 8 * len(document))
    assert len(PLAIN.canonical(f"<a b='{'>' * 9}' c='{chr(34) * 99_999}'/>")) > 599_000  # at most six times


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("dtd", f"<!ELEMENT a (#PCDATA|{'|'.join(f'v{n}' for n in range(2_001))})*>", "the content of 'a': 2,001"),
        ("dtd", f"<!ATTLIST a {' '.join(f'v{n} CDATA #IMPLIED' for n in range(2_001))}>", "attributes of 'a': 2,001"),
        ("dtd", f"<!ATTLIST a b ({'|'.join(f'v{n}' for n in range(2_001))}) #IMPLIED>", "attribute 'b' of 'a': 2,001"),
        ("dtd", f"<!ELEMENT a {'(' * 100_000}b{')' * 100_000}>", "too deep"),
        ("xsd", "".join(f'<xs:unique name="u{n}"><xs:selector xpath=".//b"/><xs:field xpath="@i"/></xs:unique>'
                        for n in range(51)), "keys and references to keys: 51; at most 50"),
        ("xsd", "<xs:complexType><xs:choice>" + "".join(f'<xs:element name="b{n}"/>' for n in range(2_001))
                + "</xs:choice></xs:complexType>", "parts of <choice>: 2,001"),
    ],
)  # fmt: skip
def test_long_lists_of_a_posted_grammar_are_refused(kind: str, text: str, words: str) -> None:
    grammar = Grammar("dtd", f"<!ELEMENT b EMPTY>{text}") if kind == "dtd" else Grammar("xsd", XSD.format(text))
    if kind == "dtd" and "ATTLIST" in text:
        grammar = Grammar("dtd", f"<!ELEMENT a ANY>{text}")
    with pytest.raises(WrongGrammar, match=words):
        check_compiles(grammar)


@pytest.mark.parametrize("pattern", ["(a|a)*b", "((a*)*)*b", "(a?){40}a{40}b", "((a|b){1,50}){1,50}c", ".*.*.*.*.*c"])
def test_patterns_of_an_xsd_take_no_exponential_time(pattern: str) -> None:
    restriction = f'<xs:restriction base="xs:string"><xs:pattern value="{pattern}"/></xs:restriction>'
    kind = f"<xs:simpleType>{restriction}</xs:simpleType>"
    with pytest.raises(InvalidDocument, match="pattern"):
        DocumentRules(Grammar("xsd", XSD.format(kind))).canonical(f"<a>{'a' * 2_000}</a>")
