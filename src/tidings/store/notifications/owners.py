"""Whose a notification is: the owner of the span that holds its position. The sink asks for a batch at a time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from tidings.store.databases.database import Dialect
from tidings.store.tables import OWNED, spans

# In the order of the partial index, lest a database without statistics walks over a million spans of nobody.
_SOMEBODYS = (
    select(spans.c.subscription)
    .where(OWNED)
    .order_by(spans.c.subscription)
    .limit(1)
    .with_hint(spans, "INDEXED BY spans_of_subscription", "sqlite")
)
_COLUMNS = ("start", "stop", "subscription", "owner")
_start = attrgetter("start")


class _Owned(NamedTuple):
    start: int
    stop: int
    owner: str


class Owners:
    """Of a batch's pairs of position and subscription, which are sorted by position and end at `last`."""

    def __init__(self, connection: Connection, dialect: Dialect, pairs: Any, last: int) -> None:
        # By subscription. A withdrawn id may be used again, by somebody else or nobody.
        self._spans: dict[str, list[_Owned]] = {}
        if not len(pairs) or connection.execute(_SOMEBODYS).first() is None:
            return
        first = pairs.column("position")[0].as_py()
        ids = pairs.column("subscription").unique().to_pylist()
        for row in dialect.find(connection, spans.c.subscription, ids, OWNED, _COLUMNS):
            stop = last + 1 if row.stop is None else row.stop
            if row.start <= last and stop > first:
                self._spans.setdefault(row.subscription, []).append(_Owned(row.start, stop, row.owner))
        for several in self._spans.values():
            several.sort()

    def of_each(self, positions: Sequence[int], ids: Sequence[str]) -> Iterable[str]:
        """One owner for each pair; '' where it is nobody's."""
        return map(self._of, positions, ids) if self._spans else repeat("", len(ids))

    def _of(self, position: int, id: str) -> str:
        found = self._spans.get(id)
        if found is None:
            return ""
        span = found[bisect_right(found, position, key=_start) - 1]
        return span.owner if span.start <= position < span.stop else ""
