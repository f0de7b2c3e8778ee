"""What both evaluators take and give: occurrences of events, and detections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tidings.schema.values import Value

SECOND = 1_000_000  # microseconds
MOST_WAITING = 10_000  # instances that wait in one operator for one key


class EventKey(NamedTuple):
    """An event among others: their order, and which is which. Its time is in microseconds."""

    time: int
    source: str
    id: str


class Occurrence(NamedTuple):
    """An event of a trace, the leaves that it matches (by their place in the tree, in the order of the text) and its
    values by attribute."""

    event: EventKey
    leaves: frozenset[int]
    values: Mapping[str, tuple[Value, ...]] = {}

    def bound(self, attribute: str) -> tuple[Value, ...]:
        """The values of an attribute, or of the envelope; none where it is not bound."""
        match attribute:
            case "event.time":
                return (self.event.time,)
            case "event.source":
                return (self.event.source,)
            case "event.id":
                return (self.event.id,)
            case _:
                return self.values.get(attribute, ())


class Detection(NamedTuple):
    """An instance of the root: the values of `by`, the constituents in order, and the last time."""

    key: tuple[Value, ...]
    events: tuple[EventKey, ...]
    time: int
