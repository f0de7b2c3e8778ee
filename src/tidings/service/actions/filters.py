"""A filter's or composite's text, bound to the newest catalog, and what its author should be warned of. It may take
long: call it with `Gateway.bind`."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from tidings.language import Filter, covers
from tidings.language.advice import searched
from tidings.language.composites import BoundComposite
from tidings.language.dialects import refuse_wrong_translation
from tidings.language.normal_form import Conjunction
from tidings.language.predicates import attributes_of
from tidings.schema import Catalog
from tidings.schema.catalog import ALWAYS_BOUND
from tidings.store import Store

EVERYTHING = "event_type exists"


class BoundText(NamedTuple):
    """The canonical text of a composite or filter, its warnings, and how many predicates its alternatives have."""

    text: str
    warnings: tuple[str, ...]
    predicates: int


def read_filter(text: str, store: Store, catalog: Catalog | None = None) -> tuple[Filter, tuple[str, ...]]:
    """With the warnings that every way of subscribing gives. Raises LanguageError."""
    catalog = catalog or store.catalog()
    filter = Filter.given(text, catalog)
    if matches_everything(filter, catalog):
        return filter, (*filter.warnings, "this filter matches every event")
    return filter, filter.warnings


def read_composite(text: str, store: Store, catalog: Catalog | None = None) -> BoundComposite:
    """In either syntax, with the profile that it uses. Raises LanguageError."""
    profiles = store.composite_profiles() if "using" in text.lower() else {}
    return BoundComposite.read(text, catalog or store.catalog(), store.clock.now(), profiles=profiles)


def read_wanted(filter: str, composite: str | None, store: Store, catalog: Catalog | None = None) -> BoundText:
    """Of the composite, if there is one, else of the filter: what the journal keeps. Raises LanguageError."""
    if composite is None:
        found, warnings = read_filter(filter, store, catalog)
        return BoundText(found.text, warnings, _predicates(found))
    catalog = catalog or store.catalog()
    bound = read_composite(composite, store, catalog)
    for one in bound.filters:
        refuse_wrong_translation(one.tree, "", catalog)
    return BoundText(bound.text, bound.warnings, sum(map(_predicates, bound.filters)))


def _predicates(filter: Filter) -> int:
    return sum(map(len, filter.conjunctions))


def matches_everything(filter: Filter, catalog: Catalog) -> bool:
    always = tuple([one for one in filter.conjunctions if _is_always_decided(one)])
    if not always:
        return False
    wide = replace(filter, conjunctions=tuple(searched(always)))
    return covers(wide, Filter.parse(EVERYTHING, catalog), catalog)


def _is_always_decided(conjunction: Conjunction) -> bool:
    """Whether it asks for no attribute that an event may lack. Of most filters no alternative is like that."""
    return all(name in ALWAYS_BOUND for literal in conjunction for name in attributes_of(literal))
