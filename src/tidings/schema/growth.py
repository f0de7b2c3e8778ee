"""The rules by which a schema may grow. Nothing is ever removed or narrowed, so what was valid stays so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from tidings.errors import SchemaError
from tidings.schema.catalog import (
    EVENT_TYPE,
    Attribute,
    AttributeUse,
    Catalog,
    EventType,
    NameTaken,
    UnknownName,
    check_name,
)
from tidings.schema.domain import Domain, Kind
from tidings.schema.statistics import Statistics


@dataclass(frozen=True, slots=True)
class CreateDomain:
    domain: Domain


@dataclass(frozen=True, slots=True)
class CreateAttribute:
    attribute: Attribute


@dataclass(frozen=True, slots=True)
class CreateEventType:
    event_type: EventType


@dataclass(frozen=True, slots=True)
class ExtendEventType:
    event_type: str
    attribute: AttributeUse


@dataclass(frozen=True, slots=True)
class AppendValue:
    """One value more in an enumeration; where it has an order, the new value is the greatest."""

    domain: str
    value: str


@dataclass(frozen=True, slots=True)
class AppendNode:
    """One node more in a hierarchy, below `parent` or as a new root."""

    domain: str
    node: str
    parent: str | None


@dataclass(frozen=True, slots=True)
class SetHeadline:
    """The attribute of an event type that says what an event is about; it may be set again."""

    event_type: str
    attribute: str


@dataclass(frozen=True, slots=True)
class SetStatistics:
    """How often terms occur in the texts of an attribute, from here on; those of before still weigh earlier events."""

    statistics: Statistics


Change = (
    CreateDomain
    | CreateAttribute
    | CreateEventType
    | ExtendEventType
    | AppendValue
    | AppendNode
    | SetHeadline
    | SetStatistics
)


class MandatoryExtension(SchemaError):
    event_type: str
    attribute: str
    template = (
        "event type {event_type!r} can only be extended by optional attributes: "
        "a mandatory {attribute!r} would refuse events that are valid today"
    )


class WrongKind(SchemaError):
    domain: str
    kind: str
    needed: str
    what: str
    template = "{what} can only be appended to {needed} domains; {domain!r} is {kind}"


class UncountedKind(SchemaError):
    attribute: str
    kind: str
    template = "statistics count the words of a text attribute; {attribute!r} is {kind}"


def grow(catalog: Catalog, change: Change) -> Catalog:
    """The next version of the catalog; raises SchemaError where the change breaks a rule."""
    next_version = catalog.version + 1
    match change:
        case CreateDomain(domain):
            check_name("a domain", domain.name)
            _refuse_taken("domain", domain.name, tuple(d.name for d in catalog.domains))
            return replace(catalog, domains=(*catalog.domains, domain), version=next_version)
        case CreateAttribute(attribute):
            check_name("an attribute", attribute.name)
            _refuse_taken("attribute", attribute.name, tuple(a.name for a in catalog.attributes))
            _domain(catalog, attribute.domain, f"attribute {attribute.name!r}")
            return replace(catalog, attributes=(*catalog.attributes, attribute), version=next_version)
        case CreateEventType(event_type):
            check_name("an event type", event_type.name)
            _refuse_taken("event type", event_type.name, catalog.event_type_names)
            for use in event_type.attributes:
                _refuse_unknown_attribute(catalog, use.name, f"event type {event_type.name!r}")
            _refuse_foreign_headline(event_type)
            return replace(catalog, event_types=(*catalog.event_types, event_type), version=next_version)
        case ExtendEventType(name, use):
            return replace(catalog, event_types=_extended(catalog, name, use), version=next_version)
        case AppendValue(name, value):
            domain = _domain(catalog, name, f"value {value!r}")
            if domain.kind is not Kind.ENUMERATED:
                raise WrongKind(name, domain.kind, Kind.ENUMERATED, "a value")
            _refuse_taken(f"domain {name!r}: value", value, domain.values)
            return _with_domain(catalog, replace(domain, values=(*domain.values, value)))
        case AppendNode(name, node, parent):
            domain = _domain(catalog, name, f"node {node!r}")
            if domain.kind is not Kind.HIERARCHICAL:
                raise WrongKind(name, domain.kind, Kind.HIERARCHICAL, "a node")
            return _with_domain(catalog, replace(domain, hierarchy=domain.hierarchy.append(node, parent)))
        case SetHeadline(name, attribute):
            found = _event_type(catalog, name, "headline")
            _refuse_taken(f"event type {name!r}: headline", attribute, (found.headline,))
            event_type = replace(found, headline=attribute)
            _refuse_foreign_headline(event_type)
            return replace(catalog, event_types=_with_type(catalog, event_type), version=next_version)
        case SetStatistics(statistics):
            return replace(catalog, statistics=_with_statistics(catalog, statistics), version=next_version)
        case _:
            assert_never(change)


def changes_to_make(catalog: Catalog) -> list[Change]:
    """The changes by which an empty schema becomes this one: what others name comes before them."""
    domains = [CreateDomain(domain) for domain in catalog.domains]
    attributes = [CreateAttribute(attribute) for attribute in catalog.attributes]
    event_types = [CreateEventType(event_type) for event_type in catalog.event_types]
    return [*domains, *attributes, *event_types, *(SetStatistics(one) for one in catalog.statistics)]


def _with_statistics(catalog: Catalog, counted: Statistics) -> tuple[Statistics, ...]:
    """In place of those that began at the same position."""
    _refuse_unknown_attribute(catalog, counted.attribute, "statistics")
    domain = catalog.domain_of(counted.attribute)
    if domain is None or domain.kind is not Kind.TEXT:
        raise UncountedKind(counted.attribute, "unknown" if domain is None else domain.kind)
    replaced = counted.attribute, counted.since
    return (*(one for one in catalog.statistics if (one.attribute, one.since) != replaced), counted)


def _extended(catalog: Catalog, name: str, use: AttributeUse) -> tuple[EventType, ...]:
    event_type = _event_type(catalog, name, "extend")
    _refuse_unknown_attribute(catalog, use.name, f"event type {name!r}")
    _refuse_taken(f"event type {name!r}: attribute", use.name, tuple(u.name for u in event_type.attributes))
    if use.mandatory:
        raise MandatoryExtension(name, use.name)
    return _with_type(catalog, replace(event_type, attributes=(*event_type.attributes, use)))


def _with_type(catalog: Catalog, changed: EventType) -> tuple[EventType, ...]:
    return tuple(changed if one.name == changed.name else one for one in catalog.event_types)


def _with_domain(catalog: Catalog, wider: Domain) -> Catalog:
    domains = tuple(wider if domain.name == wider.name else domain for domain in catalog.domains)
    return replace(catalog, domains=domains, version=catalog.version + 1)


def _domain(catalog: Catalog, name: str, where: str) -> Domain:
    domain = catalog.domain(name)
    if domain is None:
        raise UnknownName("domain", name, where, tuple(d.name for d in catalog.domains))
    return domain


def _event_type(catalog: Catalog, name: str, where: str) -> EventType:
    event_type = catalog.event_type(name)
    if event_type is None:
        raise UnknownName("event type", name, where, catalog.event_type_names)
    return event_type


def _refuse_foreign_headline(event_type: EventType) -> None:
    names = tuple(use.name for use in event_type.attributes)
    if event_type.headline and event_type.headline not in names:
        raise UnknownName("attribute", event_type.headline, f"event type {event_type.name!r}: headline", names)


def _refuse_taken(what: str, name: str, taken: tuple[str, ...]) -> None:
    if name in taken:
        raise NameTaken(what, name)


def _refuse_unknown_attribute(catalog: Catalog, name: str, where: str) -> None:
    known = tuple(attribute.name for attribute in catalog.attributes)
    if name not in known or name == EVENT_TYPE:
        raise UnknownName("attribute", name, where, known)
