"""Whose a notification is: the owner of the span that holds its position. The sink asks for a batch at a time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any

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
_start = itemgetter(0)


class Owners:
    """Of a batch's pairs of position and subscription, which are sorted by position and end at `last`."""

    def __init__(self, connection: Connection, dialect: Dialect, pairs: Any, last: int) -> None:
        # By subscription: (start, stop, owner). A withdrawn id may be used again, by somebody else or nobody.
        self._spans: dict[str, list[tuple[int, int, str]]] = {}
        if not len(pairs) or connection.execute(_SOMEBODYS).first() is None:
            return
        first = pairs.column("position")[0].as_py()
        ids = pairs.column("subscription").unique().to_pylist()
        for start, stop, id, _, owner in dialect.find(connection, spans.c.subscription, ids, OWNED):
            end = last + 1 if stop is None else stop
            if start <= last and end > first:
                self._spans.setdefault(id, []).append((start, end, owner))
        for several in self._spans.values():
            several.sort()

    def of_each(self, positions: Sequence[int], ids: Sequence[str]) -> Iterable[str]:
        """One owner for each pair; '' where it is nobody's."""
        return map(self._of, positions, ids) if self._spans else repeat("", len(ids))

    def _of(self, position: int, id: str) -> str:
        found = self._spans.get(id)
        if found is None:
            return ""
        start, stop, owner = found[bisect_right(found, position, key=_start) - 1]
        return owner if start <= position < stop else ""
