"""The tables of the XML requests, from the daemon's own."""

from __future__ import annotations

from generated.part import table
from tidings.schema import Catalog
from tidings.schema.dtd import OPERATORS, dtds
from tidings.service.door.scopes import XML

_TOLD = {
    "ADD_DOMAIN": "a new domain",
    "ADD_ATTRIBUTE": "a new attribute over a domain",
    "EXTENT_SCHEMA": "further attributes for an event type; they are optional",
    "ADD_EVENT": "a new event type",
    "PUBLISH_EVENT": "publish an event",
    "PUBLISH_SUB": "subscribe: the thesis's elements, a `FILTER` element with our language, or a `COMPOSITE` element",
    "DELETE_SUB": "withdraw a subscription, by `id`",
    "LIST_SUBS": "your subscriptions, with `after` and `limit`",
    "LIST_EVENTS": "what matched one of your subscriptions (`id`), or all of them; with `after` and `limit`",
}


def requests() -> str:
    files = {name: file for file, text in dtds(Catalog()).items() for name in XML if f"<!ELEMENT {name} " in text}
    rows = [(f"`{name}`", f"`{scope}`", _TOLD[name], f"`/dtds/{files[name]}`") for name, scope in XML.items()]
    return table(["request", "scope", "what it does", "DTD"], rows)


def operators() -> str:
    return table(["`oper`", "in a filter"], [(f"`{name}`", f"`{sign}`") for name, sign in OPERATORS.items()])
