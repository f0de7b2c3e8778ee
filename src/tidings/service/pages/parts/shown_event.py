"""An event as a page shows it: a headline, values as people read them, and never more of them than fit.

An event may hold tens of thousands of values. The templates see only what is made here, so that drawing a page takes
the same time whatever was published.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tidings.schema import Catalog
from tidings.schema.catalog import UnknownName

_ATTRIBUTES, _VALUES = 12, 8  # of one event in a list
_WHOLE_ATTRIBUTES, _WHOLE_VALUES, _WHOLE_TOTAL = 200, 200, 2_000  # on a page of its own
_LONGEST_VALUE = 200
_HEADLINES = ("title", "name", "headline", "subject", "summary")
_TIME = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z", re.ASCII)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class ShownValue:
    """`exact` is what a filter takes, where `text` says it otherwise: of a time."""

    text: str
    exact: str = ""


@dataclass(frozen=True, slots=True)
class ShownAttribute:
    """`more`: values that are left out."""

    name: str
    values: tuple[ShownValue, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """`headline` is one of its values, which is left out of the attributes; `more`: attributes that are left out."""

    headline: str
    attributes: tuple[ShownAttribute, ...]
    more: int


def shown_event(event: Mapping[str, Any], catalog: Catalog | None = None, whole: bool = False) -> ShownEvent:
    """For a list, or on a page of its own; the catalog helps to find a headline."""
    named = event["event_type"]
    types = (named,) if isinstance(named, str) else tuple(named)
    attributes: Mapping[str, Any] = event["attributes"]
    headline = _headline(attributes, types, catalog)
    most, most_values, room = (_WHOLE_ATTRIBUTES, _WHOLE_VALUES, _WHOLE_TOTAL) if whole else (_ATTRIBUTES, _VALUES, 0)
    shown: list[ShownAttribute] = []
    for name, given in islice(attributes.items(), most + 1):
        if name == headline or len(shown) == most or (whole and room <= 0):
            continue
        values = _values(given)
        kept = tuple(shown_value(one) for one in values[: min(most_values, room) if whole else most_values])
        room -= len(kept)
        shown.append(ShownAttribute(name, kept, len(values) - len(kept)))
    left = len(attributes) - len(shown) - bool(headline)
    title = _cut(str(_values(attributes[headline])[0])) if headline else ""
    return ShownEvent(title, tuple(shown), left)


def shown_value(one: Any) -> ShownValue:
    """Numbers as a filter takes them: with commas they could not be copied into one."""
    if isinstance(one, bool):
        return ShownValue("true" if one else "false")
    text = str(one)
    if isinstance(one, str) and (time := _TIME.fullmatch(text)):
        year, month, day, minute = time.groups()
        return ShownValue(f"{int(day)} {_MONTHS[int(month) - 1]} {year}, {minute} UTC", text)
    return ShownValue(_cut(text))


def _headline(attributes: Mapping[str, Any], types: Sequence[str], catalog: Catalog | None) -> str:
    """The name of the attribute that says what it is about, or ''."""
    for name in _HEADLINES:
        if _is_words(attributes.get(name)):
            return name
    if catalog is None:
        return ""
    try:
        uses = catalog.view(types).uses
    except UnknownName:  # the catalog at hand is older than the event
        return ""
    for use in uses.values():
        domain = catalog.domain_of(use.name)
        words = domain is not None and domain.kind.wordy
        if use.mandatory and use.unique and words and _is_words(attributes.get(use.name)):
            return use.name
    return ""


def _is_words(given: Any) -> bool:
    values = _values(given)
    return len(values) == 1 and isinstance(values[0], str) and bool(values[0].strip())


def _values(given: Any) -> Sequence[Any]:
    return given if isinstance(given, list | tuple) else (given,)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
