"""The four requests by which the schema grows: an element tree in, changes out (thesis 5.3.1, appendix C)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind
from tidings.schema.catalog import UnknownName
from tidings.schema.dtd import FLAGS, OPERATORS, TYPES
from tidings.schema.growth import Change, CreateAttribute, CreateDomain, CreateEventType, ExtendEventType, grow
from tidings.schema.hierarchy import Hierarchy
from tidings.schema.xml_form import document_rules_of, hierarchy_of
from tidings.service.xml.validity import InvalidRequest, attribute_of, request_of

_BLANKS = " \t\r\n"
_NUMBER = re.compile("[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Growth:
    """All of the changes or none, except in a network (`actions.schema.grow`). `created` is the name of what is made,
    where the request need not say it."""

    changes: tuple[Change, ...]
    created: str = ""
    numbered: bool = False  # it got a number for a name, because the request has none


def read_growth(root: etree._Element, catalog: Catalog) -> Growth:
    """Raises SchemaError or InvalidRequest: whatever is wrong with it under this catalog."""
    growth = _growth(root, catalog)
    for change in growth.changes:
        catalog = grow(catalog, change)
    return growth


def _growth(root: etree._Element, catalog: Catalog) -> Growth:
    match str(root.tag):
        case "ADD_DOMAIN":
            return _add_domain(root, catalog)
        case "ADD_ATTRIBUTE":
            element = _only(root, "ATTR_DOM")
            name, domain = attribute_of(element, "name"), attribute_of(element, "type")
            attribute = Attribute(name, _domain_name(domain, catalog, f"attribute {name!r}"))
            return Growth((CreateAttribute(attribute),))
        case "EXTENT_SCHEMA":
            event_type = attribute_of(root, "type")
            uses = [_use(element, catalog, extending=True) for element in root.iterfind("E_ATTR")]
            if not uses:
                raise InvalidRequest("EXTENT_SCHEMA", "it has no <E_ATTR>")
            return Growth(tuple(ExtendEventType(event_type, use) for use in uses))
        case _:
            element = _only(root, "E_TYPE")
            name = attribute_of(element, "type")
            uses = [_use(use, catalog, extending=False) for use in element.iterfind("E_ATTR")]
            return Growth((CreateEventType(EventType(name, tuple(uses))),))


def _add_domain(root: etree._Element, catalog: Catalog) -> Growth:
    element = _only(root, "DOMAIN")
    kind = TYPES[attribute_of(element, "type", tuple(TYPES))]
    operators = tuple(OPERATORS[attribute_of(one, "type", tuple(OPERATORS))] for one in element.iterfind("OPER"))
    listed = [value for part in element.get("attr", "").split(",") if (value := part.strip(_BLANKS))]
    values = [value.text or "" for value in element.iterfind("VALUE")]
    if listed and values:
        raise InvalidRequest("ADD_DOMAIN", "give the values either in 'attr' or as <VALUE> elements, not in both")
    name = element.get("name")
    domain = Domain(
        _next_number(catalog) if name is None else name,
        kind,
        operators or None,
        tuple(listed or values),
        "ordered" in element.attrib and _flag(element, "ordered"),
        _hierarchy(element) if kind is Kind.HIERARCHICAL or element.find("NODE") is not None else Hierarchy(),
        "open" in element.attrib and _flag(element, "open"),
        document=document_rules_of(element),
    )
    return Growth((CreateDomain(domain),), domain.name, name is None)


def _next_number(catalog: Catalog) -> str:
    """The thesis's oid: as the domain will be counted, or the first after it that is nobody's name."""
    number = len(catalog.domains) + 1
    while catalog.domain(str(number)) is not None:
        number += 1
    return str(number)


def _hierarchy(element: etree._Element) -> Hierarchy:
    for node in element.iter("NODE"):
        attribute_of(node, "name")
    return hierarchy_of(element)


def _domain_name(written: str, catalog: Catalog, where: str) -> str:
    """By name, or by number in the order of creation."""
    if catalog.domain(written) is not None:
        return written
    if _NUMBER.fullmatch(written) and 1 <= int(written) <= len(catalog.domains):
        return catalog.domains[int(written) - 1].name
    raise UnknownName("domain", written, where, tuple(domain.name for domain in catalog.domains))


def _use(element: etree._Element, catalog: Catalog, extending: bool) -> AttributeUse:
    """Extending, `mandatory` may be left out, since it could only be false."""
    name = attribute_of(element, "type")
    if "domid" in element.attrib and (domain := catalog.domain_of(name)) is not None:
        named = _domain_name(attribute_of(element, "domid"), catalog, f"attribute {name!r}")
        if named != domain.name:
            problem = f"attribute {name!r} has the domain {domain.name!r}, and domid means {named!r}"
            raise InvalidRequest(request_of(element), problem)
    optional = extending and "mandatory" not in element.attrib
    return AttributeUse(name, not optional and _flag(element, "mandatory"), _flag(element, "unique"))


def _only(root: etree._Element, name: str) -> etree._Element:
    found = root.findall(name)
    if len(found) != 1:
        raise InvalidRequest(str(root.tag), f"it has {len(found) or 'no'} elements <{name}>, and needs one")
    return found[0]


def _flag(element: etree._Element, name: str) -> bool:
    return attribute_of(element, name, FLAGS) == "true"
