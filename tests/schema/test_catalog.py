from __future__ import annotations

import importlib
import pickle
import pkgutil

import pytest
from hypothesis import given

import tidings.schema
from tests.schema.samples import BRAND, LE_SUBSCRIBE, MONEY, THESIS
from tests.strategies.schemas import catalogs, small_catalogs
from tidings.errors import SchemaError, TidingsError
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind
from tidings.schema.catalog import IllegalName, InvalidSchema, NameTaken, UnknownName
from tidings.schema.documents.errors import (
    DocumentError,
    DocumentTooLarge,
    InvalidDocument,
    MalformedDocument,
    WrongGrammar,
    WrongNamespace,
    WrongRoot,
)
from tidings.schema.domain import OperatorOutsideKind, OutsideDomain, PartOutsideKind, RepeatedValue, UnknownLanguage
from tidings.schema.files import SchemaFile, UnknownForm
from tidings.schema.growth import MandatoryExtension, UncountedKind, WrongKind
from tidings.schema.hierarchy import AmbiguousNode, IllegalNode, NotPreOrder, RepeatedNode, TooDeep, UnknownNode
from tidings.schema.json_form import SchemaForm
from tidings.schema.safe_xml import MalformedXml
from tidings.schema.values import NotText


def test_the_mandatory_set_of_a_car_is_price_brand_and_cc():  # thesis 3.1
    view = THESIS.view(["car"])
    assert view.mandatory == ("price", "brand", "cc")
    assert view.uses["color"] == AttributeUse("color", mandatory=False)


def test_an_antique_car_needs_what_both_need():  # thesis 3.1
    view = THESIS.view(["antique", "car"])
    assert set(view.mandatory) == {"price", "period", "quantity", "brand", "cc"}
    assert set(view.uses) == {*view.mandatory, "color"}
    assert view is THESIS.view(("car", "antique"))


def test_the_mandatory_set_of_furniture():  # Le Subscribe 2.1
    assert LE_SUBSCRIBE.view(["furniture"]).mandatory == ("price", "quantity", "furniture_category")
    antique_furniture = LE_SUBSCRIBE.view(["antiques", "furniture"])
    assert set(antique_furniture.mandatory) == {"price", "period", "quantity", "furniture_category"}
    assert not antique_furniture.uses["material"].mandatory


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_in_a_view_mandatory_and_multiple_win(order):  # thesis 3.1, rule 3
    catalog = Catalog(
        (MONEY,),
        (Attribute("price", "money"),),
        (
            EventType("a", (AttributeUse("price", mandatory=True, unique=True),)),
            EventType("b", (AttributeUse("price", mandatory=False, unique=False),)),
        ),
    )
    assert catalog.view(order).uses["price"] == AttributeUse("price", mandatory=True, unique=False)
    assert catalog.may_be_multiple("price")


def test_a_view_of_an_unknown_type_names_the_nearest():
    with pytest.raises(UnknownName, match="view: no event type 'antik'; did you mean 'antique'\\?"):
        THESIS.view(["antik", "car"])


def test_event_type_is_the_enumeration_of_the_event_types_and_multiple():
    domain = THESIS.domain_of("event_type")
    assert domain is not None
    assert (domain.kind, domain.values) == (Kind.ENUMERATED, ("antique", "car"))
    assert THESIS.may_be_multiple("event_type")
    assert THESIS.is_used("event_type")


def test_names_are_looked_up():
    assert THESIS.domain("brand") is BRAND
    assert THESIS.domain("brnad") is None
    assert THESIS.domain_of("price") == MONEY
    assert THESIS.domain_of("event.time") == Domain("event.time", Kind.TIME)
    assert THESIS.domain_of("prize") is None
    assert THESIS.event_type("bike") is None
    assert set(THESIS.attribute_names) >= {
        "price",
        "color",
        "event_type",
        "event.id",
        "event.source",
        "event.time",
    }
    assert not THESIS.may_be_multiple("price")
    assert not Catalog((MONEY,), (Attribute("price", "money"),)).is_used("price")


