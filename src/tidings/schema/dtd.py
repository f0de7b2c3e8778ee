"""The document type definitions of the XML requests, made from the catalog (thesis 5.2.2, figure 5.4, appendix C).

The XML daemon validates requests by them and HTTP serves them under /dtds/. Where a name is due, the names of the
schema are enumerated; so they change with each growth. A DTD can enumerate only what XML calls an NMTOKEN: where some
name is none, the attribute is CDATA and only the daemon's own checks know the names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tidings.schema.catalog import RESERVED, Catalog
from tidings.schema.domain import LANGUAGES, Kind

# The file of each request's DTD.
FILES = {
    "ADD_DOMAIN": "add_dom.dtd",
    "ADD_ATTRIBUTE": "add_attr.dtd",
    "EXTENT_SCHEMA": "ext_scm.dtd",
    "ADD_EVENT": "add_event.dtd",
    "PUBLISH_EVENT": "pub_event.dtd",
    "PUBLISH_SUB": "pub_sub.dtd",
    "DELETE_SUB": "del_sub.dtd",
    "LIST_SUBS": "list_subs.dtd",
    "LIST_EVENTS": "list_events.dtd",
}
# What requests and the schema's XML form call the operators and the kinds of domains.
OPERATORS = {
    "eq": "=",
    "noteq": "!=",
    "gt": ">",
    "lt": "<",
    "gteq": ">=",
    "lteq": "<=",
    "contains": "contains",
    "starts": "starts",
    "ends": "ends",
    "like": "like",
    "similar": "~",
    "near": "near",
    "inside": "inside",
    "xpath": "xpath",
}
TYPES = {("enum" if kind is Kind.ENUMERATED else str(kind)): kind for kind in Kind}
FLAGS = ("true", "false")

_NAME_CHARACTER = (
    r"[-.:_A-Za-z0-9\u00b7\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u037d\u037f-\u1fff\u200c\u200d\u203f\u2040"
    r"\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff]"
)
_NMTOKEN = re.compile(f"{_NAME_CHARACTER}+")
_LINE = 100  # characters

_kept: tuple[Catalog, dict[str, str]] | None = None  # the newest, replaced as a whole


def dtds(catalog: Catalog) -> dict[str, str]:
    """All of them, by the name of the file."""
    global _kept
    kept = _kept
    if kept is None or kept[0] is not catalog:
        kept = _kept = (catalog, {file: dtd(catalog, request) for request, file in FILES.items()})
    return kept[1]


def dtd(catalog: Catalog, request: str, most_listed: int | None = None) -> str:
    """The one of a request. Longer enumerations than `most_listed` become CDATA: a validator reads them one by one."""
    heading = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- {request}, for the schema at version {catalog.version} -->\n'
    )
    return heading + _BODIES[request](_Names(catalog, most_listed))


class _Names:
    """The types of attributes that hold names of the schema."""

    def __init__(self, catalog: Catalog, most_listed: int | None) -> None:
        self._most = most_listed
        self._catalog = catalog

    def event_types(self) -> str:
        return self._one_of("event types", self._catalog.event_type_names)

    def attributes(self, *more: str) -> str:
        return self._one_of("attributes", (*(attribute.name for attribute in self._catalog.attributes), *more))

    def domains(self) -> str:
        """By number, in the order of creation, or by name; a name wins where both could be meant."""
        names = [domain.name for domain in self._catalog.domains]
        return self._one_of("domains", dict.fromkeys([*map(str, range(1, len(names) + 1)), *names]))

    def _one_of(self, what: str, names: Iterable[str]) -> str:
        listed = list(names)
        if not listed:
            return _noted(f"there are no {what} yet")
        if self._most is not None and len(listed) > self._most:
            return _noted(f"there are too many {what} to list them")
        if not all(map(_NMTOKEN.fullmatch, listed)):
            return _noted(f"not all names of {what} can be listed in a DTD")
        return _choice(listed)


class _Cdata(str):
    """CDATA, with the reason why it is no enumeration."""

    why = ""


def _noted(why: str) -> str:
    made = _Cdata("CDATA")
    made.why = why
    return made


def _choice(words: Iterable[str]) -> str:
    lines = ["("]
    for number, word in enumerate(words):
        piece = f" {word}" if number == 0 else f" | {word}"
        if len(lines[-1]) + len(piece) > _LINE:
            lines.append("   ")
        lines[-1] += piece
    return "\n".join(lines) + " )"


def _attribute(element: str, name: str, type_: str, default: str = "#IMPLIED") -> str:
    comment = f"  <!-- {type_.why}, so any text is valid here -->\n" if isinstance(type_, _Cdata) else ""
    return f"{comment}  <!ATTLIST {element} {name} {type_} {default}>\n"


def _request(name: str, content: str, *optional: str, required: tuple[str, ...] = ()) -> str:
    made = f"<!ELEMENT {name} {content}>\n"
    for attribute in required:
        made += _attribute(name, attribute, "CDATA", "#REQUIRED")
    for attribute in (*optional, "token"):
        made += _attribute(name, attribute, "CDATA")
    return made


def _add_domain(names: _Names) -> str:
    return (
        _request("ADD_DOMAIN", "( DOMAIN )")
        + "<!ELEMENT DOMAIN ( OPER* , ( VALUE+ | NODE+ | ( NAMESPACE* , GRAMMAR? ) ) )>\n"
        + _attribute("DOMAIN", "type", _choice(TYPES), "#REQUIRED")
        + _attribute("DOMAIN", "attr", "CDATA", '""')
        + _attribute("DOMAIN", "name", "CDATA")
        + _attribute("DOMAIN", "ordered", _choice(FLAGS))
        + _attribute("DOMAIN", "open", _choice(FLAGS))
        + _attribute("DOMAIN", "language", _choice(LANGUAGES))
        + _attribute("DOMAIN", "root", "CDATA")
        + "<!ELEMENT OPER EMPTY>\n"
        + _attribute("OPER", "type", _choice(OPERATORS), "#REQUIRED")
        + "<!ELEMENT VALUE (#PCDATA)>\n"
        + "<!ELEMENT NODE ( NODE* )>\n"
        + _attribute("NODE", "name", "CDATA", "#REQUIRED")
        + "<!ELEMENT NAMESPACE EMPTY>\n"
        + _attribute("NAMESPACE", "prefix", "CDATA", "#REQUIRED")
        + _attribute("NAMESPACE", "uri", "CDATA", "#REQUIRED")
        + "<!ELEMENT GRAMMAR (#PCDATA)>\n"
        + _attribute("GRAMMAR", "type", _choice(("dtd", "xsd")), "#REQUIRED")
    )


def _add_attribute(names: _Names) -> str:
    return (
        _request("ADD_ATTRIBUTE", "( ATTR_DOM )")
        + "<!ELEMENT ATTR_DOM EMPTY>\n"
        + _attribute("ATTR_DOM", "name", "CDATA", "#REQUIRED")
        + _attribute("ATTR_DOM", "type", names.domains(), "#REQUIRED")
    )


def _extend(names: _Names) -> str:
    return (
        _request("EXTENT_SCHEMA", "( E_ATTR+ )")
        + _attribute("EXTENT_SCHEMA", "type", names.event_types(), "#REQUIRED")
        + _use(names, "#IMPLIED")
    )


def _add_event(names: _Names) -> str:
    return (
        _request("ADD_EVENT", "( E_TYPE )")
        + "<!ELEMENT E_TYPE ( E_ATTR* )>\n"
        + _attribute("E_TYPE", "type", "CDATA", "#REQUIRED")
        + _use(names, "#REQUIRED")
    )


def _use(names: _Names, mandatory: str) -> str:
    return (
        "<!ELEMENT E_ATTR EMPTY>\n"
        + _attribute("E_ATTR", "mandatory", _choice(FLAGS), mandatory)
        + _attribute("E_ATTR", "unique", _choice(FLAGS), "#REQUIRED")
        + _attribute("E_ATTR", "domid", names.domains())
        + _attribute("E_ATTR", "type", names.attributes(), "#REQUIRED")
    )


def _publish_event(names: _Names) -> str:
    return (
        _request("PUBLISH_EVENT", "( EVENT_TYPE , ATTRIBUTES )", "contact", "id", "source", "time")
        + "<!ELEMENT EVENT_TYPE ( VALUE+ )>\n<!ELEMENT VALUE EMPTY>\n"
        + _attribute("VALUE", "type", names.event_types(), "#REQUIRED")
        + "<!ELEMENT ATTRIBUTES ( ATTR* )>\n<!ELEMENT ATTR (#PCDATA)>\n"
        + _attribute("ATTR", "type", names.attributes(), "#REQUIRED")
    )


def _publish_sub(names: _Names) -> str:
    operators = [name for name in OPERATORS if name != "similar"]  # no filter can ask for it yet
    return (
        _request(
            "PUBLISH_SUB",
            "( ( EVENT_TYPE , ATTRIBUTES? ) | ATTRIBUTES | FILTER | COMPOSITE )",
            "expiry",
            "name",
            "note",
            required=("username",),
        )
        + "<!ELEMENT EVENT_TYPE ( VALUE+ )>\n<!ELEMENT VALUE EMPTY>\n"
        + _attribute("VALUE", "type", names.event_types(), "#REQUIRED")
        + _attribute("VALUE", "oper", _choice(("contains",)), '"contains"')
        + "<!ELEMENT ATTRIBUTES ( ATTR* )>\n<!ELEMENT ATTR (#PCDATA)>\n"
        + _attribute("ATTR", "type", names.attributes(*RESERVED), "#REQUIRED")
        + _attribute("ATTR", "oper", _choice(operators), "#REQUIRED")
        + "<!ELEMENT FILTER (#PCDATA)>\n<!ELEMENT COMPOSITE (#PCDATA)>\n"
    )


_BODIES: dict[str, Callable[[_Names], str]] = {
    "ADD_DOMAIN": _add_domain,
    "ADD_ATTRIBUTE": _add_attribute,
    "EXTENT_SCHEMA": _extend,
    "ADD_EVENT": _add_event,
    "PUBLISH_EVENT": _publish_event,
    "PUBLISH_SUB": _publish_sub,
    "DELETE_SUB": lambda names: _request("DELETE_SUB", "EMPTY", "username", required=("id",)),
    "LIST_SUBS": lambda names: _request("LIST_SUBS", "EMPTY", "username", "after", "limit"),
    "LIST_EVENTS": lambda names: _request("LIST_EVENTS", "EMPTY", "username", "id", "after", "limit"),
}
