"""May this time be believed? A store's time, checked against the time that has really passed.

The store's clock is this host's for SQLite and the server's for PostgreSQL. `clock_anchors` holds, for each boot of
each host, one time of day that was believed and the time since boot that belongs to it. From there on both must
advance alike: a difference beyond `LIMIT` is a jump, in whatever process and however long after. A host without an
anchor of its own (after a reboot, or a new one) compares with the latest time that was believed: `GAP` may have
passed since. Not while a host that has an anchor sees a jump: it says so in the store, lest a host that cannot tell a
jump from a long pause accepts at a time that all others refuse.

While the clock is wrong, `now` is the time by the anchor, so that what needs only durations (retries, leases) goes on;
whatever accepts, expires or deletes asks `check` first. It ends when the clock is right again, or when an operator
confirms the new time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from sqlalchemy import Connection, delete, func, select, text, update

from tidings.errors import StoreError
from tidings.schema import Instant
from tidings.store.clock.clock import Clock, Steady, now, offset
from tidings.store.databases.database import Database
from tidings.store.errors import ClockJumped
from tidings.store.tables import about, clock_anchors, deliveries, notice_mails

_SECOND = 1_000_000
LIMIT = 60 * _SECOND  # between two looks a clock may be set by this much: time servers correct it by less
GAP = 30 * 24 * 60 * 60 * _SECOND  # a host that was off for longer asks the operator
_MOVED = 60 * _SECOND  # how often an anchor follows its clock
_FRESH = 5.0  # seconds until another look whether somebody else has moved the anchor
_MOST_ANCHORS = 20
_ADD = text("INSERT INTO clock_anchors (boot, elapsed, time) VALUES (:boot, :elapsed, :time) ON CONFLICT DO NOTHING")
_OF_OTHERS = select(func.max(clock_anchors.c.time), func.max(func.abs(clock_anchors.c.jump)))
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A time of day that was believed, and the time since boot that belongs to it."""

    steady: Steady
    time: int
    is_kept: bool = False  # in the store
    is_of_another_boot: bool = False  # then `steady` is when it was first seen in this one
    most: int = LIMIT  # by which the clock may be ahead of it
    jump: int = 0  # what the store says that this boot saw last
    is_guess: bool = False  # the time was further from the latest that was believed than `LIMIT`

    def at(self, steady: Steady) -> int:
        return self.time + steady.elapsed - self.steady.elapsed


@dataclass(frozen=True, slots=True)
class ClockReading:
    """`said` by the clock; `now` is what is believed; `jump` how far they are apart, 0 where the clock is right."""

    said: Instant
    now: Instant
    jump: int = 0

    @property
    def is_right(self) -> bool:
        return not self.jump

    @property
    def problem(self) -> ClockJumped:
        return ClockJumped(str(self.said), str(self.now), self.jump)

    def check(self) -> None:
        """Raises ClockJumped."""
        if self.jump:
            raise self.problem


