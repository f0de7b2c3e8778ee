"""Creates deliveries from notifications, in one transaction with the cursor: none is lost or doubled.

    notifications after the cursor  ──>  a delivery each, or items of an open digest  ──>  due by the channel's rhythm

The outbox calls this; the rhythm comes as an argument. A delivery becomes due only here and in `results`, so
an outbox that has read everything due up to a time need not read that again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, func, select, update

from tidings.schema import Instant
from tidings.store.databases.database import Database, Dialect, NamedRow, Row
from tidings.store.deliveries.rhythm import Rhythms
from tidings.store.deliveries.totals import Totals, add_totals
from tidings.store.lease import check_lease
from tidings.store.notifications.progress import last_cursor
from tidings.store.tables import UNRELEASED, channels, deliveries, outbox

# CROSS JOIN keeps SQLite from walking over the channels and, for each, over all notifications.
_OWED = (
    "SELECT n.position, n.subscription, n.owner, n.stored, n.detection FROM notifications n CROSS JOIN channels c "
    "WHERE n.cursor > ? AND n.cursor <= ? AND c.subscription = n.subscription AND c.owner = n.owner "
    "AND n.cursor > c.since AND (c.until IS NULL OR n.cursor <= c.until) ORDER BY n.cursor"
)
_HELD = (
    "SELECT number, open, attempts, due FROM deliveries WHERE state = 'due' AND held = 1 AND subscription = ? "
    "AND owner = ? ORDER BY number LIMIT ?"
)
_TO_CREATE = (
    "SELECT (SELECT cursor FROM notified) > (SELECT cursor FROM outbox) AS behind, "
    "EXISTS (SELECT 1 FROM deliveries WHERE state = 'due' AND held = 0 AND open = 1 AND due <= ?) AS closing, "
    "EXISTS (SELECT 1 FROM channels WHERE released = 0 AND state = 'active') AS releasing"
)
_CLOSING = "SELECT * FROM deliveries WHERE state = 'due' AND held = 0 AND open = 1 AND due <= ? ORDER BY due LIMIT ?"
_CHANNEL = ("subscription", "owner", "kind", "settings", "state", "sequence", "collecting", "released", "recent")
_MARK: Any = bindparam("mark")  # not a column's name, which an update of many rows may not use


Key = tuple[str, str]  # subscription and owner


class _Channel:
    """A row while it is worked on."""

    def __init__(self, row: NamedRow, rhythms: Rhythms) -> None:
        self.key: Key = (row.subscription, row.owner)
        self.kind = row.kind
        self.active = row.state == "active"
        self.sequence, self.collecting, self.released = row.sequence, row.collecting, row.released
        self.recent: list[int] = msgspec.json.decode(row.recent)
        self.rhythm = rhythms(row.settings)

    @property
    def held(self) -> int:
        """New ones must not pass those that are still held."""
        return int(not (self.active and self.released))

    def due(self, now: Instant) -> int:
        due, self.recent = self.rhythm.due(now, self.recent)
        return int(due)


@dataclass(slots=True)
class _Digest:
    number: int
    key: Key
    items: list[list[int]]  # sequence, position, when it was stored
    due: int
    open: int = 1


def has_deliveries_to_create(connection: Connection, dialect: Dialect, now: Instant) -> bool:
    """Whether there is anything to create, close or release; called many times a second."""
    (found,) = dialect.page(connection, _TO_CREATE, (int(now),))
    return bool(found.behind or found.closing or found.releasing)


def create_deliveries(database: Database, holder: str, now: Instant, limit: int, rhythms: Rhythms) -> int:
    """Returns how many cursors, digests and held deliveries it handled; 0 when caught up."""
    with database.writing("outbox") as connection:
        check_lease(connection, "outbox", holder)
        work = _Work(connection, database.dialect, now, rhythms)
        done = work.release(limit) + work.close(limit) + work.create(limit)
        work.write()
        return done


class _Work:
    """One transaction's changes, written at its end."""

    def __init__(self, connection: Connection, dialect: Dialect, now: Instant, rhythms: Rhythms) -> None:
        self._connection, self._dialect = connection, dialect
        self._now, self._rhythms = now, rhythms
        row: Any = connection.execute(select(outbox.c.cursor, outbox.c.delivery)).one()
        self._cursor, self._number = row.cursor, row.delivery
        self._channels: dict[Key, _Channel] = {}
        self._digests: dict[int, _Digest] = {}
        self._fresh: set[int] = set()
        self._new: list[Row] = []
        self._created: Counter[str] = Counter()  # by kind of channel

    def release(self, limit: int) -> int:
        """Lets go what was held of channels that are active again, oldest first, by the rhythm they have now."""
        done = 0
        for subscription, owner in self._connection.execute(_to_release(limit)).all():
            channel = self._load([subscription])[subscription, owner]
            channel.released = 1
            if not channel.active:
                continue
            channel.recent = [time for time in channel.recent if time <= self._now]
            found = self._dialect.page(self._connection, _HELD, (subscription, owner, limit - done))
            changes = []
            for row in found:
                due = row.due
                if row.attempts == 0 and not row.open:
                    due = channel.due(self._now)
                elif not row.open:
                    due = channel.rhythm.awake(Instant(max(due, self._now)))
                changes.append({"mark": row.number, "due": int(due)})
            _many(self._connection, update(deliveries).where(deliveries.c.number == _MARK).values(held=0), changes)
            done += len(found)
            if done >= limit:
                channel.released = 0  # there may be more
                break
        return done

    def close(self, limit: int) -> int:
        """Digests whose time has come."""
        rows = self._dialect.page(self._connection, _CLOSING, (int(self._now), limit))
        self._load({row.subscription for row in rows})
        for row in rows:
            digest = self._digests[row.number] = _read_digest(row)
            self._close(digest, self._channels[digest.key])
        return len(rows)

    def create(self, limit: int) -> int:
        begin, end = self._cursor, last_cursor(self._connection)
        if end - begin > limit:  # perhaps nobody wants what is between; an outbox may start years after the journal
            first = self._connection.execute(select(func.min(channels.c.since))).scalar()
            begin = end if first is None else min(end, max(begin, first))
        end = min(end, begin + limit)
        done, self._cursor = end - self._cursor, end
        rows = self._dialect.page(self._connection, _OWED, (begin, end))
        self._load({row.subscription for row in rows})
        found = [(self._channels[row.subscription, row.owner], row) for row in rows]
        self._load_digests(channel.collecting for channel, _ in found)
        for channel, row in found:
            channel.sequence += 1
            detection = [row.detection] if row.detection else []
            self._add(channel, [channel.sequence, row.position, row.stored, *detection])
        return int(done)

    def write(self) -> None:
        connection = self._connection
        for digest in self._digests.values():
            if digest.number in self._fresh:
                self._new.append(self._row(digest, self._channels[digest.key]))
        self._dialect.insert(connection, deliveries, self._new)
        values = [
            {"mark": one.number, "items": _json(one.items), "open": one.open, "due": one.due}
            for one in self._digests.values()
            if one.number not in self._fresh
        ]
        _many(connection, update(deliveries).where(deliveries.c.number == _MARK), values)
        statement = update(channels).where(channels.c.subscription == _MARK, channels.c.owner == bindparam("whose"))
        changed = [
            {
                "mark": one.key[0],
                "whose": one.key[1],
                "sequence": one.sequence,
                "collecting": one.collecting,
                "released": one.released,
                "recent": _json(one.recent),
            }
            for one in self._channels.values()
        ]
        _many(connection, statement, changed)
        for kind, count in self._created.items():
            add_totals(connection, kind, Totals(due=count))
        connection.execute(update(outbox).values(cursor=self._cursor, delivery=self._number))

    def _add(self, channel: _Channel, item: list[int]) -> None:
        if channel.rhythm.most <= 1 and channel.collecting is None:
            self._number += 1
            self._new.append(self._single(channel, item))
            return
        if channel.collecting is None:
            self._number += 1
            channel.collecting = self._number
            self._fresh.add(self._number)
            due = int(self._now) + channel.rhythm.longest
            self._digests[self._number] = _Digest(self._number, channel.key, [], due)
        digest = self._digests[channel.collecting]
        digest.items.append(item)
        if len(digest.items) >= channel.rhythm.most:
            self._close(digest, channel)

    def _close(self, digest: _Digest, channel: _Channel) -> None:
        digest.open, digest.due = 0, channel.due(self._now)
        channel.collecting = None

    def _single(self, channel: _Channel, item: list[int]) -> Row:
        now, due = int(self._now), channel.due(self._now)
        self._created[channel.kind] += 1
        return (self._number, *channel.key, _json([item]), 0, channel.held, "due", 0, 0, due, now, None, item[1])

    def _row(self, one: _Digest, channel: _Channel) -> Row:
        self._created[channel.kind] += 1
        state = (one.open, channel.held, "due", 0, 0, one.due, int(self._now), None)
        return (one.number, *one.key, _json(one.items), *state, one.items[0][1])

    def _load(self, subscriptions: Iterable[str]) -> dict[Key, _Channel]:
        known = {subscription for subscription, _ in self._channels}
        missing = sorted(set(subscriptions) - known)
        for row in self._dialect.find(self._connection, channels.c.subscription, missing, None, _CHANNEL):
            channel = _Channel(row, self._rhythms)
            self._channels[channel.key] = channel
        return self._channels

    def _load_digests(self, numbers: Iterable[int | None]) -> None:
        missing = {number for number in numbers if number is not None} - self._digests.keys()
        for row in self._dialect.find(self._connection, deliveries.c.number, sorted(missing)):
            self._digests[row.number] = _read_digest(row)


def _read_digest(row: NamedRow) -> _Digest:
    return _Digest(row.number, (row.subscription, row.owner), msgspec.json.decode(row.items), row.due, row.open)


def _to_release(limit: int) -> Any:
    """Of those that are not active there is nothing to let go: they come again when they are."""
    active = channels.c.state == "active"
    return select(channels.c.subscription, channels.c.owner).where(UNRELEASED, active).limit(limit)


def _many(connection: Connection, statement: Any, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(statement, rows)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
