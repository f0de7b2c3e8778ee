"""What follows from the journal, for the part of it that one transaction touches.

`apply` takes one entry after another and says what it means for catalog, subscriptions, spans, quotas and event
keys; `write` puts the outcome into the tables. Appending and rebuilding both go through here, so they cannot differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, delete, select, update

from tidings.schema import Catalog, Instant, json_form
from tidings.schema.growth import SetStatistics, grow
from tidings.store import tables
from tidings.store.databases.database import Dialect, NamedRow
from tidings.store.journal.entries import Span, Standing
from tidings.store.journal.stored_events import EVENTS

_table = tables.subscriptions
_EXPIRED = (
    select(_table)
    .where(_table.c.expiry <= bindparam("time"))
    .order_by(_table.c.expiry, _table.c.id)
    .limit(bindparam("most"))
)
_LONGEST_KEY = 255  # bytes; a longer one would not fit into PostgreSQL's index, so its digest stands for it


def event_key(source: str, id: str) -> bytes:
    """One text for a source and an id, different for every two of them; neighbours in both stay neighbours."""
    key = f"{len(source)}:{source}{id}".encode("utf-8", "surrogatepass")
    return key if len(key) <= _LONGEST_KEY else b"#" + blake2b(key, digest_size=32).hexdigest().encode()


class Projections:
    """The state at one position. Subscriptions and keys are there only when they were loaded."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._forget()

    def _forget(self) -> None:
        self.standing: dict[str, Standing] = {}
        self.keys: dict[bytes, int] = {}
        self.owned: Counter[str] = Counter()  # subscriptions by owner, of the owners that were loaded
        self._stored: dict[str, Standing] = {}  # as the table has them
        self._touched: set[str] = set()
        self._grown = False
        self._new_keys: list[tuple[bytes, int]] = []
        self._opened: dict[int, Span] = {}
        self._closed: dict[int, int] = {}
        self._quotas: list[tuple[str, int, int]] = []
        self._profiles: list[tuple[str, int, str]] = []
        self.profiles: dict[str, str] = {}

    def load(self, connection: Connection, dialect: Dialect, ids: Iterable[str], keys: Iterable[bytes]) -> None:
        """What the tables hold for these, as far as it is not here already."""
        for row in dialect.find(connection, tables.subscriptions.c.id, list(dict.fromkeys(ids))):
            self._add(row)
        known = dialect.find(connection, tables.event_keys.c.key, sorted(keys))
        self.keys.update((bytes(row.key), row.position) for row in known)

    def load_owned(self, connection: Connection, owners: Collection[str]) -> None:
        """How many subscriptions they have; to be called before the first entry is applied."""
        counts = tables.subscription_counts.c
        if owners:
            rows = connection.execute(select(counts.owner, counts.subscriptions).where(counts.owner.in_(owners)))
            self.owned.update({row.owner: row.subscriptions for row in rows})

    def load_expired(self, connection: Connection, time: Instant, most: int) -> list[str]:
        """The ids of the subscriptions that have expired at this time, first the one that did so first."""
        rows = connection.execute(_EXPIRED, {"time": int(time), "most": most}).all()
        for row in rows:
            self._add(row)
        return [row.id for row in rows]

    def _add(self, row: NamedRow) -> None:
        if row.id not in self._touched:
            self.standing[row.id] = self._stored[row.id] = read_standing(row)

    def apply_event(self, key: bytes, position: int) -> None:
        self.keys[key] = position
        self._new_keys.append((key, position))

    def apply(self, kind: str, position: int, body: dict[str, Any]) -> None:
        """What an entry means. Raises KeyError or ValueError where it cannot follow on what is here."""
        if kind in EVENTS:
            self.apply_event(event_key(body.get("source", ""), body["id"]), position)
        elif kind == "schema":
            change = json_form.read_change(body)
            if isinstance(change, SetStatistics):  # what came before is compared under earlier ones
                change = SetStatistics(replace(change.statistics, since=position))
            self.catalog = grow(self.catalog, change)
            self._grown = True
        elif kind == "quota":
            self._quotas.append((body.get("account", ""), position, body["matches_per_minute"]))
        elif kind == "profile":
            self._profiles.append((body["name"], position, body["options"]))
            self.profiles[body["name"]] = body["options"]
        elif kind != "tick":
            self._apply_to_subscription(kind, position, body)

    def _apply_to_subscription(self, kind: str, position: int, body: dict[str, Any]) -> None:
        id = body["id"]
        if kind == "subscribe":
            if id in self.standing:
                raise ValueError(f"subscription {id!r} exists already")
            expiry = None if "expiry" not in body else Instant.parse(body["expiry"])
            owner, delivery = body.get("owner", ""), body.get("delivery", "")
            self.owned[owner] += 1
            named = body.get("name", ""), body.get("note", ""), "composite" in body
            self._open(Standing(id, owner, _text(body), "active", expiry, delivery, position, position, *named))
            return
        before = self.standing[id]
        match kind, before.state:
            case "withdraw" | "expire", _:
                self._touched.add(id)
                self._close(before, position)
                self.owned[before.owner] -= 1
                del self.standing[id]
            case "pause", "active":
                self._close(before, position)
                self._stand(replace(before, state="paused", span=None))
            case "resume", "paused":
                self._open(replace(before, state="active", span=position))
            case "edit", "active" if "filter" in body or "composite" in body:
                self._close(before, position)
                self._open(replace(_edited(before, body), span=position))
            case "edit", _:
                self._stand(_edited(before, body))
            case "name", _:
                self._stand(_changed(before, body, ("name", "note")))
            case _:
                raise ValueError(f"{kind!r} is not possible: subscription {id!r} is {before.state}")

    def _stand(self, standing: Standing) -> None:
        self._touched.add(standing.id)
        self.standing[standing.id] = standing

    def _open(self, standing: Standing) -> None:
        assert standing.span is not None
        self._stand(standing)
        members = standing.filter, standing.owner, standing.composite
        self._opened[standing.span] = Span(standing.id, standing.span, None, *members)

    def _close(self, standing: Standing, stop: int) -> None:
        start = standing.span
        if start is None:
            return
        if start in self._opened:
            self._opened[start] = replace(self._opened[start], stop=stop)
        else:
            self._closed[start] = stop

    def write(self, connection: Connection, dialect: Dialect) -> None:
        """Everything that was applied; afterwards only the catalog is remembered, the rest must be loaded again."""
        if self._grown:
            body = msgspec.json.encode(json_form.write(self.catalog)).decode()
            connection.execute(update(tables.catalog).values(version=self.catalog.version, body=body))
        if self._new_keys:
            # In order, each page of the index is touched once; random ones went in at half the speed.
            dialect.insert(connection, tables.event_keys, sorted(self._new_keys))
        if self._touched:
            self._write_subscriptions(connection, dialect)
        if self._opened:
            opened = (
                (one.start, one.stop, one.subscription, one.filter, one.owner, one.composite)
                for one in self._opened.values()
            )
            dialect.insert(connection, tables.spans, opened)
        if self._closed:
            statement = update(tables.spans).where(tables.spans.c.start == bindparam("at")).values(stop=bindparam("to"))
            connection.execute(statement, [{"at": at, "to": to} for at, to in self._closed.items()])
        if self._quotas:
            dialect.insert(connection, tables.quotas, self._quotas)
        if self._profiles:
            dialect.insert(connection, tables.composite_profiles, self._profiles)
        self._forget()

    def _write_subscriptions(self, connection: Connection, dialect: Dialect) -> None:
        if old := [{"gone": id} for id in self._touched & self._stored.keys()]:
            connection.execute(delete(tables.subscriptions).where(tables.subscriptions.c.id == bindparam("gone")), old)
        rows = (
            (
                one.id,
                one.owner,
                one.filter,
                one.state,
                one.expiry,
                one.delivery,
                one.since,
                one.span,
                one.name,
                one.note,
                one.name.casefold(),
                one.composite,
            )
            for one in map(self.standing.get, sorted(self._touched))
            if one is not None
        )
        dialect.insert(connection, tables.subscriptions, rows)
        self._count_subscriptions(connection)

    def _count_subscriptions(self, connection: Connection) -> None:
        """The counters by state and by owner: counting a million takes 0.2 s, and `/readyz` asks all the time."""
        before = [self._stored[id] for id in self._touched & self._stored.keys()]
        after = [one for one in map(self.standing.get, self._touched) if one is not None]
        states = Counter(one.state for one in after)
        states.subtract(one.state for one in before)
        more = {state: tables.about.c[state] + count for state, count in states.items() if count}
        if more:
            connection.execute(update(tables.about).values(more))
        owners = Counter(one.owner for one in after if one.owner)
        owners.subtract(one.owner for one in before if one.owner)
        counts = tables.subscription_counts
        for owner, count in owners.items():
            if count:
                mine = update(counts).where(counts.c.owner == owner)
                if not connection.execute(mine.values(subscriptions=counts.c.subscriptions + count)).rowcount:
                    connection.execute(counts.insert().values(owner=owner, subscriptions=count))


def _text(body: dict[str, Any]) -> str:
    """Raises KeyError."""
    text: str = body["composite"] if "composite" in body else body["filter"]
    return text


def _edited(before: Standing, body: dict[str, Any]) -> Standing:
    if "filter" in body or "composite" in body:
        body = body | {"filter": _text(body), "composite": "composite" in body}
    after = _changed(before, body, ("filter", "composite", "expiry", "delivery"))
    return after if body.get("expiry") is None else replace(after, expiry=Instant.parse(body["expiry"]))


def _changed(before: Standing, body: dict[str, Any], members: tuple[str, ...]) -> Standing:
    changes = {member: body[member] for member in members if member in body}
    if not changes:
        raise ValueError(f"this edit of subscription {before.id!r} changes nothing")
    return replace(before, **changes)


def read_standing(row: NamedRow) -> Standing:
    expiry = None if row.expiry is None else Instant(row.expiry)
    named = row.name, row.note, bool(row.composite)
    return Standing(row.id, row.owner, row.filter, row.state, expiry, row.delivery, row.since, row.span, *named)