class ClockGuard:
    """Safe in several threads: what was seen last is replaced as a whole."""

    def __init__(self, database: Database, clock: Clock | None) -> None:
        self._database = database
        self._clock = clock or now
        self._query = database.dialect.clock_query if clock is None else None
        self._steady: Any = getattr(self._clock, "steady", None)
        self._anchor: Anchor | None = None  # None: nothing was ever accepted, and any time will do
        self._seen: Anchor | None = None  # what the server's clock said at the last look
        self._looked = 0.0
        self.on_jump: Callable[[Connection, ClockReading], None] | None = None  # in a transaction, once for each jump

    def begin(self, connection: Connection) -> None:
        """The first look, when a store is opened."""
        if self._steady is not None:
            self.read(connection, fresh=True)

    def now(self) -> Instant:
        """What is believed, without asking the database: also while it cannot be reached."""
        return self._judge(self._said(None)).now

    def look(self) -> ClockReading:
        """Asks the database: another process, or an operator, may have moved the anchor. Other hosts learn from it
        whether this one sees a jump."""
        with self._database.reading() as connection:
            reading = self.read(connection, fresh=True)
        if self._is_news(reading):
            try:
                with self._database.writing("outbox") as connection:
                    self._tell(connection, reading)
            except StoreError as problem:  # this host refuses all the same
                _log.warning("other hosts cannot be told of the clock: %s", problem)
        return reading

    def read(self, connection: Connection, fresh: bool = False) -> ClockReading:
        """The time at this moment of a transaction, not at its beginning."""
        anchor = self._anchor
        fresh |= (anchor is not None and anchor.is_guess) or monotonic() - self._looked > _FRESH
        if self._steady is not None and fresh:
            self._find_anchor(connection)
        reading = self._judge(self._said(connection))
        return self.read(connection, fresh=True) if reading.jump and not fresh else reading

    def keep(self, connection: Connection, reading: ClockReading) -> None:
        """Inside a writing transaction: lets the anchor follow a clock that is right, once a minute, and tells other
        hosts of one that is not."""
        anchor = self._anchor
        if self._is_news(reading):
            self._tell(connection, reading)
        elif anchor is not None and reading.is_right:
            steady: Steady = self._steady()
            if not anchor.is_kept or steady.elapsed - anchor.steady.elapsed >= _MOVED:
                self._keep(connection, Anchor(steady, reading.said))

    def confirm(self, connection: Connection) -> ClockReading:
        """Inside a transaction of the outbox: what the clock says now is right, here and on all other hosts. These
        have seen something else, or have not looked yet, so they begin again as new ones.

        Where it is earlier than it was, so is what was to be sent at some time after now."""
        reading = self.read(connection, fresh=True)
        if self._steady is not None:
            if reading.jump < 0:
                for table in (deliveries, notice_mails):
                    later = update(table).where(table.c.due > int(reading.said))
                    connection.execute(later.values(due=table.c.due + reading.jump))
            connection.execute(delete(clock_anchors))
            self._keep(connection, Anchor(self._steady(), reading.said))
        return reading

    def _said(self, connection: Connection | None) -> Instant:
        if self._query is None:
            return self._clock()
        if connection is not None:
            server: int = connection.exec_driver_sql(self._query).scalar_one()
            self._seen = Anchor(self._steady(), server + offset())
        assert self._seen is not None, "a store looks at its clock when it is opened"
        return Instant(self._seen.at(self._steady()))

    def _judge(self, said: Instant) -> ClockReading:
        if self._steady is None:
            return ClockReading(said, said)
        steady: Steady = self._steady()
        anchor = self._anchor
        if anchor is None:
            self._anchor = Anchor(steady, said)
            return ClockReading(said, said)
        expected = anchor.at(steady)
        if not -LIMIT <= said - expected <= anchor.most:
            return ClockReading(said, Instant(expected), said - expected)
        if anchor.is_of_another_boot:
            self._anchor = Anchor(steady, said, is_guess=said - expected > LIMIT)
        return ClockReading(said, said)

    def _find_anchor(self, connection: Connection) -> None:
        steady: Steady = self._steady()
        self._looked = monotonic()
        row: Any = connection.execute(select(clock_anchors).where(clock_anchors.c.boot == steady.boot)).first()
        anchor = self._anchor
        if row is not None:
            self._anchor = Anchor(Steady(row.boot, row.elapsed), row.time, is_kept=True, jump=row.jump)
            return
        latest, jump = connection.execute(_OF_OTHERS).one()
        latest = latest or connection.execute(select(about.c.accepted)).scalar_one()
        if anchor is None or anchor.is_kept or anchor.is_of_another_boot or (anchor.is_guess and jump):
            if latest and (anchor is None or anchor.time != latest):
                anchor = Anchor(steady, latest, is_of_another_boot=True)
            if anchor is not None and anchor.is_of_another_boot:
                anchor = replace(anchor, most=LIMIT if jump else GAP)
            self._anchor = anchor

    def _is_news(self, reading: ClockReading) -> bool:
        """Whether the store says something else of what this host sees. Only one that has an anchor can tell."""
        anchor = self._anchor
        return anchor is not None and anchor.is_kept and reading.is_right != (not anchor.jump)

    def _tell(self, connection: Connection, reading: ClockReading) -> None:
        anchor = self._anchor
        assert anchor is not None
        mine = clock_anchors.c.boot == anchor.steady.boot
        connection.execute(update(clock_anchors).where(mine).values(jump=reading.jump))
        if reading.jump and self.on_jump is not None:
            self.on_jump(connection, reading)
        self._anchor = replace(anchor, jump=reading.jump)

    def _keep(self, connection: Connection, anchor: Anchor) -> None:
        """Two processes of one host may do so at once: what one of them keeps is as good as what the other does."""
        values = {"elapsed": anchor.steady.elapsed, "time": int(anchor.time)}
        mine = clock_anchors.c.boot == anchor.steady.boot
        if not connection.execute(update(clock_anchors).where(mine).values(values)).rowcount:
            connection.execute(_ADD, {"boot": anchor.steady.boot, **values})
            latest = select(clock_anchors.c.boot).order_by(clock_anchors.c.time.desc()).limit(_MOST_ANCHORS)
            connection.execute(delete(clock_anchors).where(clock_anchors.c.boot.not_in(latest.scalar_subquery())))
        self._anchor = replace(anchor, is_kept=True)
