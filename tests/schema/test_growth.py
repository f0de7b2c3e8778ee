from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.schema.samples import BRAND, LE_SUBSCRIBE, THESIS
from tests.strategies.schemas import catalogs, changes, legal_changes
from tidings.errors import SchemaError
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind
from tidings.schema.catalog import IllegalName, InvalidSchema, NameTaken, UnknownName
from tidings.schema.growth import (
    AppendNode,
    AppendValue,
    CreateAttribute,
    CreateDomain,
    CreateEventType,
    ExtendEventType,
    MandatoryExtension,
    SetHeadline,
    WrongKind,
    grow,
)
from tidings.schema.hierarchy import IllegalNode, RepeatedNode, UnknownNode
from tidings.schema.json_form import read_change, write_change

YEAR = Domain("year", Kind.NUMERIC)


def test_a_domain_an_attribute_and_a_type_are_created_and_used():  # thesis 3.2, the four rules
    grown = THESIS
    for change in (
        CreateDomain(YEAR),
        CreateAttribute(Attribute("built", "year")),
        CreateEventType(EventType("house", (AttributeUse("built"), AttributeUse("price")))),
        ExtendEventType("car", AttributeUse("built", mandatory=False, unique=False)),
    ):
        grown = grow(grown, change)
    assert grown.version == THESIS.version + 4
    assert grown.domain_of("built") == YEAR
    assert grown.view(["house"]).mandatory == ("built", "price")
    assert grown.view(["car"]).mandatory == THESIS.view(["car"]).mandatory
    assert grown.view(["car"]).uses["built"] == AttributeUse("built", mandatory=False, unique=False)
    assert "house" in (grown.domain_of("event_type") or YEAR).values


def test_a_value_is_appended_as_the_greatest():
    grown = grow(THESIS, AppendValue("brand", "seat"))
    assert (grown.domain("brand") or YEAR).values == (*BRAND.values, "seat")
    assert (grown.domain_of("brand") or YEAR).ordinal("seat") == len(BRAND.values)
    assert grown.version == THESIS.version + 1


def test_a_node_is_appended_below_its_parent_or_as_a_root():
    grown = grow(grow(LE_SUBSCRIBE, AppendNode("category", "sofa", "bedroom")), AppendNode("category", "garage", None))
    hierarchy = (grown.domain("category") or YEAR).hierarchy
    start, stop = hierarchy.interval("bedroom")
    assert hierarchy.names[start:stop] == ("bedroom", "bed", "wardrobe", "sofa")
    assert hierarchy.nodes[-1] == "garage"


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (CreateDomain(BRAND), NameTaken, "domain 'brand' exists already; names are never reused"),
        (CreateDomain(Domain("", Kind.TEXT)), IllegalName, "cannot name a domain"),
        (CreateAttribute(Attribute("price", "brand")), NameTaken, "attribute 'price' exists already"),
        (CreateAttribute(Attribute("event_type", "brand")), IllegalName, "'event_type' is reserved"),
        (CreateAttribute(Attribute("event.time", "brand")), IllegalName, "'event.time' is reserved"),
        (
            CreateAttribute(Attribute("make", "brnad")),
            UnknownName,
            "attribute 'make': no domain 'brnad'; did you mean 'brand'?",
        ),
        (CreateEventType(EventType("car")), NameTaken, "event type 'car' exists already"),
        (CreateEventType(EventType("a\tb")), IllegalName, "cannot name an event type"),
        (
            CreateEventType(EventType("bike", (AttributeUse("prize"),))),
            UnknownName,
            "event type 'bike': no attribute 'prize'; did you mean 'price'?",
        ),
        (
            CreateEventType(EventType("bike", (AttributeUse("event_type"),))),
            UnknownName,
            "no attribute 'event_type'",
        ),
        (
            CreateEventType(EventType("bike", (AttributeUse("cc"), AttributeUse("cc", unique=False)))),
            InvalidSchema,
            "event type 'bike': attribute 'cc' exists already",
        ),
        (
            ExtendEventType("car", AttributeUse("quantity", mandatory=True)),
            MandatoryExtension,
            "can only be extended by optional attributes: a mandatory 'quantity' would refuse events",
        ),
        (
            ExtendEventType("cra", AttributeUse("quantity", mandatory=False)),
            UnknownName,
            "no event type 'cra'; did you mean 'car'?",
        ),
        (
            ExtendEventType("car", AttributeUse("quantiti", mandatory=False)),
            UnknownName,
            "event type 'car': no attribute 'quantiti'; did you mean 'quantity'?",
        ),
        (
            ExtendEventType("car", AttributeUse("color", mandatory=False)),
            NameTaken,
            "event type 'car': attribute 'color' exists already",
        ),
        (AppendValue("brand", "mini"), NameTaken, "domain 'brand': value 'mini' exists already"),
        (
            AppendValue("money", "7"),
            WrongKind,
            "a value can only be appended to enumerated domains; 'money' is numeric",
        ),
        (AppendValue("brnad", "seat"), UnknownName, "value 'seat': no domain 'brnad'; did you mean 'brand'?"),
        (AppendValue("event_type", "bike"), UnknownName, "no domain 'event_type'"),
        (AppendNode("brand", "sofa", None), WrongKind, "a node can only be appended to hierarchical domains"),
        (AppendNode("brnad", "sofa", None), UnknownName, "node 'sofa': no domain 'brnad'"),
    ],
)
def test_what_breaks_a_rule_is_refused_with_the_reason(change, error, message):
    with pytest.raises(error) as caught:
        grow(THESIS, change)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("node", "parent", "error", "message"),
    [
        ("bed", "bedroom", RepeatedNode, "'bedroom > bed' occurs twice"),
        ("out > door", "bed", IllegalNode, "'out > door' cannot name a node"),
        ("sofa", "bedrom", UnknownNode, "no node 'bedrom' in the hierarchy; did you mean 'bedroom'?"),
    ],
)
def test_a_node_in_the_wrong_place_is_refused(node, parent, error, message):
    with pytest.raises(error) as caught:
        grow(LE_SUBSCRIBE, AppendNode("category", node, parent))
    assert message in str(caught.value)


