"""What the XML daemon answers: one element a request, on a line of its own.

    <OK request="PUBLISH_EVENT" position="17" id="e1" duplicate="false"/>
    <ERROR request="EXTENT_SCHEMA" name="NoSuchAttribute" type="/problems/unknown-name">…</ERROR>
    <USER_LOG request="LIST_EVENTS" next="42"><USER username="sbile"><SUBSCRIPTIONS>…</SUBSCRIPTIONS></USER></USER_LOG>

Line breaks inside are written as references, so that a line is always a whole answer. Lists have the shape of the
thesis's log file (appendix B), without the password. What XML cannot hold is answered as U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tidings.errors import Explained, LanguageError, ServiceError, TidingsError
from tidings.events import RefusedEvent
from tidings.language.errors import UnknownAttribute
from tidings.schema import Instant
from tidings.schema.catalog import EVENT_TYPE, NameTaken, UnknownName
from tidings.service.api.problems import problem_of
from tidings.service.xml.filters import tests_of
from tidings.service.xml.framing import MalformedRequest
from tidings.store import (
    NoSuchSubscription,
    Standing,
    StoreFailed,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreUnreachable,
)
from tidings.store.journal.entries import Detection

# The thesis's names for errors, and ours; of some, their first part must end so. All others have our own name.
ERROR_NAMES: tuple[tuple[str, type[TidingsError], str], ...] = (
    ("SameAttributeInSchema", NameTaken, "attribute"),
    ("SameEventInSchema", NameTaken, "event type"),
    ("NoSuchAttribute", UnknownName, "attribute"),
    ("NoSuchAttribute", UnknownAttribute, ""),
    ("EventTypeNotFound", UnknownName, "event type"),
    ("NoSuchSubscription", NoSuchSubscription, ""),
    ("LogFile", StoreFailed, ""),
    ("LogFile", StoreFull, ""),
    ("LogFile", StoreLocked, ""),
    ("LogFile", StoreReadOnly, ""),
    ("LogFile", StoreUnreachable, ""),
)
_MOST_BROKEN = 100  # rules listed in an answer
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPECIAL = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)
_PLAIN = re.compile(r"[A-Za-z0-9 _.:;,'()/+*=@#!?|-]*")


class NoSuchUser(Explained, ServiceError):
    """The username of a request and its token do not belong together."""

    username: str
    template = "no user {username!v} with this token; log in again, or check the name"


def escaped(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return _NOT_XML.sub("\ufffd", text).translate(_SPECIAL)


def element(name: str, members: Mapping[str, object], content: str = "") -> str:
    """Members that are None are left out. The content is XML already."""
    written = "".join(f' {key}="{escaped(_text(value))}"' for key, value in members.items() if value is not None)
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def done(request: str, warnings: Iterable[str] = (), **members: object) -> bytes:
    told = "".join(element("WARNING", {}, escaped(warning)) for warning in warnings)
    return _line(element("OK", {"request": request, **members}, told))


def refused(error: TidingsError, request: str | None = None) -> bytes:
    problem = problem_of(error)
    members: dict[str, object] = {"request": request, "name": error_name(error), "type": problem["type"]}
    text = problem["detail"]
    if isinstance(error, LanguageError):
        members |= {"line": error.line, "column": error.column, "expected": error.expected}
    elif isinstance(error, MalformedRequest) and error.args[0]:
        members |= {"line": error.args[0], "column": error.args[1]}
    broken = problem.get("errors", ())[:_MOST_BROKEN] if isinstance(error, RefusedEvent) else ()
    rules = "".join(
        element("BROKEN", {"rule": rule["rule"], "attribute": rule["attribute"]}, escaped(rule["message"]))
        for rule in broken
    )
    return _line(element("ERROR", members, escaped(text) + rules))


def error_name(error: TidingsError) -> str:
    """The thesis's, where it has one."""
    if isinstance(error, RefusedEvent) and any(rule.rule == "type" for rule in error.errors):
        return "EventTypeNotFound"
    for name, kind, ending in ERROR_NAMES:
        if isinstance(error, kind) and str(error.args[0]).endswith(ending):
            return name
    return type(error).__name__


