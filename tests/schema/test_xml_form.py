from __future__ import annotations

import json

import pytest
from hypothesis import given
from lxml import etree

from tests.schema.samples import LE_SUBSCRIBE, THESIS
from tests.strategies.schemas import catalogs, texts, xml_texts
from tidings.errors import SchemaError
from tidings.schema import (
    Attribute,
    AttributeUse,
    Catalog,
    Domain,
    EventType,
    Hierarchy,
    Kind,
    json_form,
    xml_form,
)
from tidings.schema.catalog import InvalidSchema
from tidings.schema.json_form import SchemaForm

# Our own small schema, with the mistakes of the thesis's appendix A: </DOMATN>, "flase", event_type a string.
MISTAKEN = """<?xml version="1.0" encoding="UTF-8"?>
<IESCHEMA>
  <A>
    <VALUE>weight</VALUE>
    <VALUE> grape
    </VALUE>
    <VALUE>event_type</VALUE>
  </A>
  <ET><VALUE>wine</VALUE><VALUE>cheese</VALUE></ET>
  <D>
    <DOMAIN oid="1" type="numeric"><OPER type="gt" /><OPER type="lteq" /><OPER type="noteq" /></DOMAIN>
    <DOMAIN oid="2" type="enum" attr="merlot ,syrah
                                      ,riesling"><OPER type="eq" /></DOMAIN>
    <DOMAIN oid="3" type="string">
      <OPER type="contains" />
    </DOMATN>
  </D>
  <DOM>
    <ATTR_DOM name="event_type" type="3" />
    <ATTR_DOM name="weight" type="1" />
    <ATTR_DOM name="grape" type="2" />
  </DOM>
  <E>
    <E_TYPE type="wine">
      <E_ATTR mandatory="true" unique="flase" domid="2" type="grape" />
      <E_ATTR mandatory="ture" unique="true" domid="2" type="weight" />
    </E_TYPE>
    <E_TYPE type="cheese"><E_ATTR mandatory="false" unique="true" type="weight" /></E_TYPE>
  </E>
</IESCHEMA>
"""
APPENDIX = "seeds/000_f56476347280931e.txt"


def test_the_mistakes_of_the_appendix_are_put_right_with_notes():
    catalog, notes = xml_form.read(MISTAKEN)
    assert catalog == Catalog(
        (
            Domain("1", Kind.NUMERIC, (">", "<=", "!=")),
            Domain("2", Kind.ENUMERATED, ("=",), ("merlot", "syrah", "riesling")),
            Domain("3", Kind.STRING, ("contains",)),
        ),
        (Attribute("weight", "1"), Attribute("grape", "2")),
        (
            EventType("wine", (AttributeUse("grape", unique=False), AttributeUse("weight"))),
            EventType("cheese", (AttributeUse("weight", mandatory=False),)),
        ),
    )
    assert catalog.version == 1
    assert sorted(notes) == [
        "line 16: the closing tag </DOMATN> was read as </DOMAIN>",
        "line 19: event_type had domain '3', which is string; it got the enumeration of the event types",
        "line 25: unique='flase' was read as 'false'",
        "line 26: event type 'wine': attribute 'weight' has domid '2', but <DOM> gives it the domain '1', "
        "which was taken",
        "line 26: mandatory='ture' was read as 'true'",
    ]


@pytest.mark.parametrize("shared_file", [APPENDIX], indirect=True)
def test_appendix_a_of_the_thesis_loads_with_its_typing_errors(shared_file):
    text = shared_file.read_text(encoding="utf-8")
    text = text[text.index("<IESCHEMA>") : text.index("</IESCHEMA>") + len("</IESCHEMA>")]
    # What the making of the text file left behind, not the thesis: fences and a stray </pre>.
    text = "\n".join(line.replace("</pre>", "") for line in text.splitlines() if not line.startswith("```"))
    catalog, notes = xml_form.read(text)
    assert [note.partition(": ")[2] for note in notes] == [
        "the closing tag </DOMATN> was read as </DOMAIN>",
        "mandatory='flase' was read as 'false'",
        "event_type had domain '7', which is string; it got the enumeration of the event types",
    ]
    assert [domain.name for domain in catalog.domains] == list("1234567")
    assert catalog.domains[0].operators == ("=", "!=", "<", "<=", ">", ">=")
    assert catalog.domains[2].values == ("bed-room", "living-room", "dining-room")
    assert catalog.domains[5].values == ("opel", "volvo", "bmw", "seat", "renault", "mazda", "mini")
    assert catalog.event_type_names == ("antique", "furniture", "surf-board", "car", "painting")
    assert len(catalog.attributes) == 11
    for name in catalog.event_type_names:  # thesis 8.1: four mandatory attributes and one optional
        assert len(catalog.view([name]).mandatory) == 4
        assert len(catalog.view([name]).uses) == 5
    assert catalog.view(["antique"]).uses["material"] == AttributeUse("material", mandatory=False)
    assert xml_form.read(xml_form.write(catalog)) == (catalog, ())


