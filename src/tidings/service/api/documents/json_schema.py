"""A valid event as JSON Schema 2020-12, generated from the catalog.

Whatever `tidings.events.validate` accepts, the schema accepts. The other way round a few rules are beyond JSON Schema
(an instant written in two ways, an integer beyond 2^53); those stand in `$comment`, and the gateway decides.

An event may have several types, and its view joins their attributes. `unevaluatedProperties` cannot say that: the types
stand beside the attributes, not inside. So each rule looks from the event down: an attribute that is bound needs one of
the types that have it; a type needs its mandatory attributes; several values need a type that allows them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from tidings.events.validation import LONGEST_ID
from tidings.schema import Catalog, Domain, EventType, Kind
from tidings.schema.catalog import EVENT_TYPE

_DEGREES = {"type": "number", "minimum": -180, "maximum": 180}  # draft 7 and 2020-12 write a rule for each differently
DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]

# What `Instant.parse` reads begins so: a calendar or a week date, with or without hyphens.
_DATE = "^[0-9]{4}(-?[0-9]{2}-?[0-9]{2}|-?W[0-9]{2}(-?[1-7])?)"
_OPTIONAL_TEXT: Schema = {"type": ["string", "null"]}
_BEYOND = (
    "An event that this schema accepts may still be refused: a text must be Unicode without halves of surrogate pairs; "
    "integers beyond 2^53 and infinities are not numbers; a time must be a real one, and an occurrence time at most 5 "
    "minutes after the time of acceptance; equal values count once, so that for an attribute that is unique here an "
    "array is accepted in which some values are equal, though all must be (of times not even that is checked)."
)


def json_schema(catalog: Catalog) -> Schema:
    """The whole document."""
    definitions = event_definitions(catalog, "#/$defs/")
    return {
        "$schema": DIALECT,
        "$id": f"urn:tidings:schema:{catalog.version}",
        "title": "A valid event",
        "description": f"What may be published under version {catalog.version} of the schema.",
        "$comment": f"{_BEYOND} POST /v1/events gives an id to an event that has none.",
        "allOf": [{"$ref": "#/$defs/event"}, {"required": ["id"]}],
        "$defs": definitions,
    }


def event_definitions(catalog: Catalog, place: str) -> dict[str, Schema]:
    """Schemas that name each other below `place`; `event` is the one to begin with. Its id may be left out.

    A `$ref` has no keyword beside it and none is newer than draft 7, so AsyncAPI can take them as they are.
    """
    made = {"event": _event(catalog, place), "event_type": _words(catalog.event_type_names), "time": _time("")}
    for domain in catalog.domains:
        made[key("domain", domain.name)] = _domain(domain)
    for attribute in catalog.attributes:
        made[key("attribute", attribute.name)] = _attribute(f"{place}{key('domain', attribute.domain)}")
    for event_type in catalog.event_types:
        made[key("type", event_type.name)] = _event_type(event_type)
    return made


def key(what: str, name: str) -> str:
    """A name for a definition, of the characters that AsyncAPI allows there; no two names have the same."""
    plain = re.sub(r"[^A-Za-z0-9_]", lambda found: "".join(f".{byte:02x}" for byte in found[0].encode()), name)
    return f"{what}-{plain}"


def has_type(names: list[str]) -> Schema:
    """An `event_type` that is, or has among others, one of these."""
    return {"anyOf": [{"enum": names}, {"type": "array", "contains": {"enum": names}}]}


def _event(catalog: Catalog, place: str) -> Schema:
    names = [attribute.name for attribute in catalog.attributes]
    an_event_type = {"$ref": f"{place}event_type"}
    of_types = [{"$ref": f"{place}{key('type', event_type.name)}"} for event_type in catalog.event_types]
    rules = [*of_types, *_view_rules(catalog)]
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string", "minLength": 1, "maxLength": LONGEST_ID},
            "source": _OPTIONAL_TEXT,
            "time": {"anyOf": [{"$ref": f"{place}time"}, {"type": "null"}]},
            "contact": _OPTIONAL_TEXT,
            EVENT_TYPE: {"anyOf": [an_event_type, {"type": "array", "minItems": 1, "items": an_event_type}]},
            "attributes": {
                "type": ["object", "null"],
                "properties": {name: {"$ref": f"{place}{key('attribute', name)}"} for name in names},
                "additionalProperties": {"type": "null"},  # null means not bound, whatever the name
            },
        },
        "required": [EVENT_TYPE],
        "additionalProperties": False,
        **({"allOf": rules} if rules else {}),  # which must not be empty
    }


def _event_type(event_type: EventType) -> Schema:
    """What an event of this type must bind."""
    made: Schema = {"title": event_type.name}
    mandatory = [use.name for use in event_type.attributes if use.mandatory]
    if mandatory:
        bound = {"type": "object", "required": mandatory, "properties": dict.fromkeys(mandatory, _not_null())}
        made["if"] = {"required": [EVENT_TYPE], "properties": {EVENT_TYPE: has_type([event_type.name])}}
        made["then"] = {"required": ["attributes"], "properties": {"attributes": bound}}
    return made


def _view_rules(catalog: Catalog) -> list[Schema]:
    """For each attribute: which types an event has that binds it, and that binds it to several values."""
    having: dict[str, list[str]] = defaultdict(list)
    multiple: dict[str, list[str]] = defaultdict(list)
    for event_type in catalog.event_types:
        for use in event_type.attributes:
            having[use.name].append(event_type.name)
            if not use.unique:
                multiple[use.name].append(event_type.name)
    rules = []
    for attribute in catalog.attributes:
        name = attribute.name
        rules.append(_when(name, _not_null(), having[name]))
        domain = catalog.domain_of(name)
        assert domain is not None
        if domain.kind is not Kind.TIME:
            several: Schema = {"type": "array", "minItems": 2, "uniqueItems": True}
            if domain.kind is Kind.PLACE:
                several["items"] = {"type": "array"}  # one place is a list itself
            rules.append(_when(name, several, multiple[name]))
    return rules


def _when(attribute: str, value: Schema, needed: list[str]) -> Schema:
    """Where the attribute has such a value, the event has one of the types."""
    bound = {"type": "object", "required": [attribute], "properties": {attribute: value}}
    holds = {"required": ["attributes"], "properties": {"attributes": bound}}
    if not needed:
        return {"not": holds}
    return {"if": holds, "then": {"properties": {EVENT_TYPE: has_type(needed)}}}


def _attribute(domain: str) -> Schema:
    one = {"$ref": domain}
    return {"anyOf": [one, {"type": "array", "minItems": 1, "items": one}, {"type": "null"}]}


def _domain(domain: Domain) -> Schema:
    match domain.kind:
        case Kind.NUMERIC:
            return {"title": domain.name, "type": "number"}
        case Kind.TIME:
            return _time(domain.name)
        case Kind.ENUMERATED if domain.open:
            return {"title": domain.name, "type": "string", "examples": list(domain.values)}
        case Kind.ENUMERATED:
            return {"title": domain.name, **_words(domain.values)}
        case Kind.HIERARCHICAL:
            return {"title": domain.name, **_words(tuple(domain.hierarchy.all_spellings()))}
        case Kind.STRING | Kind.TEXT:
            return {"title": domain.name, "type": "string"}
        case Kind.DOCUMENT:
            comment = "An XML document, as text"
            return {"title": domain.name, "type": "string", "contentMediaType": "application/xml", "$comment": comment}
        case Kind.PLACE:
            pair: Schema = {"type": "array", "items": _DEGREES, "minItems": 2, "maxItems": 2}
            comment = "Latitude and longitude in degrees (WGS 84). The latitude is between -90 and 90."
            return {"title": domain.name, **pair, "$comment": comment}


def _time(name: str) -> Schema:
    comment = "ISO 8601, in UTC if it names no zone. RFC 3339 allows less, so there is no 'format'."
    return {"title": name or "time", "type": "string", "pattern": _DATE, "$comment": comment}


def _words(words: tuple[str, ...]) -> Schema:
    return {"enum": list(words)} if words else {"not": {}}


def _not_null() -> Schema:
    return {"not": {"type": "null"}}
