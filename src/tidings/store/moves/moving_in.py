"""A subscription moves in: itself, its notifications and what its composite waits for, in one transaction with the
marks. `arrivals` calls this among everything else that a server of a network stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from sqlalchemy import Connection, delete, select, update

from tidings.errors import TidingsError
from tidings.schema import Catalog
from tidings.store.append import append
from tidings.store.clock.clock_guard import ClockGuard
from tidings.store.databases.database import Database, Dialect
from tidings.store.errors import SubscriptionExists
from tidings.store.journal import subscriptions
from tidings.store.journal.entries import (
    Accepted,
    Draft,
    Outcome,
    Pause,
    PublishPast,
    PublishValid,
    Refused,
    Subscribe,
)
from tidings.store.journal.projections import event_key
from tidings.store.journal.stored_events import EVENTS, tail
from tidings.store.moves.offers import after_mark, owner_of
from tidings.store.network.nodes import Place
from tidings.store.notifications.notifications import owners_after
from tidings.store.notifications.packs import END
from tidings.store.notifications.progress import last_cursor
from tidings.store.notifications.waiting import State
from tidings.store.tables import (
    arrivals,
    composite_states,
    detections,
    early_matches,
    event_keys,
    journal,
    network_marks,
    network_moved_in,
    notifications,
    notified,
)

if TYPE_CHECKING:
    from tidings.store.notifications.composite_batch import Early  # with pyarrow, without which the gateway starts

_OWN = (
    "SELECT position FROM journal WHERE position > ? AND kind = 'event' "
    "AND NOT EXISTS (SELECT 1 FROM arrivals WHERE arrivals.position = journal.position) ORDER BY position"
)


@dataclass(frozen=True, slots=True)
class MovedEvent:
    """An event that the old server has, and whether it still had to match it."""

    draft: PublishValid
    origin: str
    place: Place
    pending: bool


@dataclass(frozen=True, slots=True)
class MovedNotification:
    """Of the event of this number, or of none; `body` has what a composite found."""

    event: int | None
    stored: int
    detection: str = ""
    body: str = ""


class Candidate(NamedTuple):
    """An event that may match what moves in; accepted at a time in microseconds."""

    position: int
    body: str
    accepted: int


Waiting = Callable[[int, Sequence[Candidate]], tuple[Sequence[State], Sequence["Early"]]]


@dataclass(frozen=True, slots=True)
class MoveIn:
    """What the old server offered. `marks` are its own, `own_after` is how far it had this server's events. `select`
    tells which of these events match; `waiting` gives what a composite that starts at a position waits for, with these
    events that no server has matched for it."""

    giver: str
    since: int  # where the subscription began there: one that went back and comes again is another
    digest: bytes  # of the ticket
    subscription: Subscribe
    paused: bool
    opened: int
    events: tuple[MovedEvent, ...]
    notifications: tuple[MovedNotification, ...]
    marks: dict[str, Place]
    own_after: int
    select: Callable[[Sequence[Candidate]], Sequence[Candidate]]
    waiting: Waiting | None = None

    @property
    def place(self) -> str:
        return f"{self.giver} {self.since}"


def move_in(
    connection: Connection,
    database: Database,
    catalog: Callable[[Connection, int], Catalog],
    clock: ClockGuard,
    offer: MoveIn,
) -> Outcome:
    """Accepted also where it moved in before; Refused, and nothing is changed, where it cannot."""
    known = network_moved_in.c
    again = select(known.start).where(known.subscription == offer.subscription.id, known.server == offer.place)
    start = connection.execute(again).scalar()
    if start is not None:
        return Accepted(int(start), clock.now())
    try:
        owner = owner_of(connection, offer.digest, clock.now())
    except TidingsError as problem:
        return Refused(problem)
    return _Arriving(connection, database.dialect, catalog, clock, offer, owner).outcome()


def stow(
    connection: Connection,
    database: Database,
    catalog: Callable[[Connection, int], Catalog],
    clock: ClockGuard,
    offer: MoveIn,
    span: tuple[int, int],
) -> int:
    """Notifications that come before their subscription: those after one cursor of the old server's, up to another. The
    cursor up to which they are here. Raises NoSuchTicket or SubscriptionExists."""
    id, (after, upto) = offer.subscription.id, span
    known = network_moved_in
    there = {
        row.server: row.start
        for row in connection.execute(select(known.c.server, known.c.start).where(known.c.subscription == id))
    }
    if offer.place in there:
        return upto  # the subscription itself is here
    owner = owner_of(connection, offer.digest, clock.now())
    if subscriptions.one(connection, id) is not None:
        raise SubscriptionExists(id)
    luggage = f"{offer.place} luggage"
    through = -int(there.get(luggage, 0))
    if after != through or upto <= after:
        return through
    _Arriving(connection, database.dialect, catalog, clock, offer, owner).stow()
    connection.execute(delete(known).where(known.c.subscription == id, known.c.server == luggage))
    connection.execute(known.insert().values(subscription=id, server=luggage, start=-upto, opened=0))
    return upto


class _Arriving:
    def __init__(
        self,
        connection: Connection,
        dialect: Dialect,
        catalog: Callable[[Connection, int], Catalog],
        clock: ClockGuard,
        offer: MoveIn,
        owner: str,
    ) -> None:
        self._connection, self._dialect, self._clock = connection, dialect, clock
        self._catalog, self._offer, self._owner = catalog, offer, owner
        self._marks: dict[str, Place] = {}

    def outcome(self) -> Outcome:
        offer, connection = self._offer, self._connection
        missed, self._marks = self._missed(), self._own_marks()  # before the events of the offer are here
        connection.exec_driver_sql("SAVEPOINT moving_in")
        wanted = replace(offer.subscription, owner=self._owner)
        drafts: list[Draft] = [self._draft(one) for one in offer.events]
        drafts += [wanted, Pause(wanted.id)] if offer.paused else [wanted]
        outcomes = append(connection, self._dialect, self._catalog, drafts, self._clock)
        subscribed = outcomes[len(offer.events)]
        if not isinstance(subscribed, Accepted):
            connection.exec_driver_sql("ROLLBACK TO SAVEPOINT moving_in")
            return subscribed
        positions = self._enter(outcomes[: len(offer.events)])
        start = subscribed.position
        new = self._new(positions, missed)
        self._notify(start, positions, [] if wanted.composite or offer.paused else new)
        if wanted.composite and offer.waiting is not None and not offer.paused:
            self._wait(start, new)
        values = {"subscription": wanted.id, "server": offer.place, "start": start, "opened": offer.opened}
        connection.execute(network_moved_in.insert().values(values))
        connection.exec_driver_sql("RELEASE SAVEPOINT moving_in")
        return subscribed

    def stow(self) -> None:
        self._marks = self._own_marks()
        drafts: list[Draft] = [self._draft(one) for one in self._offer.events]
        positions = self._enter(append(self._connection, self._dialect, self._catalog, drafts, self._clock))
        self._notify(tail(self._connection), positions, [])

    def _missed(self) -> list[int]:
        """The positions of events here that the old server's marks do not speak for."""
        connection, offer = self._connection, self._offer
        found = [row.position for row in self._dialect.page(connection, _OWN, (offer.own_after,))]
        for origin in connection.execute(select(arrivals.c.origin).distinct()).scalars():
            later = select(arrivals.c.position).where(after_mark(origin, offer.marks.get(origin)))
            found += connection.execute(later).scalars()
        return sorted(found)

    def _draft(self, one: MovedEvent) -> Draft:
        """An event that this server's mark does not speak for is still to come for others here, too; any other was
        matched where it had to be, and is only kept."""
        mark = self._marks.get(one.origin)
        return one.draft if mark is not None and one.place > mark else PublishPast(one.draft.event)

    def _own_marks(self) -> dict[str, Place]:
        rows = self._connection.execute(select(network_marks))
        return {row.origin: (row.incarnation, row.position) for row in rows}

    def _enter(self, outcomes: Sequence[Outcome]) -> list[int | None]:
        """Where each event of the offer is now."""
        rows, positions = [], list[int | None]()
        for one, outcome in zip(self._offer.events, outcomes, strict=True):
            if isinstance(outcome, Accepted):
                rows.append((outcome.position, one.origin, *one.place))
            positions.append(None if isinstance(outcome, Refused) else outcome.position)
        if rows:
            self._dialect.insert(self._connection, arrivals, rows)
        return positions

    def _new(self, positions: Sequence[int | None], missed: Sequence[int]) -> list[Candidate]:
        """The positions of events that nobody has matched with the subscription yet, and that do."""
        pairs = list(zip(self._offer.events, positions, strict=True))
        pending = {at for one, at in pairs if one.pending and at is not None}
        done = {at for one, at in pairs if not one.pending}
        candidates = sorted(pending | set(missed) - done)
        names = ("position", "accepted", "body", "kind")
        rows = self._dialect.find(self._connection, journal.c.position, candidates, names=names)
        there = {row.position: Candidate(row.position, row.body, row.accepted) for row in rows if row.kind in EVENTS}
        return list(self._offer.select([there[at] for at in candidates if at in there]))

    def _notify(self, start: int, positions: Sequence[int | None], new: Sequence[Candidate]) -> None:
        connection, id, now = self._connection, self._offer.subscription.id, int(self._clock.now())
        rows, bodies, seen = [], [], self._notified()
        cursor = last_cursor(connection)
        for one in self._offer.notifications:
            at = None if one.event is None else positions[one.event]
            position = start if at is None else at
            if _name(position, one.detection) in seen or (at is None and not one.detection):
                continue
            seen.add(_name(position, one.detection))
            cursor += 1
            rows.append((cursor, position, id, one.stored, self._owner, one.detection, 0))
            if one.detection:
                bodies.append((cursor, start, self._placed(one.body)))
        for position in (one.position for one in new):
            if position not in seen:
                cursor += 1
                rows.append((cursor, position, id, now, self._owner, "", 0))
        self._dialect.insert(connection, notifications, rows)
        self._dialect.insert(connection, detections, bodies)
        connection.execute(update(notified).values(cursor=cursor))

    def _notified(self) -> set[int | str]:
        """What was notified of here before it went away and came back."""
        id = self._offer.subscription.id
        rows = owners_after(self._connection, self._dialect, self._owner, id, 0, END)
        return {_name(row.position, row.detection) for row in rows}

    def _placed(self, body: str) -> str:
        """What a composite found, with the positions that its events have here."""
        read = msgspec.json.decode(body)
        keys = {event_key(source, id): number for number, (_, source, id, _) in enumerate(read["events"])}
        for event in read["events"]:
            event[3] = None
        for row in self._dialect.find(self._connection, event_keys.c.key, list(keys)):
            read["events"][keys[bytes(row.key)]][3] = row.position
        return msgspec.json.encode(read).decode()

    def _wait(self, start: int, new: Sequence[Candidate]) -> None:
        assert self._offer.waiting is not None
        states, early = self._offer.waiting(start, new)
        self._dialect.insert(self._connection, composite_states, [tuple(one) for one in states])
        self._dialect.insert(self._connection, early_matches, [(one.shard, one.span, start, one.body) for one in early])


def _name(position: int, detection: str) -> int | str:
    """Of a notification of one subscription."""
    return detection or position