@pytest.mark.parametrize("catalog", [THESIS, LE_SUBSCRIBE], ids=["thesis 3.1", "Le Subscribe 2.1"])
def test_the_papers_schemas_round_trip_without_a_note(catalog):
    assert xml_form.read(xml_form.write(catalog)) == (catalog, ())


@given(catalogs(xml_texts))
def test_every_catalog_that_xml_can_hold_round_trips(catalog):
    written = xml_form.write(catalog)
    for text in (written, written.encode()):
        copy, notes = xml_form.read(text)
        assert (copy, copy.version, notes) == (catalog, catalog.version, ())


@given(catalogs(texts))
def test_any_other_catalog_is_refused_when_written(catalog):
    if all(xml_holds(value) for domain in catalog.domains for value in domain.vocabulary):
        assert xml_form.read(xml_form.write(catalog))[0] == catalog
        return
    with pytest.raises(SchemaForm, match=r"XML cannot hold the character U\+"):
        xml_form.write(catalog)


def xml_holds(value: str) -> bool:
    """By lxml's own judgement."""
    try:
        etree.Element("VALUE").text = value
    except ValueError:
        return False
    return True


def test_a_control_character_is_refused_by_name():
    catalog = Catalog((Domain("d", Kind.ENUMERATED, values=("a", "b\x07")),))
    with pytest.raises(SchemaForm, match=r"domain 'd': XML cannot hold the character U\+0007 in 'b\\x07'"):
        xml_form.write(catalog)
    assert json_form.read(json.dumps(json_form.write(catalog))) == catalog


@pytest.mark.parametrize("values", [("a,b",), (" a",), ("a\n",), ("a\rb",), ("",), ("a", ""), ("x" * 10_001,)])
def test_values_that_a_list_would_spoil_are_written_as_elements(values):
    written = xml_form.write(Catalog((Domain("d", Kind.ENUMERATED, values=values),)))
    domain = etree.fromstring(written.encode()).find("D/DOMAIN")
    assert domain is not None
    assert "attr" not in domain.attrib
    assert len(domain.findall("VALUE")) == len(values)
    assert xml_form.read(written)[0].domains[0].values == values


def test_plain_values_are_written_as_a_list():
    written = xml_form.write(Catalog((Domain("d", Kind.ENUMERATED, values=("dining room", "bed room"), ordered=True),)))
    assert '<DOMAIN oid="1" name="d" type="enum" ordered="true" attr="dining room, bed room">' in written


def test_the_name_of_a_domain_is_its_oid_when_it_has_none():
    catalog = Catalog((Domain("2", Kind.TEXT, ("~",)), Domain("1", Kind.TIME)), (Attribute("a", "1"),), version=9)
    written = xml_form.write(catalog)
    assert '<IESCHEMA version="9">' in written
    assert '<OPER type="similar"/>' in written
    assert xml_form.read(written) == (catalog, ())
    assert xml_form.read(written)[0].version == 9


def test_an_empty_schema_is_read():
    assert xml_form.read("<IESCHEMA/>") == (Catalog(), ())


def test_a_hierarchy_is_read_from_nested_nodes():
    catalog, _ = xml_form.read(
        '<IESCHEMA><D><DOMAIN oid="c" type="hierarchical"><OPER type="lteq"/>'
        '<NODE name="a"><NODE name="b"/></NODE><NODE name="c"/></DOMAIN></D></IESCHEMA>'
    )
    assert catalog.domains == (
        Domain("c", Kind.HIERARCHICAL, ("<=",), hierarchy=Hierarchy.from_tree({"a": {"b": {}}, "c": {}})),
    )


