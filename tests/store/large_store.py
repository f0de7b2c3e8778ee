"""A store with millions of rows, made by SQL in seconds: for query plans and for the soak.

The journal holds the schema, subscriptions that were withdrawn, subscriptions that count, then events; every event is
matched, all is committed and spread, and the outbox has sent nearly all of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, text

from tests.store.samples import with_schema
from tidings.store import Store
from tidings.store.notifications.progress import MATCHES, Place, move
from tidings.store.tables import metadata

SECOND = 1_000_000
_CACHE = 1 << 20  # KiB
_PACKED = 250_000  # notifications in a pack, at least (`packing`)
_FIRST = 10_000_000  # numbers in names, so that all have the same width and sort as they count


@dataclass(frozen=True, slots=True)
class Size:
    """How many rows there are of what. `channels` belong to the first subscriptions."""

    subscriptions: int
    withdrawn: int
    events: int
    notifications: int
    channels: int
    deliveries: int  # that are done
    due: int
    letters: int  # dead ones; as many notices, accounts, tokens and kept responses
    owners: int
    removed: int  # keys of events that were removed
    busy: int = 0  # channels that have all the deliveries; 0: all of them

    @classmethod
    def of(cls, rows: int) -> Size:
        """Each large table with that many."""
        return cls(rows, rows, rows, rows, rows, rows, rows // 10, rows, max(10, rows // 1_000), rows)

    @property
    def first_subscription(self) -> int:
        return 6 + 2 * self.withdrawn

    @property
    def first_event(self) -> int:
        return self.first_subscription + self.subscriptions + self.removed

    @property
    def tail(self) -> int:
        return self.first_event + self.events - 1


def owner(number: int) -> str:
    return f"o{_FIRST + number}"


def subscription(number: int) -> str:
    return f"s{_FIRST + number}"


def fill(store: Store, size: Size, now: int) -> None:
    """The store must be empty. The last event was accepted just before `now` (µs), each other one a tick earlier."""
    with_schema(store)
    tick = min(SECOND, 20 * 86_400 * SECOND // size.tail)
    with store.database.writing() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(f"PRAGMA cache_size = -{_CACHE}")
        as_bytes = "CAST({} AS BLOB)" if connection.dialect.name == "sqlite" else "convert_to({}, 'UTF8')"
        fill = _Filling(connection, size, now - tick * size.tail, tick, as_bytes)
        indices = [index for table in metadata.tables.values() for index in table.indexes]
        for index in indices:  # made afterwards, all at once: quicker than row by row
            index.drop(connection)
        fill.journal()
        fill.subscriptions()
        fill.notifications()
        fill.outbox()
        fill.composites()
        fill.quotas()
        fill.packs()
        fill.service()
        for index in indices:
            index.create(connection)


class _Filling:
    def __init__(self, connection: Connection, size: Size, begin: int, tick: int, as_bytes: str) -> None:
        self._connection, self._size, self._as_bytes = connection, size, as_bytes
        self._time = f"{begin} + {tick} * (%s)"
        self._end = begin + tick * size.tail

    def _insert(self, table: str, count: int, **columns: str | int) -> None:
        """So many rows; an expression may name the row's number, i, from 0."""
        if not count:
            return
        names, values = ", ".join(columns), ", ".join(map(str, columns.values()))
        numbers = (
            f"WITH RECURSIVE n(i) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < {count - 1})"
        )
        self._connection.execute(
            text(f"INSERT INTO {table} ({names}) {numbers} SELECT {values} FROM n".replace(":", "\\:"))
        )

    def journal(self) -> None:
        size = self._size
        id = f"'w' || ({_FIRST} + i)"
        opened = f"""'{{"id":"' || {id} || '","filter":"price < 3","owner":"{owner(0)}"}}'"""
        self._entries(size.withdrawn, "6 + 2 * i", "subscribe", opened)
        self._entries(size.withdrawn, "7 + 2 * i", "withdraw", f"""'{{"id":"' || {id} || '"}}'""")
        id, who = self._subscription("i"), self._owner("i")
        opened = f"""'{{"id":"' || {id} || '","filter":"price < 3","owner":"' || {who} || '"}}'"""
        self._entries(size.subscriptions, f"{size.first_subscription} + i", "subscribe", opened)
        event = (
            f"""'{{"id":"e' || ({_FIRST} + i) || '","event_type":["car"],"attributes":{{"price":[' || i || ']}}}}'"""
        )
        place = f"{size.first_event} + i"
        self._entries(size.events, place, "event", event, watermark=self._time % place)
        key = self._as_bytes.format(f"'0:e' || ({_FIRST} + i)")
        self._insert("event_keys", size.events, key=key, position=f"{size.first_event} + i")
        place = f"{size.first_event - size.removed} + i"
        key = self._as_bytes.format(f"'0:r' || ({_FIRST} + i)")
        self._insert("event_keys", size.removed, key=key, position=place)
        self._insert("removed_keys", size.removed, position=place, accepted=self._time % place, key=key)

    def _entries(self, count: int, position: str, kind: str, body: str, **more: str) -> None:
        time = self._time % position
        self._insert(
            "journal", count, position=position, accepted=time, kind=f"'{kind}'", schema_version=6, body=body, **more
        )

    def subscriptions(self) -> None:
        size = self._size
        id, who = self._subscription("i"), self._owner("i")
        start = f"{size.first_subscription} + i"
        self._insert(
            "subscriptions", size.subscriptions, id=id, owner=who, filter="'price < 3'", state="'active'",
            delivery="'webhook'", since=start, span=start,
        )  # fmt: skip
        count = (
            f"{size.subscriptions // size.owners} + CASE WHEN i < {size.subscriptions % size.owners} THEN 1 ELSE 0 END"
        )
        self._insert("subscription_counts", size.owners, owner=self._owner("i"), subscriptions=count)
        self._insert("spans", size.subscriptions, start=start, subscription=id, filter="'price < 3'", owner=who)
        self._insert(
            "spans", size.withdrawn, start="6 + 2 * i", stop="7 + 2 * i", subscription=f"'w' || ({_FIRST} + i)",
            filter="'price < 3'", owner=f"'{owner(0)}'",
        )  # fmt: skip

    def notifications(self) -> None:
        size = self._size
        each = -(-size.notifications // size.events)  # of one event
        place = f"{size.first_event} + i / {each}"
        # Spread over the subscriptions, each once for an event; where an event has several, the first subscription
        # matches all events, and so has a long list of its own.
        first, others = (0, size.subscriptions) if each == 1 else (1, size.subscriptions - 1)
        which = f"({first} + ((i / {each}) * 7919 + (i % {each}) * {others // each}) % {others})"
        which = which if each == 1 else f"(CASE WHEN i % {each} = 0 THEN 0 ELSE {which} END)"
        self._insert(
            "notifications", size.notifications, cursor="i + 1", position=place, subscription=self._subscription(which),
            stored=self._time % place, owner=self._owner(which),
        )  # fmt: skip

    def outbox(self) -> None:
        size = self._size
        self._insert(
            "channels", size.channels, subscription=self._subscription("i"), owner=self._owner("i"),
            kind="CASE WHEN i % 10 = 0 THEN 'email' ELSE 'webhook' END",
            settings="""'{"url":"https://example.org/","address":"a' || (i % 1000) || '@example.org"}'""",
            state="CASE WHEN i % 10000 = 1 THEN 'disabled' ELSE 'active' END", reason="''", secrets="'[]'", since=0,
            sequence=1, released=1, recent="'[]'", dead_in_a_row=0, seconds="0.1", problem="''", changed=self._end,
        )  # fmt: skip
        item = f"'[[1,' || ({size.first_event} + i % {size.events}) || ',{self._end}]]'"
        made = {
            "subscription": self._subscription(f"i % {size.busy or size.channels}"),
            "owner": self._owner(f"i % {size.busy or size.channels}"),
            "items": item,
            "open": 0,
            "held": 0,
            "attempts": 1,
            "tried": 1,
            "created": self._time % f"{size.first_event} + i % {size.events}",
            "first_position": f"{size.first_event} + i % {size.events}",
        }
        done = {"number": "i + 1", "done": made["created"], "due": made["created"]}
        state = "CASE WHEN i % 1000 = 0 THEN 'dead' ELSE 'delivered' END"
        self._insert("deliveries", size.deliveries, **made, **done, state=state)
        due = {"number": f"i + {size.deliveries + 1}", "due": f"{self._end} + i", "state": "'due'"}
        self._insert("deliveries", size.due, **made, **due)
        self._insert(
            "attempts", size.deliveries, delivery="i + 1", attempt=1, started=self._end, seconds="0.1", ok=1,
            status=200, request="'POST'", response="''", problem="''",
        )  # fmt: skip
        self._insert(
            "notices", size.letters, number="i + 1", owner=self._owner("i"), subscription=self._subscription("i"),
            text="'stopped'", stored=self._end, seen="CASE WHEN i % 100 = 0 THEN 0 ELSE 1 END",
        )  # fmt: skip
        last = size.deliveries + size.due
        self._run(f"UPDATE outbox SET cursor = {size.notifications}, delivery = {last}, notice = {size.letters}")

    def composites(self) -> None:
        """States that wait, some until an event comes, and matches that wait for their second."""
        size = self._size
        due = {"due": "CASE WHEN i % 2 = 0 THEN i END", "forget": "CASE WHEN i % 2 = 1 THEN i END"}
        key = f"""'["{_FIRST}",' || ({_FIRST} + i) || ']'"""
        self._insert("composite_states", size.notifications, key=key, shard="i % 16", body="'[1]'", **due)
        seconds = {"shard": "i % 16", "second": "i / 16", "position": size.first_event}
        self._insert("early_matches", size.notifications // 10, body="'[]'", **seconds)

        self._insert(
            "detections", size.notifications // 10, cursor="i + 1", known=f"{size.first_event} + i", body="'{}'"
        )
        self._insert(
            "network_moved_in", size.letters, subscription=self._subscription("i"), server="'north 1'",
            start=f"{size.first_subscription} + i", opened=1,
        )  # fmt: skip

    def quotas(self) -> None:
        """Of the owners of subscriptions, and of as many other accounts as there are."""
        size = self._size
        who = f"CASE WHEN i < {size.owners} THEN {self._owner('i')} ELSE 'a' || ({_FIRST} + i) END"
        self._insert("quotas", size.letters, account=who, position=1, matches=1_000_000)
        dropped = "CASE WHEN i % 10000 = 1 THEN 7 ELSE 0 END"
        self._insert("quota_counts", size.letters, account=who, query="'matches'", minute=0, matches=3, dropped=dropped)

    def packs(self) -> None:
        """Of owners whom nobody asks for; whoever reads his own looks into each of them."""
        notifications = self._size.notifications
        count = max(1, notifications // _PACKED)
        first = f"(i % {count}) * {notifications // count} + 1"
        self._insert("packs", count, first=first, last=f"{first} + {notifications // count - 1}")
        rows = {"owner": f"'p' || ({_FIRST} + i)", "subscription": "''", "cursors": self._as_bytes.format("'0000'")}
        self._insert("packed", notifications // 10, pack=first, last=first, **rows)

    def service(self) -> None:
        size = self._size
        key = self._as_bytes.format("'1:f' || i")
        body = """'{"origin":"f","place":"' || i || '","id":null,"raw":"{","errors":[]}'"""
        self._insert("dead_letters", size.letters, number="i + 1", key=key, stored=self._end, body=body)
        who, some = f"'a' || ({_FIRST} + i)", self._as_bytes.format("'k' || i")
        self._insert("accounts", size.letters, username=who, password="''", scopes="'[]'", created=0)
        self._insert(
            "tokens", size.letters, digest=some, username=who, kind="'api'", name="''", scopes="'[]'", created=0
        )
        self._insert("kept_responses", size.letters, key=some, request=some, status=200, body="''", stored=self._end)
        about = {
            "tail": size.tail,
            "accepted": self._end,
            "events": size.events,
            "event_bytes": 70 * size.events,
            "complete_from": size.first_event if size.removed else 1,
            "active": size.subscriptions,
            "letters": size.letters,
        }
        self._run("UPDATE about SET " + ", ".join(f"{name} = {value}" for name, value in about.items()))
        move(self._connection, MATCHES, Place(size.tail))
        self._run(f"UPDATE notified SET cursor = {size.notifications}")

    def _run(self, statement: str) -> None:
        self._connection.execute(text(statement))

    def _subscription(self, number: str) -> str:
        return f"'s' || ({_FIRST} + {number})"

    def _owner(self, number: str) -> str:
        return f"'o' || ({_FIRST} + ({number}) % {self._size.owners})"
