"""Who this server is in its network, and how far it is: incarnations, marks, gaps, orders, links."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, delete, func, select, update

from tidings.errors import Explained, StoreError
from tidings.schema import Instant
from tidings.store.databases.database import Database
from tidings.store.databases.seal import opened_body, sealed_body
from tidings.store.tables import (
    about,
    arrivals,
    network_gaps,
    network_incarnations,
    network_links,
    network_marks,
    network_node,
    network_orders,
)

_NEVER = Instant(0)
MOST_GAPS = 1_000  # that are reported; the oldest go
_SPREAD = 10**6  # numbers among which an incarnation is drawn that the clock cannot tell apart
Place = tuple[int, int]  # incarnation and position
_OWN_EVENTS = (
    "SELECT position, accepted, watermark, schema_version, body FROM journal "
    "WHERE position > ? AND position <= ? AND kind = 'event' "
    "AND NOT EXISTS (SELECT 1 FROM arrivals WHERE arrivals.position = journal.position) ORDER BY position LIMIT ?"
)
_LAST_OWN = (
    "SELECT position FROM journal WHERE kind = 'event' "
    "AND NOT EXISTS (SELECT 1 FROM arrivals WHERE arrivals.position = journal.position) ORDER BY position DESC LIMIT 1"
)


class NamedOtherwise(Explained, StoreError):
    """A server keeps its name: others know its events by it."""

    given: str
    name: str
    template = "this store belongs to the server {name!r}, not {given!r}: start it with --name {name}"


@dataclass(frozen=True, slots=True)
class Gap:
    origin: str
    after: int
    through: int
    noticed: Instant = _NEVER


@dataclass(frozen=True, slots=True)
class StoredOrder:
    request: str
    kind: str
    body: str


@dataclass(frozen=True, slots=True)
class Node:
    """What a server knows of itself when it starts."""

    name: str
    identity: str
    term: int
    home: str
    restored: bool
    incarnations: tuple[Place, ...]  # number, and after which position it began
    marks: dict[str, Place]
    gaps: tuple[Gap, ...]
    orders: tuple[StoredOrder, ...]
    position: int  # of the last own event


@dataclass(frozen=True, slots=True)
class StoredLink:
    name: str
    identity: str
    url: str
    token: str = field(repr=False)
    digest: bytes = field(repr=False)
    joined: Instant = _NEVER


def begin(database: Database, name: str, number: int) -> str:
    """A new incarnation, with at least this number, of the server of this name; its identity. Raises NamedOtherwise."""
    with database.writing() as connection:
        row: Any = connection.execute(select(network_node)).first()
        if row is None:
            identity = uuid4().hex
            connection.execute(network_node.insert().values(one=1, name=name, identity=identity))
        elif row.name != name:
            raise NamedOtherwise(name, row.name)
        else:
            identity = row.identity
        last = connection.execute(select(func.max(network_incarnations.c.number))).scalar() or 0
        tail = connection.execute(select(about.c.tail)).scalar_one()
        if number <= last:  # the clock was set back: a restored copy must not count as it did before
            number = last + 1 + secrets.randbelow(_SPREAD)
        connection.execute(network_incarnations.insert().values(number=number, began=tail))
        return str(identity)


def node(database: Database) -> Node | None:
    with database.reading() as connection:
        row: Any = connection.execute(select(network_node)).first()
        if row is None:
            return None
        own = database.dialect.page(connection, _LAST_OWN, ())
        numbers = connection.execute(select(network_incarnations).order_by(network_incarnations.c.number))
        marks = connection.execute(select(network_marks))
        gaps = connection.execute(select(network_gaps).order_by(network_gaps.c.number))
        orders = connection.execute(select(network_orders).order_by(network_orders.c.place))
        return Node(
            row.name,
            row.identity,
            row.term,
            row.home,
            bool(row.restored),
            tuple((one.number, one.began) for one in numbers),
            {one.origin: (one.incarnation, one.position) for one in marks},
            tuple(Gap(one.origin, one.after, one.through, Instant(one.noticed)) for one in gaps),
            tuple(StoredOrder(one.request, one.kind, one.body) for one in orders),
            int(own[0].position) if own else 0,
        )


def put_marks(connection: Connection, marks: Iterable[tuple[str, Place]]) -> None:
    for origin, (incarnation, position) in marks:
        values = {"incarnation": incarnation, "position": position}
        known = update(network_marks).where(network_marks.c.origin == origin).values(values)
        if not connection.execute(known).rowcount:
            connection.execute(network_marks.insert().values(origin=origin, **values))


def put_gap(connection: Connection, gap: Gap, noticed: Instant) -> None:
    last = connection.execute(select(func.max(network_gaps.c.number))).scalar() or 0
    values = {"origin": gap.origin, "after": gap.after, "through": gap.through, "noticed": int(noticed)}
    connection.execute(network_gaps.insert().values(number=last + 1, **values))
    connection.execute(delete(network_gaps).where(network_gaps.c.number <= last + 1 - MOST_GAPS))


def put_orders(connection: Connection, orders: Iterable[StoredOrder]) -> None:
    last = connection.execute(select(func.max(network_orders.c.place))).scalar() or 0
    for place, one in enumerate(orders, last + 1):
        values = {"request": one.request, "kind": one.kind, "body": one.body}
        connection.execute(network_orders.insert().values(place=place, **values))
        if one.kind == "distribute":
            connection.execute(update(network_node).values(distribution=one.body))
        elif one.kind == "strike off":
            connection.execute(delete(network_marks).where(network_marks.c.origin == one.body))


def put_rule(connection: Connection, term: int, home: str) -> None:
    connection.execute(update(network_node).values(term=term, home=home))


def renumber(connection: Connection, number: int) -> None:
    """The present incarnation; a server that must do so was restored from an older copy."""
    newest = connection.execute(select(func.max(network_incarnations.c.number))).scalar_one()
    known = update(network_incarnations).where(network_incarnations.c.number == newest)
    connection.execute(known.values(number=number))
    connection.execute(update(network_node).values(restored=True))


def taken_after(connection: Connection, origin: str, mark: Place, most: int) -> list[Place]:
    table = arrivals.c
    later = (table.incarnation > mark[0]) | ((table.incarnation == mark[0]) & (table.origin_position > mark[1]))
    query = select(table.incarnation, table.origin_position).where(table.origin == origin, later)
    rows = connection.execute(query.order_by(table.incarnation, table.origin_position).limit(most))
    return [(row.incarnation, row.origin_position) for row in rows]


def own_events(database: Database, after: int, upto: int, rows: int, most_bytes: int) -> list[tuple[int, int, str]]:
    """Position, schema version and body of own events, the first of (after, upto] that fit."""
    with database.reading() as connection:
        page = database.dialect.bounded_page(connection, _OWN_EVENTS, (after, upto, rows), most_bytes)
    return [(position, version, body) for position, _, _, version, body in page]


def origin_of(connection: Connection, position: int) -> str | None:
    """The server that accepted the event at this position; None: this one."""
    return connection.execute(select(arrivals.c.origin).where(arrivals.c.position == position)).scalar()


def links(database: Database) -> list[StoredLink]:
    with database.reading() as connection:
        rows = connection.execute(select(network_links).order_by(network_links.c.name)).all()
        return [_link(connection, row) for row in rows]


def link_of(connection: Connection, digest: bytes) -> StoredLink | None:
    row = connection.execute(select(network_links).where(network_links.c.digest == digest)).first()
    return None if row is None else _link(connection, row)


def put_link(database: Database, link: StoredLink, now: Instant) -> None:
    """Instead of one of the same name."""
    with database.writing("accounts") as connection:
        connection.execute(delete(network_links).where(network_links.c.name == link.name))
        values = {"name": link.name, "identity": link.identity, "url": link.url, "digest": link.digest}
        token = sealed_body(connection, link.token)
        connection.execute(network_links.insert().values(**values, token=token, joined=int(now)))


def remove_link(database: Database, name: str) -> bool:
    with database.writing("accounts") as connection:
        return connection.execute(delete(network_links).where(network_links.c.name == name)).rowcount > 0


def forget_arrivals(database: Database) -> int:
    """Of events that retention has removed; how many."""
    with database.writing() as connection:
        trimmed = connection.execute(select(about.c.trimmed)).scalar_one()
        return connection.execute(delete(arrivals).where(arrivals.c.position <= trimmed)).rowcount


def _link(connection: Connection, row: Any) -> StoredLink:
    token = opened_body(connection, row.token)
    return StoredLink(row.name, row.identity, row.url, token, bytes(row.digest), Instant(row.joined))
