"""The DTDs that are made from a catalog (thesis, figure 5.4 and appendix C)."""

import io
import re

import pytest
from lxml import etree

from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind, xml_form
from tidings.schema.dtd import FILES, OPERATORS, TYPES, dtd, dtds
from tidings.schema.growth import CreateDomain, CreateEventType, grow

NAMES = ("price", "period", "quantity", "furniture_category")
MARKET = Catalog(
    (Domain("1", Kind.NUMERIC), Domain("words", Kind.STRING)),
    tuple(Attribute(name, "1") for name in NAMES),
    (EventType("antique", (AttributeUse("price"),)), EventType("surf-board")),
)


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def valid(catalog: Catalog, request: str) -> bool:
    name = etree.fromstring(request).tag
    made = etree.DTD(io.BytesIO(dtd(catalog, str(name)).encode()))
    return bool(made.validate(etree.fromstring(request)))


def test_the_event_publication_dtd_of_the_thesis() -> None:  # figure 5.4
    text = plain(dtds(MARKET)["pub_event.dtd"])
    for line in (
        "<!ELEMENT PUBLISH_EVENT ( EVENT_TYPE , ATTRIBUTES )>",
        "<!ELEMENT EVENT_TYPE ( VALUE+ )>",
        "<!ELEMENT VALUE EMPTY>",
        "<!ATTLIST VALUE type ( antique | surf-board ) #REQUIRED>",
        "<!ELEMENT ATTRIBUTES ( ATTR* )>",
        "<!ELEMENT ATTR (#PCDATA)>",
        "<!ATTLIST ATTR type ( price | period | quantity | furniture_category ) #REQUIRED>",
    ):
        assert line in text


def test_the_other_dtds_of_the_thesis() -> None:  # appendix C
    made = {file: plain(text) for file, text in dtds(MARKET).items()}
    assert "<!ELEMENT ADD_DOMAIN ( DOMAIN )>" in made["add_dom.dtd"]
    assert '<!ATTLIST DOMAIN attr CDATA "">' in made["add_dom.dtd"]
    assert "<!ATTLIST ATTR_DOM type ( 1 | 2 | words ) #REQUIRED>" in made["add_attr.dtd"]
    assert "<!ATTLIST EXTENT_SCHEMA type ( antique | surf-board ) #REQUIRED>" in made["ext_scm.dtd"]
    assert "<!ATTLIST E_ATTR mandatory ( true | false ) #REQUIRED>" in made["add_event.dtd"]
    assert set(made) == set(FILES.values())


@pytest.mark.parametrize(
    "request_",
    [
        '<ADD_DOMAIN><DOMAIN type="numeric"><OPER type="eq"/><OPER type="noteq"/></DOMAIN></ADD_DOMAIN>',
        '<ADD_DOMAIN><DOMAIN type="enum" attr="a, b" name="n" ordered="true"/></ADD_DOMAIN>',
        '<ADD_DOMAIN><DOMAIN type="hierarchical"><NODE name="a"><NODE name="b"/></NODE></DOMAIN></ADD_DOMAIN>',
        '<ADD_ATTRIBUTE token="t"><ATTR_DOM name="artist" type="1"/></ADD_ATTRIBUTE>',
        '<ADD_ATTRIBUTE><ATTR_DOM name="artist" type="words"/></ADD_ATTRIBUTE>',
        '<EXTENT_SCHEMA type="antique"><E_ATTR unique="true" type="period"/></EXTENT_SCHEMA>',
        '<ADD_EVENT><E_TYPE type="paint"><E_ATTR mandatory="true" unique="true" domid="1" type="price"/></E_TYPE>'
        "</ADD_EVENT>",
        '<PUBLISH_EVENT contact="c"><EVENT_TYPE><VALUE type="antique"/></EVENT_TYPE><ATTRIBUTES>'
        '<ATTR type="price">4</ATTR></ATTRIBUTES></PUBLISH_EVENT>',
        '<PUBLISH_SUB username="u" token="t"><EVENT_TYPE><VALUE type="antique" oper="contains"/></EVENT_TYPE>'
        '<ATTRIBUTES><ATTR type="price" oper="gteq">3</ATTR></ATTRIBUTES></PUBLISH_SUB>',
        '<PUBLISH_SUB username="u"><ATTRIBUTES><ATTR type="event.id" oper="eq">3</ATTR></ATTRIBUTES></PUBLISH_SUB>',
        '<PUBLISH_SUB username="u"><FILTER>price &lt; 3</FILTER></PUBLISH_SUB>',
        '<DELETE_SUB id="s" username="u" token="t"/>',
        '<LIST_SUBS token="t" after="x" limit="3"/>',
        '<LIST_EVENTS token="t" id="s" after="3" limit="3"/>',
    ],
)
def test_valid_requests(request_: str) -> None:
    assert valid(MARKET, request_)


