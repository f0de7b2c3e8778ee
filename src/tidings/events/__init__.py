"""Events: one at a time (`Event`, `validate`) and by the thousand (`EventBatch`, `read_events`).

A raw event is what a publisher sent; an `Event` and the rows of an `EventBatch` are valid under a catalog
and are not checked again. `validate` states the rules; `Sieve` applies them to whole columns; `read_events`
reads JSON Lines, CSV, Parquet and XML through it; `EventDecoder` reads what was accepted before, without the rules.
What works on columns is loaded when it is first used: a program that takes events one at a time starts without Arrow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tidings.events.event import Event
from tidings.events.refusal import BrokenRule, Refused, RefusedEvent
from tidings.events.validation import validate, write_event

if TYPE_CHECKING:
    from tidings.events.batch import EventBatch
    from tidings.events.columns import RawColumns, Sieve, Sifted
    from tidings.events.files.reading import Reading, read_events

__all__ = [
    "BrokenRule",
    "Event",
    "EventBatch",
    "RawColumns",
    "Reading",
    "Refused",
    "RefusedEvent",
    "Sieve",
    "Sifted",
    "read_events",
    "validate",
    "write_event",
]

_HOMES = {
    "EventBatch": "tidings.events.batch",
    "RawColumns": "tidings.events.columns",
    "Reading": "tidings.events.files.reading",
    "Sieve": "tidings.events.columns",
    "Sifted": "tidings.events.columns",
    "read_events": "tidings.events.files.reading",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'tidings.events' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found
