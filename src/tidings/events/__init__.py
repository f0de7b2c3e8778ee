"""Events: one at a time (`Event`, `validate`) and by the thousand (`EventBatch`, `read_events`).

A raw event is what a publisher sent; an `Event` and the rows of an `EventBatch` are valid under a catalog
and are not checked again. `validate` states the rules; `Sieve` applies them to whole columns; `read_events`
reads JSON Lines, CSV and Parquet through it.
"""

from tidings.events.batch import EventBatch
from tidings.events.columns import RawColumns, Sieve, Sifted
from tidings.events.event import Event
from tidings.events.files import Reading, read_events
from tidings.events.refusal import BrokenRule, Refused, RefusedEvent
from tidings.events.validation import validate, write_event

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
