"""By which growth rules a schema comes to have what a feed wants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tidings.feeds.errors import NoValues, SchemaClash
from tidings.feeds.mapping.mapping import Mapping
from tidings.schema import AttributeUse, Catalog, Domain, Kind
from tidings.schema.growth import (
    AppendNode,
    AppendValue,
    Change,
    CreateAttribute,
    CreateDomain,
    CreateEventType,
    ExtendEventType,
)

_TEXTS = (Kind.STRING, Kind.TEXT, Kind.ENUMERATED, Kind.HIERARCHICAL)


def changes(wanted: Catalog, there: Catalog) -> list[Change]:
    """What is not there yet, in an order in which it can be made; raises SchemaClash.

    An attribute that is there keeps its domain, and gets the values that are new; one with a kind that reads
    otherwise is a clash. An event type that is there is extended by optional attributes.
    """
    needed: dict[str, None] = {}
    attributes: list[Change] = []
    appended: list[Change] = []
    for attribute in wanted.attributes:
        domain = wanted.domain(attribute.domain)
        assert domain is not None
        known = there.domain_of(attribute.name)
        if known is None:
            needed[domain.name] = None
            attributes.append(CreateAttribute(attribute))
        else:
            if known.kind is not domain.kind and not (known.kind in _TEXTS and domain.kind in _TEXTS):
                raise SchemaClash(f"attribute {attribute.name!r}", str(known.kind), str(domain.kind))
            appended += _missing_values(domain, known)
    domains: list[Change] = []
    for name in needed:
        domain, known = wanted.domain(name), there.domain(name)
        assert domain is not None
        if known is None:
            domains.append(CreateDomain(domain))
        elif known.kind is not domain.kind:
            raise SchemaClash(f"domain {name!r}", str(known.kind), str(domain.kind))
        else:
            appended += _missing_values(domain, known)
    return [*domains, *dict.fromkeys(appended), *attributes, *_event_types(wanted, there)]


def check_values(mapping: Mapping, changes: Iterable[Change]) -> None:
    """Raises NoValues where a listed domain would be created that neither has a value nor gets any by this mapping."""
    growing = {one.domain or one.attribute for one in mapping.fields if one.grow}
    for change in changes:
        if isinstance(change, CreateDomain):
            domain = change.domain
            if domain.kind.listed and not (domain.open or domain.vocabulary or domain.name in growing):
                raise NoValues(domain.name)


def _missing_values(wanted: Domain, there: Domain) -> Iterator[Change]:
    if there.kind is Kind.ENUMERATED:
        for value in wanted.vocabulary:
            if not there.names(value):
                yield AppendValue(there.name, value)
    elif there.kind is Kind.HIERARCHICAL and wanted.kind.listed:
        tree = wanted.hierarchy
        for number, value in enumerate(wanted.vocabulary):
            if not there.names(value):
                above = tree.parents[number] if tree.nodes else -1
                name = tree.names[number] if tree.nodes else value
                yield AppendNode(there.name, name, None if above < 0 else tree.nodes[above])


def _event_types(wanted: Catalog, there: Catalog) -> Iterator[Change]:
    """An attribute that another of the wanted types has already at the server need not be in each of them."""
    known = {
        name for one in wanted.event_types if (found := there.event_type(one.name)) for name in _names(found.attributes)
    }
    first = True
    for event_type in wanted.event_types:
        found = there.event_type(event_type.name)
        if found is None:
            yield CreateEventType(event_type)
        elif first and all(there.event_type(one.name) for one in wanted.event_types):
            for use in event_type.attributes:
                if use.name not in known:
                    yield ExtendEventType(event_type.name, replace(use, mandatory=False))
        first = False


def _names(uses: tuple[AttributeUse, ...]) -> tuple[str, ...]:
    return tuple(use.name for use in uses)
