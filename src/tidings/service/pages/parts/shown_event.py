"""An event as a page shows it: a headline, values as people read them, and in lists never more of them than fit.

An event may hold tens of thousands of values. The templates see only what is made here, so that drawing a page takes
the same time whatever was published.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidings.events.headline import event_types, headline_of, values_of
from tidings.paths.tree import Path
from tidings.schema import Catalog
from tidings.schema.domain import Kind
from tidings.service.pages.parts.shown_document import ShownDocument, shown_document

_ATTRIBUTES, _VALUES = 12, 8  # of one event in a list
_WHOLE_ATTRIBUTES, _WHOLE_VALUES, _WHOLE_TOTAL = 200, 200, 2_000  # on a page of its own
_LONGEST_VALUE = 200
_TREES = 4  # documents of an attribute that are shown as trees
_UNFOLDED = 600  # characters of a value that its own page shows at once
_TIME = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z", re.ASCII)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class ShownValue:
    """`exact` is what a filter takes, where `text` says it otherwise: of a time. `whole`: all of a text that is cut.
    `document`: what is shown instead of the text."""

    text: str
    exact: str = ""
    whole: str = ""
    document: ShownDocument | None = None


@dataclass(frozen=True, slots=True)
class ShownAttribute:
    """`more`: values that are left out. `event_type`: the type that it belongs to, at the first attribute of that type,
    where an event has several types."""

    name: str
    values: tuple[ShownValue, ...]
    more: int = 0
    event_type: str = ""


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """`headline` is one of its values, which is left out of the attributes where it is short; `more`: attributes that
    are left out."""

    headline: str
    attributes: tuple[ShownAttribute, ...]
    more: int


def shown_event(
    event: Mapping[str, Any],
    catalog: Catalog | None = None,
    whole: bool = False,
    paths: Mapping[str, Sequence[Path]] | None = None,
) -> ShownEvent:
    """For a list, or on a page of its own. The catalog knows the headline and the order of the attributes.

    Documents are trees on a page of its own, and where there are `paths` for their attribute, which are marked."""
    attributes: Mapping[str, Any] = event["attributes"]
    headline = headline_of(event, catalog)
    title = str(values_of(attributes[headline])[0]) if headline else ""
    told = bool(headline) and len(values_of(attributes[headline])) == 1 and not (whole and len(title) > _LONGEST_VALUE)
    most, most_values, room = (_WHOLE_ATTRIBUTES, _WHOLE_VALUES, _WHOLE_TOTAL) if whole else (_ATTRIBUTES, _VALUES, 0)
    shown: list[ShownAttribute] = []
    last = ""
    for name, event_type in _ordered(event, catalog):
        if (told and name == headline) or len(shown) == most or (whole and room <= 0):
            continue
        values = values_of(attributes[name])
        kept = tuple(shown_value(one, whole) for one in values[: min(most_values, room) if whole else most_values])
        if whole or (paths and name in paths):
            kept = _with_trees(kept, values, name, catalog, (paths or {}).get(name, ()))
        room -= len(kept)
        shown.append(ShownAttribute(name, kept, len(values) - len(kept), event_type if event_type != last else ""))
        last = event_type
    return ShownEvent(_cut(title), tuple(shown), len(attributes) - len(shown) - told)


def _with_trees(
    kept: tuple[ShownValue, ...], values: Sequence[Any], name: str, catalog: Catalog | None, paths: Sequence[Path]
) -> tuple[ShownValue, ...]:
    domain = catalog.domain_of(name) if catalog is not None else None
    if domain is None or domain.kind is not Kind.DOCUMENT:
        return kept
    trees = [
        ShownValue("", document=shown_document(str(one), paths, domain.document.prefixes)) for one in values[:_TREES]
    ]
    return (*trees, *kept[_TREES:])


def _ordered(event: Mapping[str, Any], catalog: Catalog | None) -> Iterator[tuple[str, str]]:
    """The attributes as the event's types list them, each with the first type that has it, where there are several;
    last those that the catalog at hand does not know."""
    attributes: Mapping[str, Any] = event["attributes"]
    types = event_types(event)
    seen: set[str] = set()
    for event_type in types if catalog is not None else ():
        found = catalog.event_type(event_type) if catalog is not None else None
        for use in () if found is None else found.attributes:
            if use.name in attributes and use.name not in seen:
                seen.add(use.name)
                yield use.name, event_type if len(types) > 1 else ""
    for name in attributes:
        if name not in seen:
            yield name, ""


def shown_value(one: Any, whole: bool = False) -> ShownValue:
    """Numbers as a filter takes them: with commas they could not be copied into one."""
    if isinstance(one, bool):
        return ShownValue("true" if one else "false")
    text = str(one)
    if isinstance(one, str) and (time := _TIME.fullmatch(text)):
        year, month, day, minute = time.groups()
        return ShownValue(f"{int(day)} {_MONTHS[int(month) - 1]} {year}, {minute} UTC", text)
    if not whole:
        return ShownValue(_cut(text))
    return ShownValue(text) if len(text) <= _UNFOLDED else ShownValue(_cut(text), whole=text)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