def test_redundant_domains_are_allowed():  # thesis 3.2
    assert grow(THESIS, CreateDomain(Domain("euro", Kind.NUMERIC))).domain("euro") is not None


@given(st.data())
def test_growth_never_narrows(data):
    catalog = data.draw(catalogs())
    grown = grow(catalog, data.draw(legal_changes(catalog)))
    assert_grown(catalog, grown)


@given(st.data())
def test_any_change_is_either_refused_or_never_narrows(data):
    catalog = data.draw(catalogs())
    change = data.draw(changes(catalog))
    try:
        grown = grow(catalog, change)
    except SchemaError:
        return
    assert_grown(catalog, grown)


@given(st.data())
def test_a_change_survives_the_json_form(data):
    change = data.draw(changes(data.draw(catalogs())))
    assert read_change(write_change(change)) == change


def assert_grown(catalog: Catalog, grown: Catalog) -> None:
    assert grown != catalog
    assert grown.version == catalog.version + 1
    for domain in catalog.domains:
        assert_no_narrower(domain, grown.domain(domain.name))
    assert grown.attributes[: len(catalog.attributes)] == catalog.attributes
    assert grown.event_type_names[: len(catalog.event_types)] == catalog.event_type_names
    for size in (1, 2):
        for types in combinations(catalog.event_type_names, size):
            assert_view_only_gains_optional_attributes(catalog, grown, types)


def assert_no_narrower(domain: Domain, grown: Domain | None) -> None:
    assert grown is not None
    assert (grown.kind, grown.operators, grown.ordered) == (domain.kind, domain.operators, domain.ordered)
    assert grown.values[: len(domain.values)] == domain.values
    for node in domain.hierarchy.nodes:
        above = [domain.hierarchy.nodes[n] for n in domain.hierarchy.ancestors(node)]
        assert [grown.hierarchy.nodes[n] for n in grown.hierarchy.ancestors(node)] == above


def assert_view_only_gains_optional_attributes(catalog: Catalog, grown: Catalog, types: tuple[str, ...]) -> None:
    before, after = catalog.view(types).uses, grown.view(types).uses
    for name, use in after.items():
        if name in before:
            assert use.mandatory == before[name].mandatory
            assert before[name].unique or not use.unique  # unique may become multiple, never the reverse
        else:
            assert not use.mandatory
    assert before.keys() <= after.keys()


def test_a_headline_is_an_attribute_of_its_type_and_may_be_set_again() -> None:
    catalog = Catalog.from_dict(
        {
            "domains": [{"name": "words", "kind": "text"}],
            "attributes": [{"name": name, "domain": "words"} for name in ("title", "body", "note")],
            "event_types": [
                {"name": "story", "headline": "title", "attributes": [{"name": "title"}, {"name": "body"}]}
            ],
        }
    )
    again = grow(catalog, SetHeadline("story", "body"))
    assert (again.event_type("story").headline, again.version) == ("body", catalog.version + 1)  # type: ignore[union-attr]
    with pytest.raises(NameTaken, match="headline 'title' exists already"):
        grow(catalog, SetHeadline("story", "title"))
    for change in (
        SetHeadline("story", "note"),
        CreateEventType(EventType("other", (AttributeUse("title"),), "body")),
    ):
        with pytest.raises(UnknownName, match="headline: no attribute"):
            grow(catalog, change)
    with pytest.raises(UnknownName, match="no event type 'stroy'; did you mean 'story'"):
        grow(catalog, SetHeadline("stroy", "title"))
    with pytest.raises(InvalidSchema, match="headline: no attribute 'note'"):
        Catalog(catalog.domains, catalog.attributes, (EventType("story", (AttributeUse("title"),), "note"),))
