"""What a feed need not offer again: ids that are published, and refused events until the schema has grown.

A refused event is known by all that it says and not by its id, so that a record put right is offered at once.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from hashlib import blake2b

from tidings.feeds.event_maker import Made

PUBLISHED = ""
LATER = "later"  # refused for its time, which will come: offered whenever its page or file is read again


class Known:
    """The last so many, each with its mark: PUBLISHED, LATER, or the schema (`schema_mark`) that refused it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._marks: OrderedDict[bytes, str] = OrderedDict()
        self._refused = 0  # of these marks; while there are none, no event need be written out to be looked up

    def __len__(self) -> int:
        return len(self._marks)

    def mark(self, made: Made) -> str | None:
        """None: it is new."""
        published = self._mark(_id_key(made))
        return self._mark(_refused_key(made)) if published is None and self._refused else published

    def publish(self, made: Made) -> None:
        self._add(_id_key(made), PUBLISHED)

    def refuse(self, made: Made, mark: str) -> bool:
        """Whether this is news."""
        key = _refused_key(made)
        news = self._mark(key) != mark
        self._add(key, mark)
        return news

    def written(self, refused: bool = True) -> list[str]:
        """For a state file, the oldest first; `refused`: those too."""
        return [f"{key.hex()} {mark}" for key, mark in self._marks.items() if refused or mark == PUBLISHED]

    def restore(self, lines: list[str]) -> None:
        """What was written; raises ValueError where a line is of another form."""
        for line in lines:
            key, _, mark = line.partition(" ")
            self._add(bytes.fromhex(key), mark)

    def _mark(self, key: bytes) -> str | None:
        mark = self._marks.get(key)
        if mark is not None:
            self._marks.move_to_end(key)
        return mark

    def _add(self, key: bytes, mark: str) -> None:
        self._refused += (mark != PUBLISHED) - (self._marks.get(key, PUBLISHED) != PUBLISHED)
        self._marks[key] = mark
        while len(self._marks) > self._most:
            _, forgotten = self._marks.popitem(last=False)
            self._refused -= forgotten != PUBLISHED


def _id_key(made: Made) -> bytes:
    return blake2b(made.raw["id"].encode("utf-8", "surrogatepass"), digest_size=16, person=b"id").digest()


def _refused_key(made: Made) -> bytes:
    """Of the event and of what could not be read of its record, which is not in the event."""
    told = json.dumps([made.raw, [error.as_json() for error in made.errors]], sort_keys=True, default=repr)
    return blake2b(told.encode(), digest_size=16, person=b"event").digest()
