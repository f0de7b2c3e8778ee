"""Changes to a schema from plain arguments; what a domain cannot be is refused before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from tidings.schema import Attribute, AttributeUse, json_form
from tidings.schema.growth import (
    AppendNode,
    AppendValue,
    CreateAttribute,
    CreateDomain,
    CreateEventType,
    ExtendEventType,
    SetHeadline,
)

Use: TypeAlias = str | Mapping[str, Any] | AttributeUse


def domain(
    name: str,
    kind: str,
    operators: Iterable[str] | None,
    values: Iterable[str],
    ordered: bool,
    tree: Mapping[str, Any] | None,
) -> CreateDomain:
    """Raises SchemaError."""
    raw: dict[str, Any] = {"name": name, "kind": kind}
    raw |= {} if operators is None else {"operators": list(operators)}
    raw |= {"values": listed} if (listed := list(values)) else {}
    raw |= {"ordered": True} if ordered else {}
    raw |= {} if tree is None else {"tree": tree}
    return CreateDomain(json_form.read_domain(raw))


def attribute(name: str, domain: str) -> CreateAttribute:
    return CreateAttribute(Attribute(name, domain))


def event_type(name: str, attributes: Iterable[Use], headline: str = "") -> CreateEventType:
    """Raises SchemaError. A name alone is a mandatory attribute with one value."""
    uses = [json_form.write_use(use) if isinstance(use, AttributeUse) else use for use in attributes]
    raw = [{"name": use} if isinstance(use, str) else dict(use) for use in uses]
    shown = {"headline": headline} if headline else {}
    return CreateEventType(json_form.read_event_type({"name": name, "attributes": raw} | shown))


def extension(name: str, attribute: str, unique: bool) -> ExtendEventType:
    return ExtendEventType(name, AttributeUse(attribute, mandatory=False, unique=unique))


def headline(event_type: str, attribute: str) -> SetHeadline:
    return SetHeadline(event_type, attribute)


def value(domain: str, new: str) -> AppendValue:
    return AppendValue(domain, new)


def node(domain: str, new: str, parent: str | None) -> AppendNode:
    return AppendNode(domain, new, parent)
