"""XML that is malformed or hostile: refused with its place, and nothing is fetched or expanded."""

from __future__ import annotations

import pytest

from tests.schema.test_xml_form import CAR, NUMERIC, PRICE, schema
from tidings.schema import (
    Catalog,
    Domain,
    Kind,
    xml_form,
)
from tidings.schema.catalog import InvalidSchema
from tidings.schema.hierarchy import LEVELS, TooDeep
from tidings.schema.json_form import SchemaForm
from tidings.schema.safe_xml import LARGEST, MalformedXml


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "line 1, column 1", "Document is empty"),
        ("<IESCHEMA>\n<A>", "line 2, column 4", "Premature end"),
        ("<IESCHEMA><A></IESCHEMA>", "line 1, column 25", "tag mismatch: A line 1 and IESCHEMA"),
        ("<IESCHEMA>\n<ET></E></IESCHEMA>", "line 2, column 9", "tag mismatch: ET line 2 and E"),
        ("<IESCHEMA>\n<D></DOM></IESCHEMA>", "line 2, column 10", "tag mismatch"),
        ("<IESCHEMA><A/></IESCHEMA><A/>", "line 1, column 26", "Extra content"),
        ("<IESCHEMA>&price;</IESCHEMA>", "line 1, column 18", "Entity 'price' not defined"),
        ('<IESCHEMA version="<"/>', "line 1, column 20", "not allowed in attributes"),
        ('<IESCHEMA version="1" version="1"/>', "line 1", "redefined"),
        ("<IESCHEMA>\ud800</IESCHEMA>", "line 1, column 11", "unpaired surrogate"),
        ("<IESCHEMA>\n\x07</IESCHEMA>", "line 2, column 1", "invalid Char value 7"),
    ],
)
def test_malformed_xml_is_refused_with_line_and_column(text, place, message):
    with pytest.raises(MalformedXml) as caught:
        xml_form.read(text)
    assert place in str(caught.value)
    assert message in str(caught.value)


def test_a_closing_tag_after_a_repaired_one_is_still_judged():
    with pytest.raises(MalformedXml, match=r"line 3, column 5: not XML: .*tag mismatch: D line 2 and A"):
        xml_form.read('<IESCHEMA>\n<D><DOMAIN oid="1" type="text"></DOMIAN>\n</A>\n</IESCHEMA>')


def test_tags_in_comments_and_quotes_are_no_tags():
    text = """<IESCHEMA><!-- </E> <D> --><D><DOMAIN oid="1" name="a > b" type="text"></DOMIAN></D></IESCHEMA>"""
    catalog, notes = xml_form.read(text)
    assert catalog.domains[0].name == "a > b"
    assert notes == ("line 1: the closing tag </DOMIAN> was read as </DOMAIN>",)


def test_hundreds_of_misspelt_tags_are_not_slips_of_the_pen():
    domains = "".join(f'<DOMAIN oid="{n}" type="text"></DOMIAN>' for n in range(101))
    with pytest.raises(MalformedXml, match="DOMAIN line 1 and DOMIAN"):
        xml_form.read(f"<IESCHEMA><D>{domains}</D></IESCHEMA>")


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE IESCHEMA>",
        '<!DOCTYPE IESCHEMA SYSTEM "example.org:8090/dtds/schema.dtd">',
        "<!DOCTYPE IESCHEMA\n  SYSTEM 'file:///etc/passwd'>",
        '<?xml version="1.0"?>\n<!-- a comment -->\n<!DOCTYPE IESCHEMA PUBLIC "-//x//y" "schema.dtd" >',
    ],
)
def test_a_doctype_that_only_names_a_file_is_ignored(doctype):
    assert xml_form.read(doctype + schema(NUMERIC, PRICE, CAR))[0].event_type_names == ("car",)
    with pytest.raises(MalformedXml, match="Entity 'price' not defined"):
        xml_form.read(doctype + "<IESCHEMA version='&price;'/>")


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE IESCHEMA [<!ENTITY a "price">]>',
        '<!DOCTYPE IESCHEMA [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE IESCHEMA SYSTEM "x.dtd" [<!ENTITY % p SYSTEM "http://example.org/p"> %p;]>',
        '<!DOCTYPE IESCHEMA [<!ENTITY a "x"><!ENTITY b "&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>',
        "<!DOCTYPE IESCHEMA []>",
        "<!DOCTYPE IESCHEMA [<!ELEMENT IESCHEMA ANY>]>",
        '<!DOCTYPE IESCHEMA SYSTEM "x',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig"])
def test_declarations_of_its_own_are_refused(doctype, encoding):
    text = f"<!-- first -->\n{doctype}<IESCHEMA version='&a;'/>"
    with pytest.raises(MalformedXml, match="line 2, column 1: a document type declaration may only name"):
        xml_form.read(text.encode(encoding))


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [("utf-8", ""), ("utf-8-sig", ""), ("utf-16", ""), ("utf-16", "UTF-16"), ("iso-8859-7", "ISO-8859-7")],
)
def test_encodings_are_heeded(encoding, declared):
    declaration = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
    text = declaration + schema('<DOMAIN oid="χρώμα" type="text"/>')
    assert xml_form.read(text.encode(encoding))[0].domains[0].name == "χρώμα"
    assert xml_form.read("\ufeff" + text)[0].domains[0].name == "χρώμα"


def test_bytes_in_no_or_an_odd_encoding_are_refused():
    with pytest.raises(MalformedXml, match="byte 10: not UTF-8 text"):
        xml_form.read(b"<IESCHEMA>\xff</IESCHEMA>")
    with pytest.raises(MalformedXml, match="the encoding 'utf-7' is not supported; use UTF-8"):
        xml_form.read(b'<?xml version="1.0" encoding="utf-7"?><IESCHEMA/>')
    with pytest.raises(MalformedXml, match="unknown encoding 'iso-8859-99'"):
        xml_form.read(b'<?xml version="1.0" encoding="iso-8859-99"?><IESCHEMA/>')


def nested(depth: int) -> str:
    nodes = "".join(f'<NODE name="n{n}">' for n in range(depth)) + "</NODE>" * depth
    return f'<IESCHEMA><D><DOMAIN oid="1" type="hierarchical">{nodes}</DOMAIN></D></IESCHEMA>'


def test_nodes_may_be_nested_as_deep_as_a_hierarchy_and_no_deeper():
    catalog, _ = xml_form.read(nested(LEVELS))
    assert len(catalog.domains[0].hierarchy) == LEVELS
    assert xml_form.read(xml_form.write(catalog))[0] == catalog
    with pytest.raises(InvalidSchema) as caught:
        xml_form.read(nested(LEVELS + 1))
    assert isinstance(caught.value.problems[0], TooDeep)
    for depth in (254, 100_000):
        with pytest.raises(MalformedXml, match="elements are nested more than 256 deep"):
            xml_form.read(nested(depth))


def test_a_text_that_is_too_large_is_refused():
    for text in (" " * (LARGEST + 1), b" " * (LARGEST + 1), "é" * (LARGEST // 2 + 1)):
        with pytest.raises(MalformedXml, match="at most 16,777,216 are read"):
            xml_form.read(text)


def test_a_schema_too_large_to_be_read_back_is_not_written():
    values = tuple(f"{n:06}" + "x" * 1000 for n in range(17_000))
    with pytest.raises(SchemaForm, match="more than is read back; write it as JSON"):
        xml_form.write(Catalog((Domain("d", Kind.ENUMERATED, values=values),)))
