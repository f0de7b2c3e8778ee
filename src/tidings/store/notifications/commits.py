"""The sink's side of the store: the matches of a batch become notifications under dense cursors.

Matches come in order, by position and then by subscription, in Arrow record batches; they are stored in transactions
that hold the write lock for a fraction of a second each, so that publishers need not wait. Each transaction also says
up to which match all is stored. A batch that is given again, whole or cut otherwise, goes on there."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, update

from tidings.schema import Instant
from tidings.store.databases.database import UNLOCKED, Database
from tidings.store.errors import Gap, OutsideBatch
from tidings.store.journal import stored_events
from tidings.store.notifications.expression_errors import FailedEvent, count_errors
from tidings.store.notifications.packing import Cut, Fresh, Noted, note, pack_when_due, wide_rows
from tidings.store.notifications.progress import Place, last_cursor, move, place_of
from tidings.store.notifications.quota_counts import Counting
from tidings.store.notifications.row_order import count_upto
from tidings.store.tables import notifications, notified

_LOCKED = 0.3  # seconds that a transaction may hold the write lock
_FEWEST, _MOST = 1_000, 500_000  # rows of a transaction

# What a chunk of matches has. Without `owner` nobody owns them, without the last two they have no quota. Where
# `dropped` is not 0, the row stands for so many matches of the owner with this event, which are beyond the quota and
# only counted; such rows have no subscription and so come before the others of their position.
CHUNK = pa.schema(
    [
        ("position", pa.int64()),
        ("subscription", pa.string()),
        ("owner", pa.string()),
        ("minute", pa.int64()),  # of the event's time of acceptance
        ("dropped", pa.int64()),
    ]
)


class Pace:
    """How many rows a transaction stores, adapted to the time that the last ones took. `fresh` are wide events that it
    stored and that are to be packed."""

    def __init__(self, seconds: float = _LOCKED, rows: int = 20_000) -> None:
        self.rows = rows
        self.fresh = Fresh()
        self._seconds = seconds

    def note(self, rows: int, seconds: float) -> None:
        if rows < self.rows // 2 and seconds < self._seconds:
            return  # too few to tell
        wanted = rows * self._seconds / max(seconds, 1e-3)
        self.rows = int(min(max(wanted, self.rows / 4, _FEWEST), 2 * self.rows, _MOST))


def commit(
    database: Database, query: str, first: int, last: int, chunks: Iterable[Any], now: Instant, pace: Pace,
    batch_limit: int | None = None, failed: Sequence[FailedEvent] = (),
) -> int:  # fmt: skip
    """Stores the notifications of the positions [first, last]; answers how many were added. Counts the events on which
    expressions `failed`, which are in order."""
    added = 0
    for rows, whole, final in parts_of(chunks, pace):
        noted: list[Noted] = []
        with database.writing("pipeline") as connection:
            begun = time.monotonic()
            place = place_of(connection, query)
            if last > place.committed:
                _check(connection, place, first, last, rows)
                left = _beyond(rows, place)
                before = place.committed
                cut = Cut(place.committed + 1 if place.part else None, None if whole else _last_position(left))
                added += _insert(connection, database, query, left, now, cut, noted)
                place = Place(last, "", batch_limit) if final else _reached(left, whole, place)
                count_errors(connection, failed, before, place.committed)
                move(connection, query, place)
        pace.note(len(rows), time.monotonic() - begun)
        if noted:
            pace.fresh.add(noted)
            pack_when_due(database, pace.fresh)
        if not final:
            time.sleep(UNLOCKED)
    return added


def _check(connection: Connection, place: Place, first: int, last: int, rows: Any) -> None:
    if first > place.committed + 1:
        raise Gap(place.committed, first)
    end = stored_events.tail(connection)
    if last > end:
        raise OutsideBatch(last, end)
    if len(rows) and (reached := rows.column("position")[-1].as_py()) > last:
        raise OutsideBatch(reached, last)


def _beyond(rows: Any, place: Place) -> Any:
    """What is not stored yet."""
    part = {"position": place.committed + 1, "subscription": place.part}
    return rows.slice(count_upto(rows, part if place.part else {"position": place.committed}))


def _last_position(rows: Any) -> int | None:
    return rows.column("position")[-1].as_py() if len(rows) else None


def _reached(rows: Any, whole: bool, place: Place) -> Place:
    """`whole`: the last event has no more rows."""
    if not len(rows):
        return place
    position, part = rows.column("position")[-1].as_py(), rows.column("subscription")[-1].as_py()
    return Place(position, "", place.batch_limit) if whole else Place(position - 1, part, place.batch_limit)


def _insert(
    connection: Connection, database: Database, query: str, rows: Any, now: Instant, cut: Cut, noted: list[Noted]
) -> int:
    if "dropped" in rows.schema.names and len(rows):
        rows = Counting(connection, database.dialect, query, rows, now).kept()
    if not len(rows):
        return 0
    cursor = last_cursor(connection)
    wide, events = wide_rows(rows, cursor + 1, cut)
    columns = {
        "cursor": pa.array(np.arange(cursor + 1, cursor + 1 + len(rows))),
        "position": rows.column("position"),
        "subscription": rows.column("subscription"),
        "stored": int(now),
        "owner": rows.column("owner") if "owner" in rows.schema.names else "",
        "detection": "",
        "wide": wide,
    }
    if events:
        note(connection, database.dialect, events)
        noted += events
    database.dialect.insert_columns(connection, notifications, columns)
    connection.execute(update(notified).values(cursor=cursor + len(rows)))
    return len(rows)


def parts_of(chunks: Iterable[Any], pace: Pace) -> Iterator[tuple[Any, bool, bool]]:
    """The rows of one transaction each, whether the last event among them is there whole, and whether they are the
    last."""
    waiting: Any = None
    for chunk in chunks:
        if not len(chunk):
            continue
        waiting = chunk if waiting is None else _joined(waiting, chunk)
        while len(waiting) > pace.rows and (cut := _cut(waiting, pace.rows)):
            before, after = (waiting.column("position")[place].as_py() for place in (cut - 1, cut))
            yield waiting.slice(0, cut), before < after, False
            waiting = waiting.slice(cut)
    yield _EMPTY if waiting is None else waiting, True, True


def _cut(rows: Any, wanted: int) -> int:
    """Where to cut: an event of which matches are only counted stays whole, since what is counted would otherwise
    depend on the cut. 0: not yet."""
    if "dropped" not in rows.schema.names:
        return wanted
    positions = rows.column("position").to_numpy()
    start, stop = (int(np.searchsorted(positions, positions[wanted], side)) for side in ("left", "right"))
    if start == wanted or not rows.column("dropped")[start].as_py():
        return wanted
    return start or (stop if stop < len(rows) else 0)


def _joined(one: Any, other: Any) -> Any:
    (joined,) = pa.Table.from_batches([one, other]).combine_chunks().to_batches()
    return joined


_EMPTY = pa.RecordBatch.from_pylist([], schema=CHUNK)
