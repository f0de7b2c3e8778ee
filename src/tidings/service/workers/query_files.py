"""What queries asked and found, as files of one folder, for a day; they outlive the service.

`ID.json` is the query, `ID.jsonl` the events, a line each, `ID.log` the log of its process.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from tidings.errors import Explained, ServiceError
from tidings.whole_file import whole_file

_KEPT = 24 * 3600 * 1_000_000  # microseconds
_MOST_BYTES = 2 << 30  # of all events; beyond, the oldest queries go
_PAGE_BYTES = 8 << 20

State = Literal["waiting", "running", "done", "failed"]


class NoSuchQuery(Explained, ServiceError):
    id: str
    template = "you have no query {id!v}; the result of a query is kept for a day"


class WrongPlace(Explained, ServiceError):
    id: str
    cursor: int
    template = "{cursor} is not a cursor of query {id!r}: send the 'next' of an earlier answer, or none"


@dataclass(frozen=True, slots=True)
class Query:
    """The events at the positions (after, upto] that match.

    `reached`: up to which position they are found, where there were too many to keep (`complete` is false then).
    """

    id: str
    owner: str
    filter: str
    after: int
    upto: int
    asked: int
    state: State = "waiting"
    matched: int = 0
    reached: int = 0
    unreadable: int = 0
    complete: bool = True
    problem: str = ""
    ended: int | None = None


class QueryFiles:
    """Used by one thread at a time; only `page` by several."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()

    def read(self) -> list[Query]:
        """Those that an earlier service left, by age. What is damaged is passed over."""
        found = []
        for path in self._folder.glob("q-*.json"):
            with suppress(msgspec.MsgspecError, OSError):
                found.append(msgspec.json.decode(path.read_bytes(), type=Query))
        return sorted(found, key=lambda query: query.asked)

    def keep(self, query: Query) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        with whole_file(self._folder / f"{query.id}.json") as file:
            file.write(msgspec.json.encode(query))
        if query.state == "failed":
            self.events(query.id).unlink(missing_ok=True)

    def remove(self, id: str) -> None:
        for path in (self._folder / f"{id}.json", self.events(id), self.log(id)):
            path.unlink(missing_ok=True)

    def superfluous(self, queries: list[Query], now: int) -> list[Query]:
        """Those that are too old, and the oldest where all together are too large. `queries` stand by age."""
        ended = [query for query in queries if query.ended is not None]
        sizes = {query.id: _size(self.events(query.id)) for query in ended}
        total = sum(sizes.values())
        found = []
        for query in ended:
            if total > _MOST_BYTES or (query.ended or 0) + _KEPT <= now:
                found.append(query)
                total -= sizes[query.id]
        return found

    def page(self, id: str, start: int, limit: int) -> tuple[list[bytes], int | None]:
        """Lines of events from a place in the file on, and the next place, if there is more.

        Raises NoSuchQuery or WrongPlace.
        """
        try:
            file = self.events(id).open("rb")
        except FileNotFoundError:  # removed meanwhile
            raise NoSuchQuery(id) from None
        lines: list[bytes] = []
        with file:
            size = os.fstat(file.fileno()).st_size
            if start:
                file.seek(min(start, size + 1) - 1)
                if file.read(1) != b"\n":
                    raise WrongPlace(id, start)
            place = start
            while len(lines) < limit and place - start < _PAGE_BYTES and (line := file.readline()):
                lines.append(line)
                place += len(line)
        return lines, place if place < size else None

    def events(self, id: str) -> Path:
        return self._folder / f"{id}.jsonl"

    def log(self, id: str) -> Path:
        return self._folder / f"{id}.log"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
