"""What the demo's auctions can say: the mapping that scrapes them, and the schema that it needs, with all values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tidings.feeds import Mapping, read_mapping
from tidings.feeds.samples.auction_items import CONDITIONS, MODELS, PAINTS
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Hierarchy, Kind

# The same as examples/feeds/auctions.toml, which people read and copy in a checkout; an installed package has only
# what is in it. A test compares them.
MAPPING = Path(__file__).with_name("auctions.toml")


def auction_mapping(site: str, every: float) -> Mapping:
    """For the site at this address, asked every so many seconds."""
    mapping = read_mapping(MAPPING)
    return replace(mapping, origin=replace(mapping.origin, url=f"{site}/cars", every=every))


def auction_schema() -> Catalog:
    """Complete from the start, so that filters can name what was not sold yet."""
    mapping = read_mapping(MAPPING)
    domains, uses = [], []
    for one in mapping.fields:
        assert one.kind is not None  # the mapping names all of them
        domains.append(_LISTED.get(one.attribute) or Domain(one.attribute, one.kind))
        uses.append(AttributeUse(one.attribute, one.mandatory, not one.several))
    attributes = tuple(Attribute(one.attribute, one.attribute) for one in mapping.fields)
    types = tuple(EventType(name, tuple(uses)) for name in mapping.event_types)
    return Catalog(tuple(domains), attributes, types)


def _brands() -> Hierarchy:
    """Brands, and below each its models, which the site calls by brand and model."""
    tree = Hierarchy()
    for brand, models in MODELS.items():
        tree = tree.append(brand, None)
        for model in models:
            tree = tree.append(f"{brand} {model}", brand)
    return tree


_LISTED = {
    "make": Domain("make", Kind.ENUMERATED, values=tuple(MODELS)),
    "model": Domain("model", Kind.HIERARCHICAL, hierarchy=_brands()),
    "colour": Domain("colour", Kind.ENUMERATED, values=PAINTS),
    "state": Domain("state", Kind.ENUMERATED, values=CONDITIONS, ordered=True),
}
