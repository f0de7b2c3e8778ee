"""What a Python program holds as one event, a dict in most cases, as the raw event that `validate` takes.

Two forms are taken: the whole event, `{"id": "e1", "event_type": "car", "attributes": {"price": 900}}`, by the rules of
JSON; and the attributes alone, `{"price": 900}`, where None, NaN and an empty list mean that an attribute has no value,
as in a row of a frame."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

import pyarrow as pa

from tidings.errors import WrongArgument, typed
from tidings.events.arrow_columns import number_of, raw_value
from tidings.events.event import Event
from tidings.events.files.chunk import ENVELOPE_COLUMNS
from tidings.events.validation import write_event
from tidings.schema import Catalog, Instant, Kind
from tidings.schema.catalog import EVENT_TYPE

_UNCHANGED = frozenset({int, str})
_AS_IN_JSON = frozenset({int, str, float})
_SEVERAL = (list, tuple, set, frozenset)
EXPECTED = "a dict such as {'price': 900} or an Event"


class RecordForm:
    """How records of one catalog are read. `event_type` is that of events that name none."""

    def __init__(self, catalog: Catalog, event_type: list[str] | None, ignore_unknown: bool = False) -> None:
        self.event_type = event_type
        self._known = frozenset(attribute.name for attribute in catalog.attributes)
        self._plain = self._known - {"id"}
        self._words = words_for_booleans(catalog)
        self._ignored = ignore_unknown
        self._beside = frozenset(ENVELOPE_COLUMNS) - (self._known - {"id"})  # a column `time` may be an attribute

    def is_plain(self, record: object) -> bool:
        """Whether it is a dict of attributes alone of which `raw` would change no value."""
        if type(record) is not dict or self.event_type is None or not self._plain.issuperset(record):
            return False
        types = set(map(type, record.values()))
        return types <= _AS_IN_JSON and (float not in types or all(value == value for value in record.values()))

    def raw(self, record: object, number: int) -> dict[str, Any]:
        """The raw event; one without an id has its number for it."""
        if self.is_plain(record):
            return {"id": str(number), EVENT_TYPE: self.event_type, "attributes": record}
        members = as_mapping(record)
        if members is None:
            raise WrongArgument("match", f"event {number}", EXPECTED, typed(record))
        whole = isinstance(record, Event) or is_whole(members, self._known)
        if whole:
            bound = members["attributes"]
            raw = {name: value for name, value in members.items() if name != "attributes"}
        else:
            bound = {name: value for name, value in members.items() if name in self._known or name not in self._beside}
            raw = {name: tidied(value) for name, value in members.items() if name in self._beside}
        attributes = {}
        for name, value in bound.items():
            if type(value) not in _UNCHANGED:
                value = tidied(value, name in self._words, strict=whole)
            if name not in self._known:
                if not isinstance(name, str):
                    raise WrongArgument(
                        "match", f"event {number}", "a dict with names as keys", f"one with {typed(name)}"
                    )
                if self._ignored:
                    continue
            if value is not None:
                attributes[name] = value
        id = raw.get("id")
        raw["id"] = str(number) if id is None else str(id) if isinstance(id, int) and not isinstance(id, bool) else id
        if self.event_type is not None and raw.get(EVENT_TYPE) is None:
            raw[EVENT_TYPE] = self.event_type
        raw["attributes"] = attributes
        return raw


def words_for_booleans(catalog: Catalog) -> frozenset[str]:
    """The attributes whose enumeration has the words true and false, which then stand for Booleans."""
    domains = {attribute.name: catalog.domain_of(attribute.name) for attribute in catalog.attributes}
    return frozenset(
        name
        for name, domain in domains.items()
        if domain is not None and domain.kind is Kind.ENUMERATED and domain.names("true") and domain.names("false")
    )


def as_mapping(record: object) -> Mapping[str, Any] | None:
    """A dict, an Event, a named tuple or a row of a pandas frame by name; None for anything else."""
    if isinstance(record, Mapping):
        return record
    if isinstance(record, Event):
        return write_event(record)
    if isinstance(record, tuple) and hasattr(record, "_asdict"):
        found: dict[str, Any] = record._asdict()
        return found
    if type(record).__name__ == "Series" and hasattr(record, "to_dict"):
        return dict(record.to_dict())
    return None


def is_whole(record: Mapping[str, Any], known: frozenset[str]) -> bool:
    """Whether it is a whole event rather than its attributes alone."""
    return isinstance(record.get("attributes"), Mapping) and "attributes" not in known


def tidied(value: Any, words: bool = False, strict: bool = False) -> Any:
    """A Python value as JSON would have it: Booleans as words where `words`, times as ISO 8601, no type of numpy.

    Unless `strict`, what means no value becomes None: NaN, NaT, an empty list, a list of these."""
    kind = type(value)
    if kind in _UNCHANGED or value is None:
        return value
    if kind is float:
        return value if strict or value == value else None
    if kind is bool:
        return ("true" if value else "false") if words else value
    if isinstance(value, _SEVERAL) or getattr(value, "ndim", None):
        items = [tidied(item, words, strict) for item in value]
        return items if strict else [item for item in items if item is not None] or None
    return _scalar(value, words, strict)


def _scalar(value: Any, words: bool, strict: bool) -> Any:
    match value:
        case Enum():
            return tidied(value.value, words, strict)
        case Instant():
            return str(value)
        case datetime():
            return _instant(value) if value == value else None  # pandas' NaT is a datetime
        case date():
            return _instant(datetime(value.year, value.month, value.day))
        case Decimal():
            return tidied(float(value) if value.is_nan() else number_of(value), words, strict)
        case str():
            return str(value)
        case float():
            return tidied(float(value), words, strict)
        case int():
            return int(value)
        case pa.Scalar():
            return tidied(raw_value(value), words, strict)
    if type(value).__name__ == "NAType":
        return None
    if type(value).__name__ == "datetime64":
        return None if str(value) == "NaT" else str(value)
    if hasattr(value, "dtype") and hasattr(value, "item"):
        return tidied(value.item(), words, strict)
    return value


def _instant(moment: datetime) -> object:
    try:
        return str(Instant.of(moment))
    except (ValueError, OverflowError):
        return moment.isoformat()  # outside the years 1 to 9999 in UTC, as `validate` will say
