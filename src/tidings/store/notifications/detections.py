"""What composites have found becomes notifications, in transactions that hold the write lock for a fraction of a second
each. The last one also keeps what they wait for, and moves the committed position of their query.

So the states always fit the position, whatever is killed. The transactions before the last say up to which detection
all is stored and counted, in an order that follows from the journal: a batch that is given again, whole or cut
otherwise, goes on there. A detection is known by its id: one that is stored already is not stored again, even where
states were lost and the journal is read anew."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pyarrow.compute as pc
from sqlalchemy import Connection, delete, text, update

from tidings.schema import Instant
from tidings.store.databases.database import UNLOCKED, Database, Dialect
from tidings.store.errors import Gap, OutsideBatch
from tidings.store.journal import stored_events
from tidings.store.journal.entries import Constituent
from tidings.store.journal.projections import event_key
from tidings.store.notifications.commits import Pace, parts_of
from tidings.store.notifications.composite_batch import ORDER, Changes, CompositeBatch, body_of
from tidings.store.notifications.crowded import count_crowded
from tidings.store.notifications.progress import COMPOSITES, Place, last_cursor, move, place_of
from tidings.store.notifications.quota_counts import Counting
from tidings.store.notifications.row_order import count_upto
from tidings.store.notifications.waiting import EARLY, SHARDS
from tidings.store.tables import (
    DETECTED,
    about,
    composite_states,
    detections,
    early_matches,
    event_keys,
    notifications,
    notified,
)

_KEEP_STATE = text(
    "INSERT INTO composite_states (key, shard, due, body, forget) VALUES (:key, :shard, :due, :body, :forget) "
    "ON CONFLICT (key) DO UPDATE SET due = excluded.due, body = excluded.body, forget = excluded.forget"
)
_FORGET = text("DELETE FROM composite_states WHERE forget <= :frontier AND forget IS NOT NULL")
_DROP_STATE = text("DELETE FROM composite_states WHERE key = :key")
_KEEP_LATE = text("INSERT INTO late_events (position, late_by) VALUES (:position, :late_by) ON CONFLICT DO NOTHING")


def commit_detections(
    database: Database, batch: CompositeBatch, found: Iterable[Any], now: Instant, pace: Pace
) -> int:  # fmt: skip
    """`found` are record batches in the order of `composite_batch.ORDER`. Answers how many notifications were added.
    Raises Gap or OutsideBatch."""
    added = 0
    for rows, _, final in parts_of(found, pace):
        with database.writing("pipeline") as connection:
            begun = time.monotonic()
            place = place_of(connection, COMPOSITES)
            if batch.last <= place.committed:
                return added
            _check(connection, place, batch)
            new = _beyond(rows, place, batch)
            if len(new):
                added += _store(connection, database, new, batch.last, now)
                place = replace(place, part=_part(new, batch))
            pace.note(len(rows), time.monotonic() - begun)
            if final:
                _keep(connection, database.dialect, batch, now)
                part = place.part if _position(place, batch) > batch.last else ""
                place = Place(batch.last, part, batch.batch_limit, batch.frontier)
            move(connection, COMPOSITES, place)
        if not final:
            time.sleep(UNLOCKED)
    return added


def _check(connection: Connection, place: Place, batch: CompositeBatch) -> None:
    if batch.first != place.committed + 1:  # the states are those of another position
        raise Gap(place.committed, batch.first)
    end = stored_events.tail(connection)
    if batch.last > end:
        raise OutsideBatch(batch.last, end)


def _beyond(rows: Any, place: Place, batch: CompositeBatch) -> Any:
    """What is not stored yet. With another lateness detections are known elsewhere: then nothing is left out here, and
    those that are stored are known by their ids."""
    if not len(rows) or not place.part:
        return rows
    lateness, *key = msgspec.json.decode(place.part)
    return rows.slice(count_upto(rows, dict(zip(ORDER, key, strict=True)))) if lateness == batch.lateness else rows


def _part(rows: Any, batch: CompositeBatch) -> str:
    """Up to the last of these rows all is stored."""
    return msgspec.json.encode([batch.lateness, *(rows.column(name)[-1].as_py() for name in ORDER)]).decode()


def _position(place: Place, batch: CompositeBatch) -> int:
    """Of the detection up to which all is stored, where some are stored ahead."""
    if not place.part:
        return 0
    lateness, position, *_ = msgspec.json.decode(place.part)
    return int(position) if lateness == batch.lateness else 0


def _store(connection: Connection, database: Database, rows: Any, last: int, now: Instant) -> int:
    if pc.any(pc.not_equal(rows.column("owner"), "")).as_py():
        # Also those that are stored already, after states were lost: the same ones are dropped again.
        rows = Counting(connection, database.dialect, COMPOSITES, rows, now).kept()
    ids = rows.column("id").to_pylist()
    stored = database.dialect.find(connection, notifications.c.detection, ids, DETECTED, ("detection",))
    known = {row.detection for row in stored}
    new = {row["id"]: row for row in rows.to_pylist() if row["id"] not in known}.values()
    if not new:
        return 0
    bodies = [body_of(row["body"]) for row in new]
    positions = _positions(connection, database.dialect, [event for _, events, _ in bodies for event in events])
    first = last_cursor(connection) + 1
    told, about_them = [], []
    for cursor, (row, (key, constituents, expired)) in enumerate(zip(new, bodies, strict=True), first):
        events = [event._replace(position=positions.get((event.source, event.id))) for event in constituents]
        position = next((event.position for event in reversed(events) if event.position is not None), row["span"])
        told.append((cursor, position, row["subscription"], int(now), row["owner"], row["id"], 0))
        body = {"key": key, "time": row["time"], "events": events} | ({"expired": expired} if expired else {})
        about_them.append((cursor, last, msgspec.json.encode(body).decode()))
    database.dialect.insert(connection, notifications, told)
    database.dialect.insert(connection, detections, about_them)
    connection.execute(update(notified).values(cursor=first + len(told) - 1))
    return len(told)


def _positions(
    connection: Connection, dialect: Dialect, events: Sequence[Constituent]
) -> dict[tuple[str, str], int]:  # fmt: skip
    keys = {event_key(event.source, event.id): (event.source, event.id) for event in events}
    rows = dialect.find(connection, event_keys.c.key, list(keys))
    return {keys[bytes(row.key)]: row.position for row in rows}


def _keep(connection: Connection, dialect: Dialect, batch: CompositeBatch, now: Instant) -> None:
    """What composites wait for from now on."""
    if batch.frontier is not None:
        # By shard, as the key begins; else all that waits would be looked at.
        of_shards = early_matches.c.shard.in_(range(SHARDS))
        passed = of_shards & (early_matches.c.second <= batch.frontier // EARLY)
        read = early_matches.c.position <= batch.last  # not what moved in since
        connection.execute(delete(early_matches).where(passed, read))
    for changes in batch.changes:
        _keep_changes(connection, dialect, changes, batch.last)
    if batch.frontier is not None:
        connection.execute(_FORGET, {"frontier": batch.frontier})
    for span in batch.closed:
        key = composite_states.c.key
        connection.execute(delete(composite_states).where(key >= f'["{span}"', key < f'["{span}#'))
    count_crowded(connection, batch.crowded, now)
    if batch.late:
        rows = [{"position": position, "late_by": late_by} for position, late_by in batch.late]
        connection.execute(_KEEP_LATE, rows)
        connection.execute(update(about).values(late=about.c.late + len(rows)))


def _keep_changes(connection: Connection, dialect: Dialect, changes: Changes, last: int) -> None:
    if changes.gone:
        connection.execute(_DROP_STATE, [{"key": key} for key in changes.gone])
    if changes.states:
        ordered = sorted(changes.states, key=lambda one: one.key)  # neighbours share pages of the index
        connection.execute(_KEEP_STATE, [one._asdict() for one in ordered])
    # Most are new: one statement for many of them takes a third of the time that as many replacements take.
    dialect.insert(connection, composite_states, sorted(changes.added))
    dialect.insert(connection, early_matches, [(one.shard, one.span, last, one.body) for one in changes.early])
