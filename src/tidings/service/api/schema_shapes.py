"""The schema and its steps of growth as requests and answers have them.

Pieces of a schema are read by `tidings.schema.json_form`, so these are JSON schemas of what it accepts, not shapes.
"""

from __future__ import annotations

from typing import Any

from tidings.schema.domain import Kind
from tidings.service.api.shapes import Shape

_NAME = {"type": "string", "minLength": 1, "maxLength": 200}
_FLAG = {"type": "boolean"}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_KINDS = [str(kind) for kind in Kind]
_OPERATORS = list(dict.fromkeys(operator for kind in Kind for operator in kind.operators))


def _object(title: str, required: list[str], **members: Any) -> dict[str, Any]:
    described = {"type": "object", "properties": members, "required": required, "additionalProperties": False}
    return {"title": title, **described}


_TREE = {"type": "object", "description": "Maps the name of each node to the object of its children"}
DOMAIN = _object(
    "Domain",
    ["name", "kind"],
    name=_NAME,
    kind={"type": "string", "enum": _KINDS},
    operators={"type": ["array", "null"], "items": {"type": "string", "examples": _OPERATORS}},
    values=_TEXTS,
    ordered=_FLAG,
    open=_FLAG,
    language={
        "type": ["string", "null"],
        "examples": ["english"],
        "description": "Of a text: whose stems are compared",
    },
    tree=_TREE,
    grammar={
        "type": ["object", "null"],
        "properties": {"dtd": {"type": "string"}, "xsd": {"type": "string"}},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
        "description": "Of a document: its grammar, whole, as one text",
    },
    root={"type": ["string", "null"], "description": "Of a document: its root element"},
    namespaces={
        "type": ["object", "null"],
        "additionalProperties": {"type": "string"},
        "description": "Of a document: the namespace of each prefix; of the empty one, that of names without prefix",
    },
)
ATTRIBUTE = _object("Attribute", ["name", "domain"], name=_NAME, domain=_NAME)
USE = _object("AttributeUse", ["name"], name=_NAME, mandatory=_FLAG, unique=_FLAG)
EVENT_TYPE = _object("EventType", ["name"], name=_NAME, attributes={"type": "array", "items": USE}, headline=_NAME)
VALUE = _object("DomainValue", ["value"], value={"type": "string"})
NODE = _object("HierarchyNode", ["node"], node={"type": "string"}, parent={"type": ["string", "null"]})
SCHEMA = _object(
    "Schema",
    ["version", "domains", "attributes", "event_types"],
    version={"type": "integer"},
    domains={"type": "array", "items": DOMAIN},
    attributes={"type": "array", "items": ATTRIBUTE},
    event_types={"type": "array", "items": EVENT_TYPE},
)


class HeadlineGiven(Shape, frozen=True):
    attribute: str


class Grown(Shape, frozen=True):
    version: int
    position: int


class Change(Shape, frozen=True):
    position: int
    accepted: str
    version: int
    change: dict[str, Any]


class History(Shape, frozen=True):
    items: list[Change]
    next: str | None
