"""Matches become notifications without a pipeline: pairs of position and subscriptions in, committed by the store.

The pipeline knows owners from its plan; here they are read from the spans.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, select

from tidings.schema import Instant
from tidings.store import Store
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
_PAIR = ("position", "subscription")
_COLUMNS = ("start", "stop", "subscription", "owner")
_start = attrgetter("start")


def commit_batch(store: Store, first: int, last: int, matches: Any, now: Instant | None = None) -> int:
    """As `Store.commit`, of a table with columns position and subscriptions (a list), in any order.

    A notification belongs to whoever owns the span that holds its position; quotas do not count here.
    """
    return store.commit(first, last, chunks_of(store, matches, last), now=now)


def chunks_of(store: Store, matches: Any, last: int) -> Any:
    """The matches of a table of positions and lists of subscriptions, as the sink takes them; each belongs to whoever
    owns the span that holds its position."""
    pairs = _pairs(matches)
    if not len(pairs):
        return pairs.schema.empty_table().to_batches()
    with store.database.reading() as connection:
        owners = _Owners(connection, store.database.dialect, pairs, last)
    positions, ids = (pairs.column(name).to_pylist() for name in _PAIR)
    pairs = pairs.append_column("owner", pa.array(owners.of_each(positions, ids), pa.string()))
    return pairs.combine_chunks().to_batches()


def _pairs(matches: Any) -> Any:
    """The pairs, by position, then by the subscription's code points; each once."""
    lists = matches.column("subscriptions").combine_chunks()
    positions = matches.column("position").combine_chunks().cast(pa.int64()).take(pc.list_parent_indices(lists))
    pairs = pa.table({"position": positions, "subscription": pc.list_flatten(lists).cast(pa.string())})
    pairs = pairs.take(pc.sort_indices(pairs, [("position", "ascending"), ("subscription", "ascending")]))
    if len(pairs) < 2:
        return pairs
    upper, lower = pairs.slice(0, len(pairs) - 1), pairs.slice(1)
    same = [pc.equal(upper.column(name), lower.column(name)).combine_chunks() for name in _PAIR]
    repeated = pc.and_(*same)
    return pairs.filter(pa.concat_arrays([pa.array([True]), pc.invert(repeated)])) if repeated.true_count else pairs


class _Owned(NamedTuple):
    start: int
    stop: int
    owner: str


class _Owners:
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