def schema(domains: str = "", attributes: str = "", event_types: str = "", listed: str = "") -> str:
    """The sections' insides; A and ET list what the others have, unless `listed` replaces them."""
    made = etree.fromstring(f"<r><D>{domains}</D><DOM>{attributes}</DOM><E>{event_types}</E></r>")
    named = "".join(f"<VALUE>{e.get('name')}</VALUE>" for e in made.iter("ATTR_DOM"))
    typed = "".join(f"<VALUE>{e.get('type')}</VALUE>" for e in made.iter("E_TYPE"))
    body = etree.tostring(made, encoding="unicode").removeprefix("<r>").removesuffix("</r>")
    return f"<IESCHEMA>{listed or f'<A>{named}</A><ET>{typed}</ET>'}{body}</IESCHEMA>"


NUMERIC = '<DOMAIN oid="1" type="numeric"><OPER type="eq"/></DOMAIN>'
PRICE = '<ATTR_DOM name="price" type="1"/>'
CAR = '<E_TYPE type="car"><E_ATTR mandatory="true" unique="true" domid="1" type="price"/></E_TYPE>'


def test_a_sound_schema_needs_no_note():
    assert xml_form.read(schema(NUMERIC, PRICE, CAR))[1] == ()


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            schema(NUMERIC, PRICE, CAR, "<ET><VALUE>car</VALUE></ET>"),
            "attribute 'price' is missing from <A>; it was",
        ),
        (
            schema(NUMERIC, PRICE, CAR, "<A><VALUE>price</VALUE></A>"),
            "event type 'car' is missing from <ET>; it was",
        ),
        (
            schema(listed="<ET><VALUE>car</VALUE></ET>"),
            "event type 'car' has no <E_TYPE>; it was taken to have no attributes",
        ),
        (
            schema(attributes='<ATTR_DOM name="event_type" type="4"/>'),
            "event_type had domain '4', which does not exist",
        ),
        (
            schema(NUMERIC, PRICE, CAR.replace('domid="1"', 'domid="7"')),
            "'price' has domid '7', but <DOM> gives it the domain '1', which was taken",
        ),
        (
            schema(event_types=CAR.replace("price", "event_type")),
            "event type 'car': event_type is always mandatory and was left out",
        ),
        (schema('<DOMAIN oid="1" type="enum" attr="a,,b,"/>'), "a comma too many in attr='a,,b,'"),
        (
            schema(NUMERIC, PRICE, CAR.replace('mandatory="true"', 'mandatory="TRUE"')),
            "mandatory='TRUE' was read as",
        ),
        (
            schema(NUMERIC, PRICE, CAR.replace('unique="true"', 'unique="fals"')),
            "unique='fals' was read as 'false'",
        ),
    ],
)
def test_what_leaves_no_doubt_is_accepted_with_a_note(text, note):
    _, notes = xml_form.read(text)
    assert len(notes) == 1
    assert note in notes[0]


