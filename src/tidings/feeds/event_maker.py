"""One record in, one raw event out, with what of it could not be read; `feed` publishes, `preview` shows it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from tidings.events import BrokenRule
from tidings.feeds.errors import SchemaClash, SchemaLacks
from tidings.feeds.mapping.mapping import Field, Mapping
from tidings.feeds.records.conversion import Unconvertible, as_text, converted, instant, is_missing
from tidings.feeds.records.json_path import written
from tidings.feeds.records.records import MOST_VALUES, Record
from tidings.schema import Catalog, Kind, json_form
from tidings.schema.catalog import EVENT_TYPE

_LONGEST_ID = 1_000
_READ_ALIKE = {Kind.NUMERIC: "number", Kind.TIME: "time"}  # all other kinds are text


@dataclass(frozen=True, slots=True)
class Made:
    """`raw` in the file form of events; `parents` has, by attribute, the node above a hierarchical value."""

    raw: dict[str, Any]
    errors: tuple[BrokenRule, ...] = ()
    parents: dict[str, str] = field(default_factory=dict)

    def refused(self) -> dict[str, Any]:
        return {"id": self.raw["id"], "errors": [error.as_json() for error in self.errors]}


class EventMaker:
    """Made for a mapping and a schema. Attributes that the schema does not have are read as the mapping says."""

    def __init__(self, mapping: Mapping, catalog: Catalog) -> None:
        self.mapping = mapping
        self._kinds = [(one, kind_of(one, catalog)) for one in mapping.fields]
        types = mapping.event_types
        self._types = types[0] if len(types) == 1 else list(types)

    def make(self, record: Record) -> Made:
        errors: list[BrokenRule] = []
        parents: dict[str, str] = {}
        raw: dict[str, Any] = {"id": self._id(record, errors), "source": self.mapping.source or self.mapping.name}
        if (time := self._time(record, errors)) is not None:
            raw["time"] = time
        if self.mapping.contact:
            raw["contact"] = self.mapping.contact
        raw[EVENT_TYPE] = self._types
        attributes: dict[str, Any] = {}
        for one, kind in self._kinds:
            found = record.get(one.reading.path, ())
            try:
                if len(found) > MOST_VALUES:
                    raise Unconvertible(f"more than {MOST_VALUES:,} values stand at {one.reading.path!r}")
                values = list(dict.fromkeys(converted(found, one.reading, kind)))
            except Unconvertible as problem:
                shown = found[0] if len(found) == 1 else list(found[:MOST_VALUES])
                errors.append(BrokenRule("domain", one.attribute, shown, f"{one.attribute!r}: {problem}"))
                continue
            if values:
                attributes[one.attribute] = values[0] if len(values) == 1 else values
            if one.parent and (above := first_text(record, one.parent)):
                parents[one.attribute] = above.lower() if one.reading.lower else above
        raw["attributes"] = attributes
        return Made(raw, tuple(errors), parents)

    def _id(self, record: Record, errors: list[BrokenRule]) -> str:
        """By the mapping's paths; the digest of what is read of the record where there are none, or it is too long.

        Where a part is missing the record is refused: by a digest it would come again with each change of it."""
        parts = [first_text(record, path) for path in self.mapping.id]
        for path, part in zip(self.mapping.id, parts, strict=True):
            if not part:
                errors.append(BrokenRule("form", "id", None, f"id: nothing stands at {path!r}"))
        if parts and all(parts):
            id = parts[0] if len(parts) == 1 else written(*parts)
            if len(id) <= _LONGEST_ID:
                return id
        told = json.dumps(record, sort_keys=True, default=repr)  # as ASCII: whatever is in it can be written
        return sha256(told.encode()).hexdigest()[:32]

    def _time(self, record: Record, errors: list[BrokenRule]) -> str | None:
        reading = self.mapping.time
        found = () if reading is None else record.get(reading.path, ())
        if reading is None or not found:
            return None
        raw = found[0].strip() if isinstance(found[0], str) else found[0]
        if raw is None or raw == "" or is_missing(raw, reading.missing):
            return None
        try:
            return str(instant(raw, reading.time_format, reading.zone))
        except Unconvertible as problem:
            errors.append(BrokenRule("form", "time", raw, f"time: {problem}"))
            return None


def kind_of(one: Field, catalog: Catalog) -> Kind:
    """As the schema says, else the mapping; raises SchemaClash where both do and one of them is no text."""
    domain = catalog.domain_of(one.attribute)
    if domain is None:
        return one.kind or Kind.STRING
    if one.kind is not None and _READ_ALIKE.get(one.kind) != _READ_ALIKE.get(domain.kind):
        raise SchemaClash(f"attribute {one.attribute!r}", str(domain.kind), str(one.kind))
    return domain.kind


def check_schema(mapping: Mapping, catalog: Catalog) -> None:
    """Raises SchemaLacks where no event of the mapping could be valid, SchemaClash where names mean other things."""
    missing = [f"event type {name!r}" for name in mapping.event_types if catalog.event_type(name) is None]
    uses = {} if missing else catalog.view(mapping.event_types).uses
    for one in mapping.fields:
        if catalog.domain_of(one.attribute) is None:
            missing.append(f"attribute {one.attribute!r}")
        elif not missing and one.attribute not in uses:
            missing.append(f"attribute {one.attribute!r} in {' and '.join(map(repr, mapping.event_types))}")
        kind_of(one, catalog)
    if missing:
        shows = (
            f"`tidings feed infer {mapping.file or mapping.name}` shows what would be added, and with --apply adds it"
        )
        raise SchemaLacks(tuple(missing), shows)


def schema_mark(mapping: Mapping, catalog: Catalog) -> str:
    """The same as long as the schema says the same to the mapping's events, whatever else grows in it."""
    domains = [catalog.domain_of(one.attribute) for one in mapping.fields]
    types = [catalog.event_type(name) for name in mapping.event_types]
    told = [
        [None if domain is None else json_form.write_domain(domain) for domain in domains],
        [None if event_type is None else json_form.write_event_type(event_type) for event_type in types],
    ]
    return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def first_text(record: Record, path: str) -> str:
    """The first value at a path, as text; nothing where there is none."""
    for value in record.get(path, ()):
        if value is not None and not isinstance(value, list | dict):
            return as_text(value).strip()
    return ""
