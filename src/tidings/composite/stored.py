"""States as JSON, in a form with a version: what a shard keeps outlives the program that wrote it."""

from __future__ import annotations

import json

from tidings.composite.steps import State
from tidings.errors import Explained, TidingsError

VERSION = 1


class ForeignState(Explained, TidingsError):
    """A state that a later version of Tidings wrote."""

    version: object
    template = "the state of a composite has version {version!v}, and this Tidings reads 1"


def dump_states(states: list[State]) -> str:
    return json.dumps([VERSION, *states], ensure_ascii=False, separators=(",", ":"))


def load_states(text: str) -> list[State]:
    stored: list[State] = json.loads(text)
    if stored[0] != VERSION:
        raise ForeignState(stored[0])
    return stored[1:]
