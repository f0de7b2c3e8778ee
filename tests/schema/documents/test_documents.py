"""Documents as values: what is refused and where, the canonical form, grammars, JSON and XML forms of the domain."""

from __future__ import annotations

import time

import pytest

from tidings.events.refusal import RefusedEvent
from tidings.events.validation import validate
from tidings.schema import Catalog, Domain, Kind, json_form, xml_form
from tidings.schema.documents.compiling import check_compiles
from tidings.schema.documents.errors import (
    DocumentTooLarge,
    InvalidDocument,
    MalformedDocument,
    WrongGrammar,
    WrongNamespace,
    WrongRoot,
)
from tidings.schema.documents.grammar import Grammar
from tidings.schema.documents.rules import DocumentRules
from tidings.schema.domain import OutsideDomain, PartOutsideKind

DTD = """<!ELEMENT nitf (head?, body)>
<!ATTLIST nitf uno CDATA #IMPLIED kind CDATA "news">
<!ELEMENT head (title*)><!ELEMENT title (#PCDATA)><!ELEMENT body (#PCDATA)>
<!ENTITY eacute "&#233;"><!ENTITY nested "<b/>">"""
XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
<xs:element name="a"><xs:complexType><xs:sequence><xs:element name="b" type="xs:int"/></xs:sequence></xs:complexType>
</xs:element></xs:schema>"""
PLAIN = DocumentRules()
NITF = DocumentRules(Grammar("dtd", DTD), "nitf")


def test_equal_documents_have_one_form() -> None:
    one = PLAIN.canonical("<?xml version='1.0'?>\n<a c='2' b='1'><!-- x --><d></d>&#65;<![CDATA[<]]></a>\n")
    assert one == '<a b="1" c="2"><d></d>A&lt;</a>'
    assert PLAIN.canonical(one) == one
    assert PLAIN.canonical("<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>".encode("latin-1")) == "<a>é</a>"
    assert PLAIN.canonical("<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>") == "<a>é</a>"


def test_a_namespace_may_be_a_relative_address() -> None:
    one = PLAIN.canonical("<a xmlns:q='www.example.org'  c='2' b='1'><!--x--><q:b/></a>")
    assert one == '<a b="1" c="2"><q:b xmlns:q="www.example.org"></q:b></a>'
    assert PLAIN.canonical(one) == one


def test_entities_of_the_grammar_are_characters_and_defaults_are_not_added() -> None:
    document = "<!DOCTYPE nitf SYSTEM 'n.dtd'>\n<nitf uno='&eacute;'><body>&eacute;<![CDATA[&eacute;]]></body></nitf>"
    assert NITF.canonical(document) == '<nitf uno="é"><body>é&amp;eacute;</body></nitf>'


@pytest.mark.parametrize(
    ("document", "problem", "place"),
    [
        ("<a>\n  <b></a>", MalformedDocument, (2, 8)),
        ("<a>\n&x;</a>", MalformedDocument, (2, 1)),
        ("<!DOCTYPE a SYSTEM 'x'>\n<a b='&x;'/>", MalformedDocument, (2, 7)),
        ("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", MalformedDocument, (1, 13)),
        ("<n:a/>", MalformedDocument, (1, 1)),
        (b"<a>\xff</a>", MalformedDocument, (1, 4)),
        ("<a>\ud800</a>", MalformedDocument, (1, 4)),
        ("<a>" * 101 + "</a>" * 101, DocumentTooLarge, (1, 301)),
        ("<a>" * 1_000_000, DocumentTooLarge, (1, 301)),
        ("<a>" + "<b/>x" * 60_000 + "</a>", DocumentTooLarge, (1, 250_003)),
        ("<a " + " ".join(f"b{n}=''" for n in range(1_000_000)) + "/>", DocumentTooLarge, (1, 1)),
        ("", MalformedDocument, (1, 1)),
    ],
)
def test_what_is_refused_and_where(document: str | bytes, problem: type, place: tuple[int, int]) -> None:
    started = time.process_time()
    with pytest.raises(problem) as caught:
        PLAIN.canonical(document)
    assert (caught.value.line, caught.value.column) == place
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    ("document", "problem", "place", "words"),
    [
        ("<nitf/>", InvalidDocument, (1, 1), "Element nitf content"),
        ("<nitf>\n <body/>\n  <title/></nitf>", InvalidDocument, (1, 1), "got (body title)"),
        ("<nitf>\n <head>\n  <title x='1'/></head><body/></nitf>", InvalidDocument, (3, 3), "attribute x"),
        ("\n<other/>", WrongRoot, (2, 1), "expected 'nitf'"),
        ("<nitf><body>&nested;</body></nitf>", MalformedDocument, (1, 13), "undefined entity"),
    ],
)
def test_a_grammar_is_asked(document: str, problem: type, place: tuple[int, int], words: str) -> None:
    with pytest.raises(problem) as caught:
        NITF.canonical(document)
    assert (caught.value.line, caught.value.column) == place
    assert words in str(caught.value)


def test_an_xsd_is_asked() -> None:
    rules = DocumentRules(Grammar("xsd", XSD))
    assert rules.canonical("<a><b>1</b></a>") == "<a><b>1</b></a>"
    with pytest.raises(InvalidDocument) as caught:
        rules.canonical("<a>\n  <b>q</b></a>")
    assert (caught.value.line, caught.value.column) == (2, 3)


def test_a_root_may_have_a_namespace() -> None:
    rules = DocumentRules(root="n:a", namespaces=(("n", "urn:n"),))
    assert rules.canonical("<x:a xmlns:x='urn:n'/>").startswith("<x:a")
    with pytest.raises(WrongRoot):
        rules.canonical("<a/>")
    with pytest.raises(WrongNamespace):
        DocumentRules(root="m:a", namespaces=(("n", "urn:n"),))


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("dtd", "<!ELEMENT a (b>", "syntax"),
        ("dtd", "<!ENTITY % x SYSTEM 'file:///etc/passwd'>%x;", "nothing is fetched"),
        ("dtd", """<!ENTITY % a "<!ENTITY &#37; b &#83;YSTEM 'file:///etc/passwd'>">%a;%b;""", "nothing is fetched"),
        ("dtd", "x" * 2_000_000, "bytes"),
        ("xsd", "<a/>", "root element"),
        ("xsd", "<a", "line 1"),
        ("xsd", XSD.replace("<xs:element name=\"a\">", "<xs:include schemaLocation='b.xsd'/><xs:element name=\"a\">"),
         "nothing is fetched"),
        ("xsd", "<!DOCTYPE x [<!ENTITY y 'z'>]>" + XSD, "document type"),
    ],
)  # fmt: skip
def test_a_grammar_must_be_whole(kind: str, text: str, words: str) -> None:
    with pytest.raises(WrongGrammar, match=words):
        Grammar(kind, text)  # type: ignore[arg-type]


def test_compiling_is_tried_in_bounds() -> None:
    check_compiles(Grammar("xsd", XSD))
    with pytest.raises(WrongGrammar, match="does not resolve"):
        check_compiles(Grammar("xsd", XSD.replace("xs:int", "nope")))
    with pytest.raises(WrongGrammar, match="longer than"):
        check_compiles(Grammar("xsd", XSD), seconds=0.001)


CATALOG = {
    "domains": [
        {"name": "article", "kind": "document", "grammar": {"dtd": DTD}, "root": "nitf"},
        {"name": "order", "kind": "document", "grammar": {"xsd": XSD}, "namespaces": {"": "urn:d", "n": "urn:n"}},
    ],
    "attributes": [{"name": "article", "domain": "article"}, {"name": "order", "domain": "order"}],
    "event_types": [{"name": "news", "attributes": [{"name": "article", "unique": False}]}],
}


def test_both_forms_of_a_schema_have_it() -> None:
    catalog = json_form.read(CATALOG)
    assert json_form.read(json_form.write(catalog)) == catalog
    assert xml_form.read(xml_form.write(catalog)) == (catalog, ())
    rules = catalog.domains[1].document
    assert rules.prefixes == {"": "urn:d", "n": "urn:n"}


@pytest.mark.parametrize("part", [{"root": "a"}, {"namespaces": {"n": "urn:n"}}, {"grammar": {"dtd": DTD}}])
def test_other_kinds_have_no_grammar(part: dict[str, object]) -> None:
    with pytest.raises(PartOutsideKind):
        json_form.read_domain({"name": "x", "kind": "text", **part})


def test_events_have_documents() -> None:
    catalog = Catalog.from_dict(CATALOG)
    raw = {
        "id": "1",
        "event_type": "news",
        "attributes": {"article": ["<nitf><body/></nitf>", "<nitf ><body/></nitf>"]},
    }
    assert validate(raw, catalog).attributes == (("article", ("<nitf><body></body></nitf>",)),)
    raw["attributes"] = {"article": "<nitf>\n</nitf>" + " " * 1000}
    with pytest.raises(RefusedEvent) as caught:
        validate(raw, catalog)
    (broken,) = caught.value.errors
    assert broken.rule == "domain"
    assert "line 1, column 1: not valid for the domain's grammar" in broken.message
    assert len(str(broken.value)) < 300


def test_a_document_is_text() -> None:
    with pytest.raises(OutsideDomain, match="expected an XML document"):
        Domain("d", Kind.DOCUMENT).canonical(4)
