"""The papers' own schemas."""

from __future__ import annotations

from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Hierarchy, Kind

MONEY = Domain("money", Kind.NUMERIC)
WORDS = Domain("words", Kind.STRING)
BRAND = Domain("brand", Kind.ENUMERATED, values=("opel", "mini", "cooper", "audi"))

# Thesis 3.1: antiques and cars share the price.
THESIS = Catalog(
    (MONEY, WORDS, BRAND),
    (
        Attribute("price", "money"),
        Attribute("period", "money"),
        Attribute("quantity", "money"),
        Attribute("brand", "brand"),
        Attribute("cc", "money"),
        Attribute("color", "words"),
    ),
    (
        EventType("antique", (AttributeUse("price"), AttributeUse("period"), AttributeUse("quantity"))),
        EventType(
            "car",
            (
                AttributeUse("price"),
                AttributeUse("brand"),
                AttributeUse("cc"),
                AttributeUse("color", mandatory=False),
            ),
        ),
    ),
)

# Le Subscribe 2.1: furniture has a category, from a tree.
CATEGORIES = Hierarchy.from_tree(
    {
        "bedroom": {"bed": {}, "wardrobe": {}},
        "dining room": {"table": {"dining table": {"extending table": {}}}, "chair": {}},
        "outdoor": {"bench": {}},
    }
)
LE_SUBSCRIBE = Catalog(
    (MONEY, WORDS, Domain("category", Kind.HIERARCHICAL, hierarchy=CATEGORIES)),
    (
        Attribute("price", "money"),
        Attribute("period", "words"),
        Attribute("quantity", "money"),
        Attribute("furniture_category", "category"),
        Attribute("material", "words"),
    ),
    (
        EventType("antiques", (AttributeUse("price"), AttributeUse("period"), AttributeUse("quantity"))),
        EventType(
            "furniture",
            (
                AttributeUse("price"),
                AttributeUse("quantity"),
                AttributeUse("furniture_category"),
                AttributeUse("material", mandatory=False),
            ),
        ),
    ),
)