def user_log(request: str, username: str, subscriptions: Iterable[str], next: object) -> bytes:
    """`subscriptions` are elements PUBLISH_SUB."""
    listed = f"<SUBSCRIPTIONS>{''.join(subscriptions)}</SUBSCRIPTIONS>"
    return _line(
        element("USER_LOG", {"request": request, "next": next}, element("USER", {"username": username}, listed))
    )


def subscription(standing: Standing, events: Iterable[str] | None = None) -> str:
    """As it was posted, where the thesis's elements can say it, else with a FILTER or COMPOSITE."""
    members = {
        "id": standing.id,
        "username": standing.owner,
        "state": standing.state,
        "expiry": standing.expiry,
        "since": standing.since,
        "name": standing.name or None,
        "note": standing.note or None,
    }
    text = standing.filter
    wanted = element("COMPOSITE", {}, escaped(text)) if standing.composite else _filter(text)
    return element("PUBLISH_SUB", members, wanted + _events(events))


def former_subscription(id: str, username: str, events: Iterable[str]) -> str:
    """One that matched and does not stand any more."""
    return element("PUBLISH_SUB", {"id": id, "username": username, "state": "withdrawn"}, _events(events))


def event(raw: Mapping[str, Any] | None, position: int, matched: object, found: Detection | None = None) -> str:
    """A matched event; None: it was removed. Of what a composite `found` it is the last one that the journal has, and
    there may be none."""
    detected = "" if found is None else _detection(found)
    if found is not None and all(one.position is None for one in found.events):
        return element("PUBLISH_EVENT", {"matched_at": matched}, detected)
    if raw is None:
        return element("PUBLISH_EVENT", {"position": position, "matched_at": matched, "removed": "true"}, detected)
    members = {name: raw.get(name) for name in ("contact", "id", "source", "time")}
    types = "".join(element("VALUE", {"type": name}) for name in _several(raw[EVENT_TYPE]))
    values = "".join(
        element("ATTR", {"type": name}, escaped(_text(value)))
        for name, bound in raw["attributes"].items()
        for value in _several(bound)
    )
    content = f"<EVENT_TYPE>{types}</EVENT_TYPE>" + (
        f"<ATTRIBUTES>{values}</ATTRIBUTES>" if values else "<ATTRIBUTES/>"
    )
    return element("PUBLISH_EVENT", members | {"position": position, "matched_at": matched}, content + detected)


def _detection(found: Detection) -> str:
    """Its key, and its constituents in the order of time."""
    key = "".join(element("KEY", {}, escaped(_text(value))) for value in found.key)
    events = "".join(
        element("CONSTITUENT", {"id": one.id, "source": one.source, "time": Instant(one.time)}) for one in found.events
    )
    return element("DETECTION", {"time": found.time, "expired": found.expired or None}, key + events)


def _filter(text: str) -> str:
    parts = tests_of(text)
    if parts is None:
        return element("FILTER", {}, escaped(text))
    event_types, tests = parts
    types = "".join(element("VALUE", {"type": name, "oper": "contains"}) for name in event_types)
    asked = "".join(element("ATTR", {"type": name, "oper": operator}, escaped(v)) for name, operator, v in tests)
    return (f"<EVENT_TYPE>{types}</EVENT_TYPE>" if types else "") + (
        f"<ATTRIBUTES>{asked}</ATTRIBUTES>" if asked else ""
    )


def _events(events: Iterable[str] | None) -> str:
    if events is None:
        return ""
    listed = "".join(events)
    return f"<EVENTS>{listed}</EVENTS>" if listed else "<EVENTS/>"


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else str(value)


def _line(text: str) -> bytes:
    return f"{text}\n".encode()