def test_event_type_over_its_own_enumeration_needs_no_note():
    own = '<DOMAIN oid="4" type="enum" attr="car"/>'
    attributes = PRICE + '<ATTR_DOM name="event_type" type="4"/>'
    assert xml_form.read(schema(NUMERIC + own, attributes, CAR))[1] == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<SCHEMA/>", "line 1, <SCHEMA>: expected the element <IESCHEMA>, got <SCHEMA>"),
        ("<IESCHEMA><EE/></IESCHEMA>", "<EE>: it is not allowed in <IESCHEMA>; did you mean 'E'?"),
        ("<IESCHEMA><A/><A/></IESCHEMA>", "<A>: it occurs twice"),
        ("<IESCHEMA>page 7<A/></IESCHEMA>", "<IESCHEMA>: stray text in it: 'page 7'"),
        ("<IESCHEMA><A/>\npage 7</IESCHEMA>", "<A>: stray text after it: 'page 7'"),
        ("<IESCHEMA version='0'/>", "'version' must be a positive integer, got '0'"),
        ("<IESCHEMA version='x'/>", "'version' must be a positive integer, got 'x'"),
        ("<IESCHEMA vresion='1'/>", "no attribute 'vresion'; did you mean 'version'?"),
        (schema('<DOMAIN type="numeric"/>'), "<DOMAIN>: the attribute 'oid' is missing"),
        (schema(NUMERIC + NUMERIC), "the oid '1' occurs twice"),
        (schema('<DOMAIN oid="1" type="numerik"/>'), "no type 'numerik'; did you mean 'numeric'?"),
        (
            schema('<DOMAIN oid="1" type="enum"><OPER type="gteqq"/></DOMAIN>'),
            "no operator 'gteqq'; did you mean 'gteq'?",
        ),
        (
            schema('<DOMAIN oid="1" type="enum"><OPER type="gt"/></DOMAIN>'),
            "an enumerated domain cannot allow '>'",
        ),
        (schema('<DOMAIN oid="1" type="numeric" attr="a"/>'), "'attr' belongs to domains of type 'enum'"),
        (
            schema('<DOMAIN oid="1" type="numeric"><VALUE/></DOMAIN>'),
            "'VALUE' belongs to domains of type 'enum'",
        ),
        (
            schema('<DOMAIN oid="1" type="time" ordered="true"/>'),
            "'ordered' belongs to domains of type 'enum'",
        ),
        (
            schema('<DOMAIN oid="1" type="enum"><NODE name="a"/></DOMAIN>'),
            "'NODE' belongs to hierarchical domains",
        ),
        (
            schema('<DOMAIN oid="1" type="enum" attr="a"><VALUE>b</VALUE></DOMAIN>'),
            "either in 'attr' or as <VALUE>",
        ),
        (schema('<DOMAIN oid="1" type="enum" attr="a, a"/>'), "the value 'a' is listed twice"),
        (
            schema('<DOMAIN oid="1" type="enum" ordered="yes"/>'),
            "'ordered' must be 'true' or 'false', got 'yes'",
        ),
        (
            schema('<DOMAIN oid="1" type="hierarchical"><NODE name="a"/><NODE name="a"/></DOMAIN>'),
            "node 'a' occurs twice",
        ),
        (
            schema('<DOMAIN oid="1" type="hierarchical"><NODE/></DOMAIN>'),
            "<NODE>: the attribute 'name' is missing",
        ),
        (schema(attributes=PRICE), "attribute 'price': no domain '1'; none is defined yet"),
        (
            schema(NUMERIC, PRICE.replace('"1"', '"11"')),
            "attribute 'price': no domain '11'; did you mean '1'?",
        ),
        (schema(NUMERIC, PRICE * 2), "attribute 'price' exists already"),
        (schema(NUMERIC, PRICE.replace("price", "event.time")), "'event.time' is reserved"),
        (
            schema(listed="<A><VALUE>price</VALUE></A>"),
            "attribute 'price' has no domain: its <ATTR_DOM> is missing",
        ),
        (schema(event_types=CAR), "event type 'car': no attribute 'price'"),
        (schema(NUMERIC, PRICE, CAR * 2), "event type 'car' exists already"),
        (schema(listed="<ET><VALUE>car</VALUE><VALUE>car</VALUE></ET>"), "event type 'car' exists already"),
        (schema(NUMERIC, PRICE, CAR.replace('unique="true"', "")), "the attribute 'unique' is missing"),
        (
            schema(NUMERIC, PRICE, CAR.replace('unique="true"', 'unique="1"')),
            "'unique' must be 'true' or 'false'",
        ),
        (
            schema(NUMERIC, PRICE, CAR.replace('unique="true"', 'unique="untrue"')),
            "must be 'true' or 'false'",
        ),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(text, message):
    with pytest.raises(SchemaError) as caught:
        xml_form.read(text)
    assert message in str(caught.value)


def test_everything_wrong_is_listed_at_once():
    text = schema('<DOMAIN oid="1" type="x"/>', PRICE, CAR.replace('"true"', '"maybe"'))
    with pytest.raises(InvalidSchema) as caught:
        xml_form.read(text)
    assert len(caught.value.problems) == 3  # the type and two flags, but not the domain of the price
