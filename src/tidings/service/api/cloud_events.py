"""CloudEvents 1.0 to raw events: structured and batch (JSON objects), and binary (headers and a body).

`type` is the event type; where there are several, the extension `eventtypes` lists them, separated by commas. The
members of `data` are the attributes; `source` and `id` are the envelope's. Other extensions are ignored.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from tidings.errors import shown
from tidings.events import BrokenRule, RefusedEvent
from tidings.events.refusal import described
from tidings.service.api.shapes import WrongBody, decoded
from tidings.service.door.head import Head

STRUCTURED = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
_REQUIRED = ("id", "source", "type")
_PREFIX = "ce-"


def read_structured(raw: Any) -> dict[str, Any]:
    """A raw event; raises RefusedEvent with all that is missing."""
    if not isinstance(raw, dict):
        message = f"{described(raw)} is no CloudEvent; one is an object with specversion, id, source, type and data"
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
    if data is None and raw.get("data_base64") is not None:
        data = _unpacked(raw["data_base64"], broken)
    types = raw.get("eventtypes")
    if types is not None and not isinstance(types, str):
        broken.append(BrokenRule("form", "eventtypes", None, "eventtypes must be text: names separated by commas"))
    if broken:
        id = raw.get("id")
        raise RefusedEvent(id if isinstance(id, str) else None, tuple(broken))
    return _raw_event(raw["id"], raw["source"], raw["type"], types, raw.get("time"), data)


def read_binary(headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """A raw event of the `ce-` headers and the body, which is JSON; raises RefusedEvent or WrongBody."""
    envelope: dict[str, Any] = {
        name.removeprefix(_PREFIX): unquote(value) for name, value in headers.items() if name.startswith(_PREFIX)
    }
    envelope.pop("data", None)
    envelope.pop("data_base64", None)
    if body:
        envelope["data"] = decoded(body, Any)
    return read_structured(envelope)


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


def _unpacked(data: Any, broken: list[BrokenRule]) -> Any:
    try:
        return decoded(b64decode(data, validate=True), Any)
    except (binascii.Error, ValueError, TypeError, WrongBody):
        message = f"data_base64 must be a JSON object packed as base64, not {shown(data)}"
        broken.append(BrokenRule("form", "data_base64", None, message))
        return None
