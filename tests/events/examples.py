"""Catalogs that the tests of this room share."""

from __future__ import annotations

from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Hierarchy, Kind

# Thesis 3.1: an antique has price, period, quantity; a car brand, cc, price, and optionally a colour.
ANTIQUE_CAR = Catalog(
    (
        Domain("number", Kind.NUMERIC),
        Domain("brand", Kind.ENUMERATED, values=("cooper", "audi", "mini")),
        Domain("word", Kind.STRING),
    ),
    (
        *(Attribute(name, "number") for name in ("price", "period", "quantity", "cc")),
        Attribute("brand", "brand"),
        Attribute("color", "word"),
    ),
    (
        EventType("antique", tuple(AttributeUse(name) for name in ("price", "period", "quantity"))),
        EventType(
            "car",
            (
                *(AttributeUse(name) for name in ("brand", "cc", "price")),
                AttributeUse("color", mandatory=False),
            ),
        ),
    ),
)

# Le Subscribe 2.1: antiques and furniture share price and quantity; furniture has a category out of a tree.
ANTIQUES_FURNITURE = Catalog(
    (
        Domain("number", Kind.NUMERIC),
        Domain("period", Kind.STRING),
        Domain(
            "category",
            Kind.HIERARCHICAL,
            hierarchy=Hierarchy.from_tree({"dining room": {"table": {}, "chair": {}}, "outdoor": {}}),
        ),
    ),
    (
        Attribute("price", "number"),
        Attribute("quantity", "number"),
        Attribute("period", "period"),
        Attribute("furniture_category", "category"),
        Attribute("material", "period"),
    ),
    (
        EventType("antiques", tuple(AttributeUse(name) for name in ("price", "period", "quantity"))),
        EventType(
            "furniture",
            (
                *(AttributeUse(name) for name in ("price", "quantity", "furniture_category")),
                AttributeUse("material", mandatory=False),
            ),
        ),
    ),
)

# Every kind of domain, unique and multiple, mandatory and optional.
EVERY_KIND = Catalog(
    (
        Domain("number", Kind.NUMERIC),
        Domain("word", Kind.STRING),
        Domain("prose", Kind.TEXT),
        Domain("brand", Kind.ENUMERATED, values=("opel", "mini", "audi")),
        Domain("category", Kind.HIERARCHICAL, hierarchy=Hierarchy.from_tree({"a": {"b": {}}, "c": {}})),
        Domain("moment", Kind.TIME),
    ),
    (
        Attribute("price", "number"),
        Attribute("sizes", "number"),
        Attribute("name", "word"),
        Attribute("tags", "word"),
        Attribute("story", "prose"),
        Attribute("brand", "brand"),
        Attribute("brands", "brand"),
        Attribute("category", "category"),
        Attribute("when", "moment"),
        Attribute("whens", "moment"),
        Attribute("unused", "number"),
    ),
    (
        EventType(
            "all",
            (
                AttributeUse("price", mandatory=True),
                *(AttributeUse(name, mandatory=False) for name in ("name", "story", "brand", "category", "when")),
                *(AttributeUse(name, mandatory=False, unique=False) for name in ("sizes", "tags", "brands", "whens")),
            ),
        ),
        EventType("free", (AttributeUse("price", mandatory=False, unique=False),)),
        EventType("none"),
    ),
)