@pytest.mark.parametrize(
    "request_",
    [
        '<ADD_DOMAIN><DOMAIN type="number"/></ADD_DOMAIN>',
        '<ADD_ATTRIBUTE><ATTR_DOM name="artist" type="3"/></ADD_ATTRIBUTE>',
        '<EXTENT_SCHEMA type="car"><E_ATTR unique="true" type="period"/></EXTENT_SCHEMA>',
        '<EXTENT_SCHEMA type="antique"/>',
        '<ADD_EVENT><E_TYPE type="paint"><E_ATTR unique="true" type="price"/></E_TYPE></ADD_EVENT>',
        "<PUBLISH_EVENT><EVENT_TYPE/><ATTRIBUTES/></PUBLISH_EVENT>",
        '<PUBLISH_EVENT><EVENT_TYPE><VALUE type="antique"/></EVENT_TYPE><ATTRIBUTES><ATTR type="cc">4</ATTR>'
        "</ATTRIBUTES></PUBLISH_EVENT>",
        '<PUBLISH_SUB username="u"/>',
        "<PUBLISH_SUB><FILTER>price &lt; 3</FILTER></PUBLISH_SUB>",
        '<PUBLISH_SUB username="u"><ATTRIBUTES><ATTR type="price" oper="similar">3</ATTR></ATTRIBUTES></PUBLISH_SUB>',
        '<LIST_SUBS colour="red"/>',
        '<DELETE_SUB id="s">text</DELETE_SUB>',
    ],
)
def test_requests_that_are_not_valid(request_: str) -> None:
    assert not valid(MARKET, request_)


def test_names_that_a_dtd_cannot_list() -> None:
    catalog = grow(MARKET, CreateEventType(EventType("dining table")))
    text = dtd(catalog, "PUBLISH_EVENT")
    assert "<!ATTLIST VALUE type CDATA #REQUIRED>" in text
    assert "<!-- not all names of event types can be listed in a DTD, so any text is valid here -->" in text
    event = '<PUBLISH_EVENT><EVENT_TYPE><VALUE type="dining table"/></EVENT_TYPE><ATTRIBUTES/></PUBLISH_EVENT>'
    assert valid(catalog, event)
    assert not valid(MARKET, event)


@pytest.mark.parametrize("name", ["naïve-1", "τιμή", "価格", "1.5:x", "-x", "𐍈"])
def test_names_that_it_can(name: str) -> None:
    catalog = grow(MARKET, CreateEventType(EventType(name)))
    assert f"| {name} )" in dtd(catalog, "PUBLISH_EVENT")
    assert valid(
        catalog, f'<PUBLISH_EVENT><EVENT_TYPE><VALUE type="{name}"/></EVENT_TYPE><ATTRIBUTES/></PUBLISH_EVENT>'
    )


@pytest.mark.parametrize("name", ["a b", "a×b", "a|b", "(a)", "a;b", "\u2160\u00d7", "%a;", "--", "a>b", '"'])
def test_any_name_gives_a_dtd(name: str) -> None:
    catalog = grow(grow(MARKET, CreateEventType(EventType(name))), CreateDomain(Domain(name, Kind.STRING)))
    for request in FILES:
        etree.DTD(io.BytesIO(dtd(catalog, request).encode()))


def test_an_empty_schema_has_dtds_too() -> None:
    for text in dtds(Catalog()).values():
        etree.DTD(io.BytesIO(text.encode()))
    assert "there are no event types yet" in dtds(Catalog())["pub_event.dtd"]


def test_they_are_made_anew_when_the_schema_has_grown() -> None:
    first = dtds(MARKET)
    assert dtds(MARKET) is first
    grown = grow(MARKET, CreateEventType(EventType("car")))
    assert "car" in dtds(grown)["pub_event.dtd"]
    assert "car" not in first["pub_event.dtd"]


def test_a_validator_need_not_read_long_lists() -> None:
    many = Catalog((), (), tuple(EventType(f"type-{number}") for number in range(2_000)))
    assert "| type-1999 )" in dtd(many, "PUBLISH_EVENT")
    assert "too many event types" in dtd(many, "PUBLISH_EVENT", most_listed=1_000)


def test_operators_and_kinds_are_called_as_in_the_schema_form() -> None:
    for name, kind in TYPES.items():
        listed = Domain("d", kind).operators or ()
        used = "".join(f'<OPER type="{word}"/>' for word, operator in OPERATORS.items() if operator in listed)
        schema = f'<IESCHEMA><D><DOMAIN oid="d" type="{name}">{used}</DOMAIN></D></IESCHEMA>'
        catalog, notes = xml_form.read(schema)
        assert (catalog.domains[0].kind, catalog.domains[0].operators, notes) == (kind, listed, ())
