"""The schema grown over the thesis's XML, and the DTDs that follow it."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.service.conftest import on_sqlite
from tests.service.xml_served import CAR, Served, Speaker
from tidings.events import RefusedEvent
from tidings.schema import AttributeUse, Catalog, EventType
from tidings.schema.dtd import dtd
from tidings.schema.growth import CreateEventType
from tidings.service.xml.framing import Document
from tidings.service.xml.requests import Publication, read_request
from tidings.service.xml.validity import Validity, parse
from tidings.store import Grow


@on_sqlite
def test_extending_by_several_is_all_or_nothing(daemon: Served, ann: Speaker) -> None:
    before = daemon.store.catalog()
    wrong = '<E_ATTR unique="true" type="price"/><E_ATTR unique="true" type="brand"/>'
    assert (
        ann.refused(f'<EXTENT_SCHEMA type="car" token="{{token}}">{wrong}</EXTENT_SCHEMA>') == "SameAttributeInSchema"
    )
    assert daemon.store.catalog() == before
    twice = '<E_ATTR unique="true" type="price"/><E_ATTR unique="true" type="price"/>'
    assert (
        ann.refused(f'<EXTENT_SCHEMA type="car" token="{{token}}">{twice}</EXTENT_SCHEMA>') == "SameAttributeInSchema"
    )
    right = '<E_ATTR unique="true" type="price"/><E_ATTR unique="false" type="title"/>'
    ann.ok(f'<EXTENT_SCHEMA type="car" token="{{token}}">{right}</EXTENT_SCHEMA>')
    added = daemon.store.catalog().event_type("car").attributes[-2:]  # type: ignore[union-attr]
    assert [(use.name, use.mandatory, use.unique) for use in added] == [("price", False, True), ("title", False, False)]


@on_sqlite
def test_domains_by_number_and_by_name(daemon: Served, ann: Speaker) -> None:
    ann.ok('<ADD_DOMAIN token="{token}"><DOMAIN name="2" type="time"/></ADD_DOMAIN>')
    attribute = '<ADD_ATTRIBUTE token="{{token}}"><ATTR_DOM name="{}" type="{}"/></ADD_ATTRIBUTE>'
    ann.ok(attribute.format("a", "1"))
    ann.ok(attribute.format("b", "2"))
    catalog = daemon.store.catalog()
    assert catalog.domain_of("a").name == "money"  # type: ignore[union-attr]
    assert catalog.domain_of("b").name == "2"  # type: ignore[union-attr]  # a name wins
    assert ann.refused(attribute.format("c", "9")) == "UnknownName"
    wrong = '<E_ATTR mandatory="true" unique="true" domid="3" type="price"/>'
    assert (
        ann.refused(f'<ADD_EVENT token="{{token}}"><E_TYPE type="t">{wrong}</E_TYPE></ADD_EVENT>') == "InvalidRequest"
    )


@on_sqlite
def test_domains_of_our_own_kinds(daemon: Served, ann: Speaker) -> None:
    add = '<ADD_DOMAIN token="{{token}}"><DOMAIN name="{}" {}</DOMAIN></ADD_DOMAIN>'
    ann.ok(add.format("h", 'type="hierarchical"><NODE name="a"><NODE name="b"/></NODE><NODE name="c"/>'))
    ann.ok(add.format("e", 'type="enum" ordered="true"><OPER type="lt"/><VALUE>a, b</VALUE><VALUE>c</VALUE>'))
    ann.ok(add.format("t", 'type="text"><OPER type="similar"/><OPER type="contains"/>'))
    catalog = daemon.store.catalog()
    h, e, t = (catalog.domain(name) for name in "het")
    assert h is not None
    assert e is not None
    assert t is not None
    assert h.hierarchy.names == ("a", "b", "c")
    assert (e.values, e.ordered, e.operators) == (("a, b", "c"), True, ("<",))
    assert t.operators == ("contains", "~")
    assert ann.refused(add.format("x", 'type="numeric" attr="a, b">')) == "PartOutsideKind"
    assert ann.refused(add.format("x", 'type="string"><NODE name="a"/>')) == "PartOutsideKind"
    assert ann.refused(add.format("x", 'type="enum" attr="a"><VALUE>b</VALUE>')) == "InvalidRequest"
    assert ann.refused(add.format("x", 'type="numeric"><OPER type="contains"/>')) == "OperatorOutsideKind"


@on_sqlite
def test_the_dtds_follow_the_schema(daemon: Served, ann: Speaker) -> None:
    glider = CAR.replace('"car"', '"glider"').replace("{more}", "")
    assert ann.refused(glider) == "EventTypeNotFound"
    old = dtd(daemon.store.catalog(), "PUBLISH_EVENT")
    uses = "".join(f'<E_ATTR mandatory="true" unique="true" type="{name}"/>' for name in ("brand", "year"))
    ann.ok(f'<ADD_EVENT token="{{token}}"><E_TYPE type="glider">{uses}</E_TYPE></ADD_EVENT>')
    new = dtd(daemon.store.catalog(), "PUBLISH_EVENT")
    assert "| glider )" in new
    assert "glider" not in old
    ann.ok(glider)


@on_sqlite
def test_growth_by_somebody_else_is_noticed(daemon: Served, ann: Speaker) -> None:
    """Another gateway over the same store: the daemon's catalog is old until a request needs the new one."""
    ann.ok(CAR.replace("{more}", ""))
    daemon.store.append([Grow(CreateEventType(EventType("raft", (AttributeUse("brand"), AttributeUse("year")))))])
    ann.ok(CAR.replace('"car"', '"raft"').replace("{more}", ""))


def test_the_event_loop_does_not_wait_while_a_thread_validates() -> None:
    validity = Validity(Catalog((), (), (EventType("car"),)))
    event = b'<PUBLISH_EVENT><EVENT_TYPE><VALUE type="car"/></EVENT_TYPE><ATTRIBUTES/></PUBLISH_EVENT>'
    root = parse(Document(event, "utf-8"))
    with ThreadPoolExecutor() as loop, validity._locks[True]:  # as a thread holds it, 0.1 s for 256 KiB
        assert loop.submit(validity.problem, root, beside=False).result(timeout=20) is None


def test_a_schema_with_thousands_of_names() -> None:
    """Too many to enumerate for the validator; our own checks know them all the same."""
    types = tuple(EventType(f"type-{number}") for number in range(2_000))
    validity = Validity(Catalog((), (), types))
    event = '<PUBLISH_EVENT><EVENT_TYPE><VALUE type="{}"/></EVENT_TYPE><ATTRIBUTES/></PUBLISH_EVENT>'
    known, unknown = (parse(Document(event.format(name).encode(), "utf-8")) for name in ("type-1999", "type-2000"))
    assert validity.problem(known, beside=False) is None
    assert validity.problem(unknown, beside=False) is None
    assert isinstance(read_request(known, validity.catalog), Publication)
    with pytest.raises(RefusedEvent, match="type-2000"):
        read_request(unknown, validity.catalog)
