"""What an XML request asks for: an element tree in, a plain value out (thesis, chapter 5 and appendix C).

The daemon has validated the tree by its DTD, or wants to hear a better word than the DTD's for what is wrong; so
nothing is taken for granted here. Of what is asked nothing has been done yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from lxml import etree

from tidings.errors import shown
from tidings.events import Event, validate
from tidings.events.numerals import numeral
from tidings.events.validation import MOST_VALUES
from tidings.language import Filter
from tidings.language.composites import BoundComposite
from tidings.schema import Catalog, Instant, Kind
from tidings.schema.catalog import EVENT_TYPE
from tidings.schema.dtd import OPERATORS
from tidings.service.actions.times import read_future_time
from tidings.service.xml.filters import filter_text
from tidings.service.xml.growth import Growth, read_growth
from tidings.service.xml.validity import InvalidRequest, attribute_of

LARGEST_PAGE = 1_000
_PAGE = 100
_NO_TIME = Instant(0)  # when a profile is defined matters only to the composite that is kept
_NUMBER = re.compile("[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Publication:
    event: Event


@dataclass(frozen=True, slots=True)
class Posting:
    """A new subscription; its filter or composite as it was written."""

    filter: str
    expiry: Instant | None
    name: str = ""
    note: str = ""
    composite: str | None = None


@dataclass(frozen=True, slots=True)
class Removal:
    id: str


@dataclass(frozen=True, slots=True)
class SubscriptionList:
    after: str
    limit: int


@dataclass(frozen=True, slots=True)
class MatchedEvents:
    """Of one subscription, or of all that the caller has."""

    subscription: str | None
    after: int
    limit: int


Request = Growth | Publication | Posting | Removal | SubscriptionList | MatchedEvents


def read_request(root: etree._Element, catalog: Catalog, hints: bool = True, most_values: int = MOST_VALUES) -> Request:
    """Raises TidingsError: whatever can be wrong with it under this catalog. Events are checked by `validate`, which
    says what `hints` and `most_values` mean."""
    match str(root.tag):
        case "ADD_DOMAIN" | "ADD_ATTRIBUTE" | "EXTENT_SCHEMA" | "ADD_EVENT":
            return read_growth(root, catalog)
        case "PUBLISH_EVENT":
            return Publication(validate(_raw_event(root, catalog), catalog, hints=hints, most_values=most_values))
        case "PUBLISH_SUB":
            return _posting(root, catalog)
        case "DELETE_SUB":
            return Removal(attribute_of(root, "id"))
        case "LIST_SUBS":
            return SubscriptionList(root.get("after", ""), _limit(root))
        case _:
            return MatchedEvents(root.get("id"), _number(root, "after", 0), _limit(root))


def inline_as_text(root: etree._Element, catalog: Catalog) -> None:
    """Documents that stand as elements in an attribute become its text, as which the other forms have them."""
    if root.tag != "PUBLISH_EVENT" or not catalog.document_attributes:
        return
    for element in root.iterfind("ATTRIBUTES/ATTR"):
        if len(element) and element.get("type") in catalog.document_attributes:
            children: list[etree._Element] = list(element)
            stray = (element.text or "") + "".join(child.tail or "" for child in children)
            if len(children) != 1 or stray.strip():
                raise InvalidRequest("PUBLISH_EVENT", f"the attribute {element.get('type')!r} takes one document")
            element.text = etree.tostring(children[0], encoding="unicode", with_tail=False)
            element.remove(children[0])


def _raw_event(root: etree._Element, catalog: Catalog) -> dict[str, Any]:
    """As JSON would have it; a number is one where its attribute's domain is numeric."""
    raw: dict[str, Any] = {str(name): str(value) for name, value in root.items()}
    raw.pop("token", None)
    if "id" not in raw:
        raw["id"] = uuid4().hex
    raw[EVENT_TYPE] = [attribute_of(value, "type") for value in root.iterfind("EVENT_TYPE/VALUE")]
    bound: dict[str, Any] = {}
    for name, text in _texts(root):
        domain = catalog.domain_of(name)
        value = numeral(text) if domain is not None and domain.kind is Kind.NUMERIC else text
        if name not in bound:
            bound[name] = value
        elif isinstance(bound[name], list):
            bound[name].append(value)
        else:
            bound[name] = [bound[name], value]
    raw["attributes"] = bound
    return raw


def _posting(root: etree._Element, catalog: Catalog) -> Posting:
    written = root.get("expiry")
    expiry = None if written is None else read_future_time("expiry", written)
    named = root.get("name", ""), root.get("note", "")
    pattern = root.find("COMPOSITE")
    if pattern is not None:
        text = pattern.text or ""
        if "using" not in text.lower():  # else a profile is due, which the action knows
            BoundComposite.read(text, catalog, _NO_TIME)
        return Posting("", expiry, *named, text)
    own = root.find("FILTER")
    if own is not None:
        text = own.text or ""
    else:
        operators = tuple(name for name in OPERATORS if name != "similar")
        event_types = [attribute_of(value, "type") for value in root.iterfind("EVENT_TYPE/VALUE")]
        tests = [
            (attribute_of(element, "type"), attribute_of(element, "oper", operators), element.text or "")
            for element in root.iterfind("ATTRIBUTES/ATTR")
        ]
        if not event_types and not tests:
            what = "an event type, an attribute, a <FILTER> or a <COMPOSITE>"
            raise InvalidRequest("PUBLISH_SUB", f"it has no filter: give {what}")
        text = filter_text(event_types, tests, catalog)
    Filter.parse(text, catalog)  # an attribute may be newer than this catalog: then it is read once more
    return Posting(text, expiry, *named)


def _texts(root: etree._Element) -> Iterator[tuple[str, str]]:
    for element in root.iterfind("ATTRIBUTES/ATTR"):
        yield attribute_of(element, "type"), element.text or ""


def _limit(root: etree._Element) -> int:
    limit = _number(root, "limit", _PAGE)
    if not 1 <= limit <= LARGEST_PAGE:
        raise InvalidRequest(str(root.tag), f"its limit must be from 1 to {LARGEST_PAGE:,}, got {limit:,}")
    return limit


def _number(root: etree._Element, name: str, absent: int) -> int:
    written = root.get(name, str(absent))
    if not _NUMBER.fullmatch(written):
        raise InvalidRequest(str(root.tag), f"{name!r} must be a number, got {shown(written)}")
    return int(written)
