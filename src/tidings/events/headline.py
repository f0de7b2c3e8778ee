"""What an event is about, in a line for people: the value of one of its attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tidings.schema.catalog import Catalog, UnknownName

_USUAL = ("title", "name", "headline", "subject", "summary")


def declared_headline(event: Mapping[str, Any], catalog: Catalog | None) -> str:
    """The attribute that one of the event's types declares and the event binds, or ''. `event` is in the file form."""
    attributes = event.get("attributes") or {}
    for name in event_types(event) if catalog is not None else ():
        found = catalog.event_type(name) if catalog is not None else None
        if found is not None and found.headline and attributes.get(found.headline) is not None:
            return found.headline
    return ""


def headline_of(event: Mapping[str, Any], catalog: Catalog | None) -> str:
    """The declared one, else one of a usual name, else the first mandatory text of one value; or ''."""
    if declared := declared_headline(event, catalog):
        return declared
    attributes: Mapping[str, Any] = event.get("attributes") or {}
    for name in _USUAL:
        if _is_words(attributes.get(name)):
            return name
    if catalog is None:
        return ""
    try:
        uses = catalog.view(event_types(event)).uses
    except UnknownName:  # the catalog at hand is older than the event
        return ""
    for use in uses.values():
        domain = catalog.domain_of(use.name)
        words = domain is not None and domain.kind.wordy
        if use.mandatory and use.unique and words and _is_words(attributes.get(use.name)):
            return use.name
    return ""


def event_types(event: Mapping[str, Any]) -> tuple[str, ...]:
    named = event.get("event_type") or ()
    return (named,) if isinstance(named, str) else tuple(named)


def values_of(given: Any) -> Sequence[Any]:
    """The file form has one value or a list of them."""
    return given if isinstance(given, list | tuple) else (given,)


def _is_words(given: Any) -> bool:
    values = values_of(given)
    return len(values) == 1 and isinstance(values[0], str) and bool(values[0].strip())