def test_every_broken_rule_is_listed():
    with pytest.raises(InvalidSchema) as caught:
        Catalog(
            (MONEY, MONEY),
            (Attribute("price", "monney"), Attribute("event_type", "money"), Attribute("", "money")),
            (EventType("car", (AttributeUse("prize"), AttributeUse("price"), AttributeUse("price"))),),
        )
    assert str(caught.value).splitlines() == [
        "domain 'money' exists already; names are never reused, so choose another one",
        "'event_type' is reserved and cannot name an attribute of your own",
        "'' cannot name an attribute: a name is text of 1 to 200 printable characters",
        "attribute 'price': no domain 'monney'; did you mean 'money'?",
        "event type 'car': no attribute 'prize'; did you mean 'price'?",
        "event type 'car': attribute 'price' exists already; names are never reused, so choose another one",
    ]


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 201, "\ud800", "\x00"])
def test_names_are_short_and_printable(name):
    with pytest.raises(InvalidSchema, match="cannot name a domain"):
        Catalog((Domain(name, Kind.NUMERIC),))


@pytest.mark.parametrize("name", ["event_type", "event.id", "event.source", "event.time"])
def test_reserved_names_cannot_be_attributes(name):
    with pytest.raises(InvalidSchema, match=f"'{name}' is reserved"):
        Catalog((MONEY,), (Attribute(name, "money"),))


def test_the_version_does_not_make_catalogs_different():
    assert Catalog((MONEY,), version=1) == Catalog((MONEY,), version=7)


@given(catalogs())
def test_a_catalog_survives_pickling(catalog):
    copy = pickle.loads(pickle.dumps(catalog))
    assert (copy, copy.version, hash(copy)) == (catalog, catalog.version, hash(catalog))
    assert copy.attribute_names == catalog.attribute_names


@given(small_catalogs())
def test_small_catalogs_have_something_to_filter(catalog):
    assert any(catalog.is_used(attribute.name) for attribute in catalog.attributes)


SAMPLES = [
    IllegalName("a domain", "a\nb"),
    NameTaken("domain", "money"),
    UnknownName("domain", "monney", "attribute 'price'", ("money",)),
    InvalidSchema((NameTaken("domain", "money"), WrongKind("d", "text", "enumerated", "a value"))),
    OperatorOutsideKind("d", "numeric", "~", ("=",)),
    PartOutsideKind("d", "numeric", "values", "enumerated"),
    RepeatedValue("d", "a"),
    UnknownLanguage("d", "klingon", ("english",)),
    OutsideDomain("d", 7, "expected text"),
    NotText("domain 'd'", "\ud800"),
    RepeatedNode("a > b"),
    IllegalNode("a > b"),
    AmbiguousNode("andere", ("Peugeot > andere", "Audi > andere")),
    TooDeep("a"),
    NotPreOrder("a", 5),
    UnknownNode("tabel", ("table",)),
    MandatoryExtension("car", "price"),
    WrongKind("d", "numeric", "enumerated", "a value"),
    UncountedKind("price", "numeric"),
    SchemaForm("domains[0]", "expected an object, got 7"),
    MalformedXml(3, 5, "not XML: stray"),
    SchemaFile("cars.json", SchemaForm("domains[0]", "expected an object, got 7")),
    UnknownForm("yaml", ("json", "xml")),
    DocumentError(1, 2),
    MalformedDocument(1, 2, "no element found"),
    DocumentTooLarge(0, 0, "nodes", 100_000),
    WrongRoot(1, 1, "a", "b"),
    InvalidDocument(1, 1, "Element a"),
    WrongGrammar("dtd", 0, "syntax error"),
    WrongNamespace("xml", "it is XML's own"),
]


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_with_its_message(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert str(error).strip()


def test_every_error_of_this_room_has_a_sample():
    for module in pkgutil.iter_modules(tidings.schema.__path__, "tidings.schema."):
        importlib.import_module(module.name)
    waiting: list[type[TidingsError]] = [TidingsError]
    defined = set()
    while waiting:
        error = waiting.pop()
        waiting += error.__subclasses__()
        if error.__module__.startswith("tidings.schema"):
            assert issubclass(error, SchemaError)
            defined.add(error)
    assert defined == {type(sample) for sample in SAMPLES}
