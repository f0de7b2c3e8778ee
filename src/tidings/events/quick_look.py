"""One raw event in, its bindings out, without building an `Event`: the quick path of `match_one`.

A quick look accepts the usual event and doubts every other one; `validate` then decides. So it may doubt too much but
never too little, and accepts exactly what `validate` accepts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from tidings.events.event import Event
from tidings.events.refusal import BrokenRule, RefusedEvent
from tidings.events.validation import LONGEST_ID, MEMBERS
from tidings.schema import Catalog, Domain, Instant, Kind
from tidings.schema.catalog import EVENT_TYPE
from tidings.schema.values import LARGEST_INTEGER, Value, is_text

GivenEvent = bytes | bytearray | str | dict[str, Any] | Event  # JSON text, a raw event, a valid one
Bound = list[tuple[str, Any]]  # by name one value, or a tuple of several

_ONLY_TEXT = {str}
_MOST_VIEWS = 1024
_MOST_TYPES = 8
_MOST_VALUES = 100  # of one attribute; `validate` knows how many are allowed
_MEMBERS = frozenset(MEMBERS)
_NUMBER, _TEXT, _LISTED, _TIME = range(4)
_CHECKS = {
    Kind.NUMERIC: _NUMBER,
    Kind.STRING: _TEXT,
    Kind.TEXT: _TEXT,
    Kind.ENUMERATED: _LISTED,
    Kind.HIERARCHICAL: _LISTED,
    Kind.TIME: _TIME,
}
_JSON = (bytes, bytearray, str)
_decode = msgspec.json.Decoder().decode


def raw_event(given: GivenEvent) -> Any:
    """The raw event in a JSON text; anything else as it is. Raises RefusedEvent."""
    if not isinstance(given, _JSON):
        return given
    try:
        return _decode(given)
    except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
        reason = "nested too deeply" if isinstance(problem, RecursionError) else str(problem)
        raise RefusedEvent(None, (BrokenRule("form", None, None, f"not JSON: {reason}"),)) from None


class _Use(NamedTuple):
    check: int
    unique: bool
    words: dict[str, str]  # the canonical values of an enumerated or hierarchical domain, by what may be written


class _View(NamedTuple):
    uses: dict[str, _Use]
    mandatory: frozenset[str]


class QuickLook:
    """What the usual event of one catalog looks like."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._views: dict[str | tuple[str, ...], _View] = {}
        self._words: dict[str, dict[str, str]] = {}  # by domain

    def bindings(self, raw: dict[str, Any]) -> Bound | None:
        """Everything a filter may test; None where only `validate` can tell."""
        id, types, attributes = raw.get("id"), raw.get(EVENT_TYPE), raw.get("attributes")
        if type(id) is not str or not 0 < len(id) <= LONGEST_ID or not id.isascii():
            return None
        if type(types) is list:
            if len(types) > _MOST_TYPES or set(map(type, types)) != _ONLY_TEXT:
                return None
            types = types[0] if len(types) == 1 else tuple(dict.fromkeys(types))
        elif type(types) is not str:
            return None
        view = self._views.get(types) or self._view(types)
        if view is None or type(attributes) is not dict:
            return None
        bound: Bound = [(EVENT_TYPE, types), ("event.id", id)]
        if len(raw) == 3:
            bound.append(("event.source", ""))
        elif not _envelope(raw, bound):
            return None
        uses = view.uses
        for name, value in attributes.items():
            use = uses.get(name)
            if use is None:
                return None
            made = _several(value, use) if type(value) is list else _one(value, use)
            if made is None:
                return None
            bound.append((name, made))
        if view.mandatory and not view.mandatory <= attributes.keys():
            return None
        return bound

    def _view(self, types: str | tuple[str, ...]) -> _View | None:
        names = (types,) if isinstance(types, str) else types
        if any(self._catalog.event_type(name) is None for name in names):
            return None
        view = self._catalog.view(names)
        uses = {}
        for use in view.uses.values():
            domain = self._catalog.domain_of(use.name)
            if domain is None or domain.kind not in _CHECKS:
                continue  # a name that is not among the uses is doubted
            if domain.name not in self._words:
                self._words[domain.name] = _words(domain)
            uses[use.name] = _Use(_CHECKS[domain.stored_as], use.unique, self._words[domain.name])
        if len(self._views) >= _MOST_VIEWS:
            self._views.clear()
        made = self._views[types] = _View(uses, frozenset(view.mandatory))
        return made


def _words(domain: Domain) -> dict[str, str]:
    if domain.kind is Kind.HIERARCHICAL:
        return domain.hierarchy.short_names
    return {value: value for value in domain.vocabulary}


def _one(value: object, use: _Use) -> Value | None:
    """The canonical value, None where there is doubt."""
    check = use.check
    if check == _NUMBER:
        if type(value) is int:
            return value if -LARGEST_INTEGER <= value <= LARGEST_INTEGER else None
        return value if type(value) is float and value - value == 0 else None
    if type(value) is not str:
        return None
    if check == _TEXT:
        return value if is_text(value) else None
    if check == _LISTED:
        return use.words.get(value)
    try:
        return Instant.parse(value)
    except ValueError:
        return None


def _several(values: list[Any], use: _Use) -> Any:
    """Canonical values, each once; the one itself where there is one."""
    if len(values) > _MOST_VALUES:
        return None
    made: dict[Value, None] = {}
    for value in values:
        one = _one(value, use)
        if one is None:
            return None
        made[one] = None
    if len(made) == 1:
        return next(iter(made))
    return tuple(made) if made and not use.unique else None


def _envelope(raw: dict[str, Any], bound: Bound) -> bool:
    """Takes source and time; False where there is doubt."""
    if not raw.keys() <= _MEMBERS:
        return False
    source, time, contact = raw.get("source"), raw.get("time"), raw.get("contact")
    for text in (source, contact):
        if text is not None and (type(text) is not str or not text.isascii()):
            return False
    bound.append(("event.source", source or ""))
    if time is not None:
        if type(time) is not str:
            return False
        try:
            bound.append(("event.time", Instant.parse(time)))
        except ValueError:
            return False
    return True
