"""The thesis's way in: XML requests over TCP, one after another on a connection, each with its answer."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from lxml import etree

from tidings.client.errors import ServerUnreachable
from tidings.errors import ClientError, Explained
from tidings.schema.catalog import EVENT_TYPE
from tidings.schema.dtd import OPERATORS

_ENVELOPE = ("id", "source", "time", "contact")
_NAMES = {operator: name for name, operator in OPERATORS.items()}
_READ_AT_ONCE = 1 << 16


class DaemonRefused(Explained, ClientError):
    """The XML daemon answered with an error: its name (the thesis's, where it has one) and its text."""

    name: str
    text: str
    template = "{name}: {text}"


class NotForXml(Explained, ClientError):
    """A value with a character that XML cannot hold."""

    value: str
    template = "{value!r} contains a character that XML does not allow; send it over HTTP"


class XmlConnection:
    """Raises ServerUnreachable. Close it, or use `with`."""

    def __init__(self, host: str, port: int, timeout: float = 30.0) -> None:
        self._address = f"{host}:{port}"
        try:
            self._socket = socket.create_connection((host, port), timeout)
        except OSError as problem:
            raise ServerUnreachable(self._address, problem.strerror or str(problem)) from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, request: etree._Element) -> etree._Element:
        """The answer; raises DaemonRefused or ServerUnreachable."""
        try:
            self._socket.sendall(etree.tostring(request, encoding="utf-8"))
            answer = self._answer()
        except OSError as problem:
            raise ServerUnreachable(self._address, problem.strerror or str(problem)) from None
        except etree.XMLSyntaxError as problem:
            raise ServerUnreachable(self._address, f"the answer is not XML ({problem})") from None
        if answer.tag == "ERROR":
            raise DaemonRefused(answer.get("name", ""), "; ".join(str(part) for part in answer.itertext()))
        return answer

    def _answer(self) -> etree._Element:
        """Read until the root element ends."""
        parser = etree.XMLPullParser(events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False)
        depth, begun = 0, False
        while True:
            data = self._socket.recv(_READ_AT_ONCE)
            if not data:
                raise ServerUnreachable(self._address, "the connection was closed before the answer")
            if not begun:
                data = data.lstrip()
            begun = begun or bool(data)
            parser.feed(data)
            for event, element in parser.read_events():
                depth += 1 if event == "start" else -1
                if not depth and isinstance(element, etree._Element):
                    return element


def event_request(event: Mapping[str, Any], token: str) -> etree._Element:
    """PUBLISH_EVENT of an event in the file form."""
    envelope = {name: str(event[name]) for name in _ENVELOPE if event.get(name) is not None}
    root = _element(None, "PUBLISH_EVENT", {"token": token, **envelope})
    types = _element(root, "EVENT_TYPE", {})
    for name in event[EVENT_TYPE]:
        _element(types, "VALUE", {"type": name})
    attributes = _element(root, "ATTRIBUTES", {})
    for name, values in event["attributes"].items():
        for value in values if isinstance(values, list) else [values]:
            _element(attributes, "ATTR", {"type": name}, str(value))
    return root


def subscription_request(
    event_type: str, tests: list[tuple[str, str, str]], username: str, token: str
) -> etree._Element:
    """PUBLISH_SUB of one event type and tests of attribute, operator and value."""
    root = _element(None, "PUBLISH_SUB", {"username": username, "token": token})
    _element(_element(root, "EVENT_TYPE", {}), "VALUE", {"type": event_type, "oper": "contains"})
    attributes = _element(root, "ATTRIBUTES", {})
    for name, operator, value in tests:
        _element(attributes, "ATTR", {"type": name, "oper": _NAMES[operator]}, value)
    return root


def filter_request(filter: str, username: str, token: str) -> etree._Element:
    """PUBLISH_SUB of a filter's text, for what the thesis's elements cannot say."""
    root = _element(None, "PUBLISH_SUB", {"username": username, "token": token})
    _element(root, "FILTER", {}, filter)
    return root


def _element(parent: etree._Element | None, tag: str, attributes: dict[str, str], text: str = "") -> etree._Element:
    """Raises NotForXml."""
    made = etree.Element(tag) if parent is None else etree.SubElement(parent, tag)
    for name, value in attributes.items():
        try:
            made.set(name, value)
        except ValueError:
            raise NotForXml(value) from None
    try:
        made.text = text or None
    except ValueError:
        raise NotForXml(text) from None
    return made
