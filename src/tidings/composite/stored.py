"""What a shard keeps, as JSON, each value on its own. Entries have a version: they outlive the program that wrote
them."""

from __future__ import annotations

from typing import Any

import msgspec

from tidings.composite.detector import Entry, Key, Match
from tidings.composite.steps import State
from tidings.errors import Explained, TidingsError

VERSION = 1
_encode = msgspec.json.Encoder().encode
_loaded = msgspec.json.Decoder().decode


class ForeignState(Explained, TidingsError):
    """A state that a later version of Tidings wrote."""

    version: object
    template = "the state of a composite has version {version!v}, and this Tidings reads 1"


def dump_entry(entry: Entry) -> str:
    return _dumped([VERSION, entry.due, *entry.states])


def load_entry(text: str) -> Entry:
    stored: list[State] = _loaded(text)
    if stored[0] != VERSION:
        raise ForeignState(stored[0])
    return Entry(stored[1], stored[2:])


def dump_key(key: Key) -> str:
    return _dumped([key.composite, *key.values])


def load_key(text: str) -> Key:
    composite, *values = _loaded(text)
    return Key(composite, tuple(values))


def dump_matches(matches: list[Match]) -> str:
    return _dumped(
        [[match.event, match.key.composite, match.key.values, match.leaves, match.parts] for match in matches]
    )


def load_matches(text: str) -> list[Match]:
    return [
        Match(event, Key(composite, tuple(values)), tuple(leaves), parts)
        for event, composite, values, leaves, parts in _loaded(text)
    ]


def dump_due(due: dict[Key, int]) -> str:
    return _dumped([[time, key.composite, *key.values] for key, time in due.items()])


def load_due(text: str) -> dict[Key, int]:
    return {Key(composite, tuple(values)): time for time, composite, *values in _loaded(text)}


def _dumped(value: Any) -> str:
    return _encode(value).decode()
