"""What composites have found becomes notifications, and what they wait for is kept, both in one transaction with the
committed position of their query.

So a batch that is given again adds nothing, and whatever is killed, the states fit the position. A detection is known
by its id: one that is stored already is not stored again, even where states were lost and the journal is read anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import pyarrow as pa
from sqlalchemy import Connection, delete, text, update

from tidings.schema import Instant
from tidings.schema.values import Value
from tidings.store.databases.database import Database
from tidings.store.errors import Gap, OutsideBatch
from tidings.store.journal import stored_events
from tidings.store.journal.entries import Constituent
from tidings.store.journal.projections import event_key
from tidings.store.notifications.commits import CHUNK
from tidings.store.notifications.crowded import Crowded, count_crowded
from tidings.store.notifications.known_places import KnownPlaces
from tidings.store.notifications.notification_id import detection_id
from tidings.store.notifications.progress import COMPOSITES, Place, last_cursor, move, place_of
from tidings.store.notifications.quota_counts import Counting
from tidings.store.notifications.quotas import A_MINUTE
from tidings.store.notifications.waiting import State
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

_ROW = pa.schema([*CHUNK, ("number", pa.int64())])
_KEEP_STATE = text(
    "INSERT INTO composite_states (key, shard, due, body, forget) VALUES (:key, :shard, :due, :body, :forget) "
    "ON CONFLICT (key) DO UPDATE SET due = excluded.due, body = excluded.body, forget = excluded.forget"
)
_FORGET = text("DELETE FROM composite_states WHERE forget <= :frontier AND forget IS NOT NULL")
_DROP_STATE = text("DELETE FROM composite_states WHERE key = :key")
_KEEP_LATE = text("INSERT INTO late_events (position, late_by) VALUES (:position, :late_by) ON CONFLICT DO NOTHING")


class Detected(NamedTuple):
    """What a composite found: `span` is where its subscription began to count, `time` the last time of the instance in
    microseconds. It is known where the journal's watermark reaches `mark`. Of a partial match that expired, `awaited`
    is the number of the part that it waited for, and `expired` its text."""

    subscription: str
    owner: str
    span: int
    key: tuple[Value, ...]
    events: tuple[Constituent, ...]
    time: int
    mark: int = 0
    awaited: int = -1
    expired: str = ""

    @property
    def id(self) -> str:
        events = [(one.source, one.id) for one in self.events]
        return detection_id(self.subscription, self.key, events, self.time, self.awaited)


class Early(NamedTuple):
    shard: int
    second: int
    body: str


@dataclass(frozen=True, slots=True)
class CompositeBatch:
    """What the composites' query made of the positions [first, last]. `states` replace those of the same keys, `added`
    are of keys that had none, `gone` are no more, `closed` are the spans that ended. `early` replaces all matches up to
    the second of the frontier. `late` are pairs of a position and by how much it was late, `crowded` the composites for
    which there was no room."""

    first: int
    last: int
    frontier: int | None
    found: Sequence[Detected] = ()
    states: Sequence[State] = ()
    added: Sequence[State] = ()
    gone: Sequence[str] = ()
    closed: Sequence[int] = ()
    early: Sequence[Early] = ()
    late: Sequence[tuple[int, int]] = ()
    crowded: Sequence[Crowded] = ()
    batch_limit: int | None = None


def commit_detections(database: Database, batch: CompositeBatch, now: Instant) -> int:
    """How many notifications were added. Raises Gap or OutsideBatch."""
    with database.writing("pipeline") as connection:
        place = place_of(connection, COMPOSITES)
        if batch.last <= place.committed:
            return 0
        if batch.first != place.committed + 1:  # the states are those of another position
            raise Gap(place.committed, batch.first)
        end = stored_events.tail(connection)
        if batch.last > end:
            raise OutsideBatch(batch.last, end)
        added = _store(connection, database, batch, now)
        _keep_states(connection, database, batch)
        _keep_early(connection, database, batch)
        count_crowded(connection, batch.crowded, now)
        if batch.late:
            rows = [{"position": position, "late_by": late_by} for position, late_by in batch.late]
            connection.execute(_KEEP_LATE, rows)
            connection.execute(update(about).values(late=about.c.late + len(rows)))
        move(connection, COMPOSITES, Place(batch.last, "", batch.batch_limit, batch.frontier))
    return added


def _store(connection: Connection, database: Database, batch: CompositeBatch, now: Instant) -> int:
    by_id = dict(_within_quotas(connection, {one.id: one for one in batch.found}, batch, now))
    known = database.dialect.find(connection, notifications.c.detection, list(by_id), DETECTED, ("detection",))
    for row in list(known):
        del by_id[row.detection]
    kept = sorted(by_id.items(), key=lambda item: (item[1].time, item[1].subscription, item[0]))
    if not kept:
        return 0
    positions = _positions(connection, database, [one for _, one in kept])
    first = last_cursor(connection) + 1
    rows, bodies = [], []
    for cursor, (id, one) in enumerate(kept, first):
        events = [event._replace(position=positions.get((event.source, event.id))) for event in one.events]
        position = next((event.position for event in reversed(events) if event.position is not None), one.span)
        rows.append((cursor, position, one.subscription, int(now), one.owner, id, 0))
        body = {"key": one.key, "time": one.time, "events": events}
        if one.expired:
            body["expired"] = one.expired
        bodies.append((cursor, batch.last, msgspec.json.encode(body).decode()))
    database.dialect.insert(connection, notifications, rows)
    database.dialect.insert(connection, detections, bodies)
    connection.execute(update(notified).values(cursor=first + len(rows) - 1))
    return len(rows)


def _within_quotas(
    connection: Connection, found: dict[str, Detected], batch: CompositeBatch, now: Instant
) -> list[tuple[str, Detected]]:
    """Counted where each became known, in the order of position, subscription, time and id: this follows from the
    journal, however it was cut. So those that are stored already, after states were lost, are counted, too."""
    if not any(one.owner for one in found.values()):
        return list(found.items())
    placed = KnownPlaces.read(connection, batch.first, batch.last).places(found.values())
    ordered = sorted(
        zip(placed, found.items(), strict=True),
        key=lambda item: (item[0].position, item[1][1].subscription, item[1][1].time, item[1][0]),
    )
    rows = [
        {
            "position": place.position,
            "minute": place.accepted // A_MINUTE,
            "dropped": 0,
            "subscription": one.subscription,
            "owner": one.owner,
            "number": number,
        }
        for number, (place, (_, one)) in enumerate(ordered)
    ]
    kept = Counting(connection, COMPOSITES, pa.RecordBatch.from_pylist(rows, schema=_ROW), now).kept()
    return [ordered[number][1] for number in kept.column("number").to_pylist()]


def _positions(connection: Connection, database: Database, found: list[Detected]) -> dict[tuple[str, str], int]:
    keys = {event_key(event.source, event.id): (event.source, event.id) for one in found for event in one.events}
    rows = database.dialect.find(connection, event_keys.c.key, list(keys))
    return {keys[bytes(row.key)]: row.position for row in rows}


def _keep_states(connection: Connection, database: Database, batch: CompositeBatch) -> None:
    if batch.gone:
        connection.execute(_DROP_STATE, [{"key": key} for key in batch.gone])
    if batch.states:
        ordered = sorted(batch.states, key=lambda one: one.key)  # neighbours share pages of the index
        connection.execute(_KEEP_STATE, [one._asdict() for one in ordered])
    # Most are new: one statement for many of them takes a third of the time that as many replacements take.
    database.dialect.insert(connection, composite_states, sorted(batch.added))
    if batch.frontier is not None:
        connection.execute(_FORGET, {"frontier": batch.frontier})
    for span in batch.closed:
        key = composite_states.c.key
        connection.execute(delete(composite_states).where(key >= f'["{span}"', key < f'["{span}#'))


def _keep_early(connection: Connection, database: Database, batch: CompositeBatch) -> None:
    if batch.frontier is not None:
        passed = early_matches.c.second <= batch.frontier // 1_000_000
        read = early_matches.c.position <= batch.last  # not what moved in since
        connection.execute(delete(early_matches).where(passed, read))
    rows = [(one.shard, one.second, batch.last, one.body) for one in batch.early]
    database.dialect.insert(connection, early_matches, rows)
