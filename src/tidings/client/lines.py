"""Events on their way out: as JSON objects and as lines, each with an id."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import uuid4

if TYPE_CHECKING:  # loads pyarrow, which a program that sends mappings has no use for
    from tidings.events import Event

_BOM = b"\xef\xbb\xbf"  # some editors begin a file with it
EventLike: TypeAlias = "Mapping[str, Any] | Event"


class EventLine(bytes):
    """One event as JSON, with an id, sent unchecked: for callers that send many events they know to be valid."""


def raw_event(event: EventLike) -> dict[str, Any]:
    """In the file form. One without an id gets one here, so that sending it again does not make it another event."""
    if isinstance(event, Mapping):
        raw = dict(event)
    else:
        from tidings.events import write_event

        raw = write_event(event)
    if raw.get("id") is None:
        raw["id"] = uuid4().hex
    return raw


def lines_of(events: Iterable[EventLike | bytes | str]) -> Iterator[bytes]:
    """One line for each. What is a line already stays as it is, but for a missing id."""
    for event in events:
        if type(event) is EventLine:
            yield event
        elif isinstance(event, bytes | str):
            yield _line(event)
        else:
            yield _written(raw_event(event))


def has_id(line: bytes) -> bool:
    """Whether a line may be sent again without becoming another event; a line that is not an event never does."""
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        return True
    return not isinstance(raw, dict) or raw.get("id") is not None


def _line(text: bytes | str) -> bytes:
    line = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    line = line.removeprefix(_BOM).strip().replace(b"\n", b" ")  # only blanks: within a JSON text no line may break
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        return line  # the server says what is wrong with it
    if not isinstance(raw, dict) or raw.get("id") is not None:
        return line
    if raw and "id" not in raw:  # whatever else is odd about it stays for the server to see
        return b'{"id": "%s", %s' % (uuid4().hex.encode(), line[1:])
    return _written({**raw, "id": uuid4().hex})


def _written(raw: Mapping[str, Any]) -> bytes:
    return json.dumps(raw, allow_nan=False).encode()
