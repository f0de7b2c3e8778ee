"""An event as the CloudEvent that CESQL and the filters array speak of.

`type` is one of its event types, `id`, `source` and `time` are its envelope, and extensions are the attributes with one
value and a name of lower-case letters, digits and `_`. One that is called like something of the envelope is hidden by
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tidings.language.cesql.expression import CesqlValue
from tidings.language.cesql.parser import GREATEST, LEAST
from tidings.schema.catalog import EVENT_TYPE
from tidings.schema.values import Instant, Value

SPECVERSION = "1.0"
ENVELOPE = {"id": "event.id", "source": "event.source", "time": "event.time"}  # as Tidings names it
NAME = re.compile(r"[a-z0-9_]+")
CONTEXT_ATTRIBUTES = ("specversion", "type", *ENVELOPE)


class CloudEvent(Mapping[str, CesqlValue]):
    """Looks up what is asked for, and nothing else."""

    __slots__ = ("_bindings", "_type")

    def __init__(self, bindings: Mapping[str, tuple[Value, ...]], event_type: str) -> None:
        self._bindings = bindings
        self._type = event_type

    def __getitem__(self, name: str) -> CesqlValue:
        if name == "type":
            return self._type
        if name == "specversion":
            return SPECVERSION
        values = self._bindings[ENVELOPE.get(name, name)]
        if len(values) != 1 or name == EVENT_TYPE or not NAME.fullmatch(name):
            raise KeyError(name)
        return cesql_value(values[0])

    def __iter__(self) -> Iterator[str]:
        return (name for name in dict.fromkeys((*CONTEXT_ATTRIBUTES, *self._bindings)) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def cesql_value(value: Value) -> CesqlValue:
    """Integers of 32 bits are integers; all else is text."""
    if isinstance(value, int) and not isinstance(value, Instant) and LEAST <= value <= GREATEST:
        return int(value)
    return str(value)
