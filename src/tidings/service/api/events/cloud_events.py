"""CloudEvents 1.0 to raw events: structured and batch (JSON objects), and binary (headers and a body).

`type` is the event type; where there are several, the extension `eventtypes` lists them, separated by commas. The
members of `data` are the attributes, or `data` is an XML document and extensions are the other attributes; `source` and
`id` are the envelope's. Other extensions are ignored.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from tidings.errors import shown
from tidings.events import BrokenRule, RefusedEvent
from tidings.events.document_events import as_text, document_event
from tidings.events.refusal import described
from tidings.schema import Catalog
from tidings.service.api.shapes import WrongBody, decoded
from tidings.service.door.head import Head

STRUCTURED = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
_REQUIRED = ("id", "source", "type")
_PREFIX = "ce-"
_CONTEXT = ("specversion", "id", "source", "type", "time", "subject", "datacontenttype", "dataschema", "data")


def read_structured(raw: Any, catalog: Catalog | None = None) -> dict[str, Any]:
    """A raw event; raises RefusedEvent with all that is missing. XML data is a document, if a catalog is given."""
    if not isinstance(raw, dict):
        message = (
            f"{described(raw)} is not a CloudEvent; expected an object with specversion, id, source, type and data"
        )
        raise RefusedEvent(None, (BrokenRule("form", None, None, message),))
    broken = []
    if raw.get("specversion") != "1.0":
        version = described(raw.get("specversion"))
        broken.append(BrokenRule("form", "specversion", None, f"specversion must be '1.0', not {version}"))
    for name in _REQUIRED:
        value = raw.get(name)
        if not isinstance(value, str) or not value:
            rule = "id" if name == "id" else "form"
            message = f"a CloudEvent must have {name!r}, a text that is not empty; got {described(value)}"
            broken.append(BrokenRule(rule, name, None, message))  # type: ignore[arg-type]
    data = raw.get("data")
    is_document = catalog is not None and is_xml(str(raw.get("datacontenttype", "")).partition(";")[0])
    if data is None and raw.get("data_base64") is not None:
        unpack = _bytes if is_document else _unpacked
        data = unpack(raw["data_base64"], broken)
    types = raw.get("eventtypes")
    if types is not None and not isinstance(types, str):
        broken.append(BrokenRule("form", "eventtypes", None, "eventtypes must be text: names separated by commas"))
    if broken:
        id = raw.get("id")
        raise RefusedEvent(id if isinstance(id, str) else None, tuple(broken))
    made = _raw_event(raw["id"], raw["source"], raw["type"], types, raw.get("time"), data)
    return _with_document(made, raw, catalog) if is_document and catalog is not None else made


def is_xml(media_type: str) -> bool:
    kind = media_type.strip().lower()
    return kind in ("application/xml", "text/xml") or kind.endswith("+xml")


def _with_document(event: dict[str, Any], raw: dict[str, Any], catalog: Catalog) -> dict[str, Any]:
    """The data is the document; extensions that are attributes of the event types are attributes. Raises RefusedEvent,
    NoDocumentAttribute or UnknownName."""
    data = event.pop("attributes", None)
    if not isinstance(data, str | bytes):
        message = f"the data of an XML event is the document as text, or packed in data_base64; got {described(data)}"
        raise RefusedEvent(event["id"], (BrokenRule("form", "data", None, message),))
    names = tuple(event["event_type"])
    uses = catalog.view([name for name in names if catalog.event_type(name) is not None]).uses
    given = {name: (str(value),) for name, value in raw.items() if name in uses and name not in _CONTEXT}
    return document_event(data, names, catalog, given) | event


def read_binary(headers: Mapping[str, str], body: bytes, catalog: Catalog | None = None) -> dict[str, Any]:
    """A raw event of the `ce-` headers and the body, which is JSON or, if a catalog is given, XML; raises RefusedEvent
    or WrongBody."""
    envelope: dict[str, Any] = {
        name.removeprefix(_PREFIX): unquote(value) for name, value in headers.items() if name.startswith(_PREFIX)
    }
    envelope.pop("data", None)
    envelope.pop("data_base64", None)
    envelope.pop("datacontenttype", None)
    kind = headers.get("content-type", "")
    if body and catalog is not None and is_xml(kind.partition(";")[0]):
        envelope |= {"datacontenttype": kind, "data": as_text(body)}
    elif body:
        envelope["data"] = decoded(body, Any)
    return read_structured(envelope, catalog)


def is_binary(head: Head) -> bool:
    return b"ce-specversion" in head


def _raw_event(id: str, source: str, type: str, types: str | None, time: Any, data: Any) -> dict[str, Any]:
    names = [type] if not types else [name.strip() for name in types.split(",")]
    if type not in names:
        names = [type, *names]
    made = {"id": id, "source": source, "event_type": names}
    if time is not None:
        made["time"] = time
    if data is not None:
        made["attributes"] = data
    return made


def _bytes(data: Any, broken: list[BrokenRule]) -> bytes | None:
    try:
        return b64decode(data, validate=True)
    except (binascii.Error, ValueError, TypeError):
        message = f"data_base64 must be a document packed as base64, not {shown(data)}"
        broken.append(BrokenRule("form", "data_base64", None, message))
        return None


def _unpacked(data: Any, broken: list[BrokenRule]) -> Any:
    try:
        return decoded(b64decode(data, validate=True), Any)
    except (binascii.Error, ValueError, TypeError, WrongBody):
        message = f"data_base64 must be a JSON object packed as base64, not {shown(data)}"
        broken.append(BrokenRule("form", "data_base64", None, message))
        return None
