"""One valid event: what happened, as a set of values per attribute, in its envelope."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.schema.catalog import EVENT_TYPE
from tidings.schema.values import Instant, Value

Bindings = dict[str, tuple[Value, ...]]

POSITION = "\0position"  # the place in the journal, where it has one
NOW = "\0now"  # the name of the time of acceptance among bindings: no attribute can be called so


@dataclass(frozen=True, slots=True)
class Event:
    """Values are canonical and different from each other; attributes stand in the order of their names."""

    id: str
    event_types: tuple[str, ...]
    attributes: tuple[tuple[str, tuple[Value, ...]], ...] = ()
    source: str = ""
    time: Instant | None = None
    contact: str | None = None

    def bindings(self, accepted: Instant | None = None) -> Bindings:
        """Everything a filter may test, by name: attributes, event types, envelope; only what has a value. An event
        that was not accepted by a journal has its own time as `now`."""
        bound: Bindings = dict(self.attributes)
        bound[EVENT_TYPE] = self.event_types
        bound["event.id"] = (self.id,)
        bound["event.source"] = (self.source,)
        if self.time is not None:
            bound["event.time"] = (self.time,)
        now = self.time if accepted is None else accepted
        if now is not None:
            bound[NOW] = (now,)
        return bound
