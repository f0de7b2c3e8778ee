"""An event as one text, ordered as (time, source, id) are: states keep many of them, as JSON."""

from __future__ import annotations

import re

from tidings.composite.trace import EventKey

_OFFSET = 2**62  # makes every time positive, with 16 hexadecimal digits
_DIGITS = 16
_SMALL = re.compile("[\0-!]")  # what is not above the space that ends the source
_ESCAPED = re.compile("!(.)", re.DOTALL)
_RAISED = 0x40


def reference(time: int, source: str, id: str) -> str:
    if _SMALL.search(source):
        source = _SMALL.sub(lambda found: "!" + chr(ord(found[0]) + _RAISED), source)
    return f"{time + _OFFSET:016x}{source} {id}"


def event_of(reference: str) -> EventKey:
    source, _, id = reference[_DIGITS:].partition(" ")
    if "!" in source:
        source = _ESCAPED.sub(lambda found: chr(ord(found[1]) - _RAISED), source)
    return EventKey(time_of(reference), source, id)


def bound(time: int) -> str:
    """A text that is above the references of all events before this time, and below those of all others."""
    return f"{time + _OFFSET:016x}"


def time_of(reference: str) -> int:
    return int(reference[:_DIGITS], 16) - _OFFSET
