"""Where in the journal detections became known: at the first position whose watermark says that nothing is missing."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from sqlalchemy import Connection, select

from tidings.store.journal.watermark import watermark_at
from tidings.store.tables import journal


class Known(Protocol):
    """`span`: where its subscription began to count. It is known where the watermark reaches `mark`."""

    @property
    def span(self) -> int: ...

    @property
    def mark(self) -> int: ...


class KnownPlace(NamedTuple):
    position: int
    accepted: int


class KnownPlaces:
    """Of what becomes known within the positions [first, last]. `entries`: their positions, times of acceptance and
    watermarks, where they have one; `before`: the watermark before them."""

    def __init__(self, entries: Iterable[tuple[int, int, int | None]], before: int | None) -> None:
        self._accepted: dict[int, int] = {}
        self._marks: list[int] = []
        self._positions: list[int] = []
        self._before = before
        for position, accepted, mark in entries:
            self._accepted[position] = accepted
            if mark is not None:
                self._marks.append(mark)
                self._positions.append(position)

    @classmethod
    def read(cls, connection: Connection, first: int, last: int) -> KnownPlaces:
        columns = (journal.c.position, journal.c.accepted, journal.c.watermark)
        rows = connection.execute(select(*columns).where(journal.c.position.between(first, last)).order_by(columns[0]))
        return cls([(row.position, row.accepted, row.watermark) for row in rows], watermark_at(connection, first - 1))

    def places(self, found: Iterable[Known]) -> list[KnownPlace]:
        return [KnownPlace(at, self._accepted.get(at, 0)) for at in map(self._position, found)]

    def _position(self, one: Known) -> int:
        """What was known before its composite began is known where that began."""
        if self._before is not None and one.mark <= self._before:
            return one.span
        at = bisect_left(self._marks, one.mark)
        last = self._positions[-1] if self._positions else one.span
        return max(one.span, self._positions[at] if at < len(self._positions) else last)
