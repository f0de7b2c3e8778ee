"""A filter's or composite's text, bound to the newest catalog, and what its author should be warned of. It takes its
time: call it in a thread."""

from __future__ import annotations

from tidings.language import Filter, covers
from tidings.language.composites import BoundComposite
from tidings.schema import Catalog
from tidings.store import Store

EVERYTHING = "event_type exists"


def read_filter(text: str, store: Store) -> tuple[Filter, tuple[str, ...]]:
    """With the warnings that every way of subscribing gives. Raises LanguageError."""
    catalog = store.catalog()
    filter = Filter.given(text, catalog)
    if matches_everything(filter, catalog):
        return filter, (*filter.warnings, "this filter matches every event")
    return filter, filter.warnings


def read_composite(text: str, store: Store) -> BoundComposite:
    """In either syntax, with the profile that it uses. Raises LanguageError."""
    profiles = store.composite_profiles() if "using" in text.lower() else {}
    return BoundComposite.read(text, store.catalog(), store.clock.now(), profiles=profiles)


def read_wanted(filter: str, composite: str | None, store: Store) -> tuple[str, tuple[str, ...]]:
    """The canonical text of the composite, if there is one, else of the filter; and its warnings. Raises
    LanguageError."""
    if composite is None:
        found, warnings = read_filter(filter, store)
        return found.text, warnings
    bound = read_composite(composite, store)
    return bound.text, bound.warnings


def matches_everything(filter: Filter, catalog: Catalog) -> bool:
    return covers(filter, Filter.parse(EVERYTHING, catalog), catalog)
