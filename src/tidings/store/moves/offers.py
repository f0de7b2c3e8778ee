"""Subscriptions on their way from one server to another: what the old one offers, and which are under way.

ticket at the new server ──> departure at the old one ──> offer ──> `moving_in` at the new one ──> departed
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, select, update

from tidings.errors import Explained, StoreError
from tidings.schema import Instant
from tidings.store.databases.database import Database, Dialect
from tidings.store.databases.seal import opened_body, sealed_body
from tidings.store.journal import stored_events, subscriptions
from tidings.store.journal.entries import Standing
from tidings.store.network.nodes import Place
from tidings.store.notifications.notifications import after_cursor
from tidings.store.notifications.progress import COMPOSITES, MATCHES, place_of
from tidings.store.notifications.waiting import State
from tidings.store.tables import (
    arrivals,
    composite_states,
    detections,
    early_matches,
    network_departures,
    network_marks,
    network_moved_in,
    network_tickets,
)
from tidings.store.tables import journal as entries

MOST_NOTIFICATIONS = 2_000  # in one message


class NoSuchTicket(Explained, StoreError):
    template = "the ticket is unknown here or has expired; ask for a new one: run `tidings move` again"


@dataclass(frozen=True, slots=True)
class Departure:
    """A subscription that is to move to the server, which knows the ticket."""

    subscription: str
    owner: str
    server: str
    ticket: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class OfferedNotification:
    cursor: int
    position: int
    stored: int
    detection: str = ""
    body: str = ""  # of a detection


@dataclass(frozen=True, slots=True)
class Offer:
    """A subscription at one moment, at which the journal ended at `tail` and its matches were known up to `committed`.
    `ahead` are the positions of other servers' events after their marks. The notifications are the first ones that the
    new server does not have yet; `more`: there are others."""

    standing: Standing
    tail: int
    committed: int
    marks: dict[str, Place]
    opened: int
    ahead: tuple[int, ...]
    notifications: tuple[OfferedNotification, ...]
    more: bool
    states: tuple[State, ...]
    early: tuple[str, ...]


def put_ticket(database: Database, digest: bytes, owner: str, now: Instant, expires: Instant) -> None:
    with database.writing("accounts") as connection:
        connection.execute(delete(network_tickets).where(network_tickets.c.expires <= int(now)))
        connection.execute(network_tickets.insert().values(digest=digest, owner=owner, expires=int(expires)))


def owner_of(connection: Connection, digest: bytes, now: Instant) -> str:
    """Raises NoSuchTicket."""
    table = network_tickets.c
    query = select(table.owner).where(table.digest == digest, table.expires > int(now))
    owner = connection.execute(query).scalar()
    if owner is None:
        raise NoSuchTicket
    return str(owner)


def put_departures(database: Database, departures: Iterable[Departure]) -> None:
    """Instead of those of the same subscriptions."""
    with database.writing() as connection:
        for one in departures:
            connection.execute(delete(network_departures).where(network_departures.c.subscription == one.subscription))
            values = {"subscription": one.subscription, "owner": one.owner, "server": one.server}
            ticket = sealed_body(connection, one.ticket)
            connection.execute(network_departures.insert().values(**values, ticket=ticket, problem=one.problem))


def departures(database: Database, owner: str | None = None) -> list[Departure]:
    with database.reading() as connection:
        query = select(network_departures).order_by(network_departures.c.subscription)
        rows = connection.execute(query if owner is None else query.where(network_departures.c.owner == owner)).all()
        return [
            Departure(row.subscription, row.owner, row.server, opened_body(connection, row.ticket), row.problem)
            for row in rows
        ]


def note_problem(database: Database, subscription: str, problem: str) -> None:
    with database.writing() as connection:
        known = network_departures.c.subscription == subscription
        connection.execute(update(network_departures).where(known).values(problem=problem))


def forget_moves_of(connection: Connection, owner: str) -> None:
    """Nothing more moves in or out for the account."""
    connection.execute(delete(network_tickets).where(network_tickets.c.owner == owner))
    connection.execute(delete(network_departures).where(network_departures.c.owner == owner))


def forget_departure(connection: Connection, subscription: str) -> None:
    connection.execute(delete(network_departures).where(network_departures.c.subscription == subscription))


def offer(database: Database, subscription: str, after: int) -> Offer | None:
    """What the new server is told, which has notifications up to a cursor; None where nothing stands under the id.

    Read at one moment: the marks speak for exactly this journal, and the states of a composite for exactly what its
    query has committed."""
    with database.reading() as connection:
        standing = subscriptions.one(connection, subscription)
        if standing is None:
            return None
        tail = stored_events.tail(connection)
        place = place_of(connection, COMPOSITES if standing.composite else MATCHES)
        committed = min(tail, max(place.committed, (standing.span or tail + 1) - 1))
        marks = {row.origin: (row.incarnation, row.position) for row in connection.execute(select(network_marks))}
        kept, more = _notifications(connection, database.dialect, standing, after)
        states, early = _waiting(connection, standing)
        return Offer(
            standing, tail, committed, marks, _opened(connection, standing), _ahead(connection, marks),
            kept, more, states, early,
        )  # fmt: skip


def _notifications(
    connection: Connection, dialect: Dialect, standing: Standing, after: int
) -> tuple[tuple[OfferedNotification, ...], bool]:
    """The first ones, and whether there are others."""
    rows = after_cursor(connection, dialect, after, MOST_NOTIFICATIONS + 1, standing.id, standing.owner)
    found = []
    for row in rows[:MOST_NOTIFICATIONS]:
        body = ""
        if row.detection:
            body = connection.execute(select(detections.c.body).where(detections.c.cursor == row.cursor)).scalar() or ""
        found.append(OfferedNotification(row.cursor, row.position, int(row.stored), row.detection, body))
    return tuple(found), len(rows) > MOST_NOTIFICATIONS


def _waiting(connection: Connection, standing: Standing) -> tuple[tuple[State, ...], tuple[str, ...]]:
    """The states of a composite, and the matches that wait for their time, with those of others."""
    if not standing.composite or standing.span is None:
        return (), ()
    key = composite_states.c.key
    own = (key >= f'["{standing.span}"') & (key < f'["{standing.span}#')
    states = tuple(
        State(row.key, row.shard, row.due, row.body, row.forget)
        for row in connection.execute(select(composite_states).where(own))
    )
    return states, tuple(connection.execute(select(early_matches.c.body)).scalars())


def _opened(connection: Connection, standing: Standing) -> int:
    if standing.span is None:
        return 0
    moved = select(network_moved_in.c.opened).where(network_moved_in.c.start == standing.span)
    if (before := connection.execute(moved).scalar()) is not None:
        return int(before)
    return connection.execute(select(entries.c.accepted).where(entries.c.position == standing.span)).scalar() or 0


def _ahead(connection: Connection, marks: dict[str, Place]) -> tuple[int, ...]:
    found: list[int] = []
    table = arrivals.c
    for origin in connection.execute(select(table.origin).distinct()).scalars():
        found += connection.execute(select(table.position).where(after_mark(origin, marks.get(origin)))).scalars()
    return tuple(sorted(found))


def after_mark(origin: str, mark: Place | None) -> Any:
    """The condition of arrivals of an origin that its mark does not speak for."""
    table = arrivals.c
    if mark is None:
        return table.origin == origin
    later = (table.incarnation > mark[0]) | ((table.incarnation == mark[0]) & (table.origin_position > mark[1]))
    return (table.origin == origin) & later


def origins(database: Database, positions: Iterable[int]) -> dict[int, tuple[str, int, int]]:
    """Where the events at these positions come from, by position, of those of other servers."""
    with database.reading() as connection:
        rows = database.dialect.find(connection, arrivals.c.position, sorted(positions))
        return {row.position: (row.origin, row.incarnation, row.origin_position) for row in rows}
