"""What both evaluators take and give: occurrences of events, and detections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import NamedTuple

from tidings.language.composites.printer import print_node
from tidings.language.composites.tree import Root, nodes
from tidings.schema.values import Value

SECOND = 1_000_000  # microseconds
NOT_EXPIRED = -1  # what a detection waited for
MOST_WAITING = 10_000  # instances that wait in one operator for one key
MOST_KEYS = 1_000  # in which an event with several values takes part, for one composite


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
    """An instance of the root: the values of `by`, the constituents in order, and the last time. Or a partial match
    that expired: the instance that waited, and when its frame had passed; then `awaited` is the number of the node that
    it waited for, in the order of evaluation."""

    key: tuple[Value, ...]
    events: tuple[EventKey, ...]
    time: int
    awaited: int = NOT_EXPIRED


def keys_of(values: Sequence[Sequence[Value]]) -> tuple[list[tuple[Value, ...]], int]:
    """The keys of an event with these values of the attributes of `by`: each combination, in the order of the event's
    values. And how many are left out, since there are too many."""
    return list(islice(product(*values), MOST_KEYS)), max(0, prod(map(len, values)) - MOST_KEYS)


def awaited_part(tree: Root, number: int) -> str:
    """The text of what an expired partial match waited for, '' of a detection."""
    return "" if number == NOT_EXPIRED else print_node(list(nodes(tree))[number])
