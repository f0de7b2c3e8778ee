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
_loaded_spans = msgspec.json.Decoder(list[tuple[int, msgspec.Raw]]).decode


class _Match(msgspec.Struct, array_like=True):
    event: str
    composite: str
    values: tuple[Any, ...]
    leaves: tuple[int, ...]
    parts: dict[str, Any] | None
    left_out: int = 0


_loaded_matches = msgspec.json.Decoder(list[_Match]).decode


class ForeignState(Explained, TidingsError):
    """A state that a later version of Tidings wrote."""

    version: object
    template = "the state of a composite has version {version!v}, but this release reads version 1"


def dump_entry(entry: Entry) -> str:
    return _dumped([VERSION, entry.due, *entry.states])


def load_entry(text: str) -> Entry:
    stored: list[State] = _loaded(text)
    if stored[0] != VERSION:
        raise ForeignState(stored[0])
    return Entry(stored[1], stored[2:])


def dump_key(key: Key) -> str:
    return _dumped((key.composite, *key.values))


def key_bytes(key: Key) -> bytes:
    """The same as `dump_key`, encoded."""
    return _encode((key.composite, *key.values))


def load_key(text: str) -> Key:
    composite, *values = _loaded(text)
    return Key(composite, tuple(values))


def dump_matches(matches: list[Match]) -> str:
    return _dumped(
        [
            (event, key.composite, key.values, leaves, parts, *((left_out,) if left_out else ()))
            for event, key, leaves, parts, left_out in matches
        ]
    )


def load_matches(text: str) -> list[Match]:
    return [
        Match(one.event, Key(one.composite, one.values), one.leaves, one.parts, one.left_out)
        for one in _loaded_matches(text)
    ]


def dump_spans(matches: dict[int, list[Match]]) -> str:
    """Matches by the span of their events, so that those of a span can be passed on unread."""
    return _dumped([(span, msgspec.Raw(dump_matches(some).encode())) for span, some in matches.items()])


def load_spans(text: str) -> list[tuple[int, str]]:
    """The spans, each with its matches as `load_matches` reads them."""
    return [(span, bytes(matches).decode()) for span, matches in _loaded_spans(text)]


def joined_matches(texts: list[str]) -> str:
    """Of several texts of matches, one."""
    return texts[0] if len(texts) == 1 else f"[{','.join(text[1:-1] for text in texts if len(text) > 2)}]"


def dump_due(due: dict[Key, int]) -> str:
    return _dumped([[time, key.composite, *key.values] for key, time in due.items()])


def load_due(text: str) -> dict[Key, int]:
    return {Key(composite, tuple(values)): time for time, composite, *values in _loaded(text)}


def _dumped(value: Any) -> str:
    return _encode(value).decode()
