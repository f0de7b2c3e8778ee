"""Entries from a file into an empty store, inside one transaction. Nothing in them is believed unseen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, update

from tidings.events import validate
from tidings.language import Filter
from tidings.language.composites import BoundComposite
from tidings.schema import Catalog, Instant
from tidings.store import tables
from tidings.store.databases.database import Dialect
from tidings.store.errors import BrokenJournal
from tidings.store.exchange.rebuilder import ENTRIES_AT_ONCE, replay
from tidings.store.journal.entries import KEEP, Edit, Entry, Subscribe
from tidings.store.journal.fitness import check_edit, check_members, check_names, check_profile, check_quota, check_text
from tidings.store.journal.projections import Projections
from tidings.store.journal.stored_events import EVENTS
from tidings.store.journal.watermark import raised

_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Removed:
    """The place of an event that was removed, and the key by which its duplicates are known. Files of older releases do
    not say when it was accepted."""

    position: int
    key: bytes
    accepted: Instant | None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The places of events, from one position to another, that were removed with their keys."""

    position: int
    upto: int


class Import:
    """`take` every line in order, then `finish`. Both raise BrokenJournal with the position."""

    def __init__(self, connection: Connection, dialect: Dialect, complete_from: int, watermark: int | None) -> None:
        self._connection = connection
        self._dialect = dialect
        self._complete_from = complete_from
        self._watermark = watermark
        self._state = Projections(Catalog())
        self._page: list[Entry] = []
        self._removed: list[Removed] = []
        self._forgotten: list[Forgotten] = []
        self._tail = self._accepted = self._events = self._event_bytes = 0

    def take(self, one: Entry | Removed | Forgotten) -> None:
        if one.position != self._tail + 1:
            raise BrokenJournal(self._tail + 1, f"expected position {self._tail + 1}, found {one.position}")
        self._tail = one.upto if isinstance(one, Forgotten) else one.position
        if isinstance(one, Removed | Forgotten):
            if not one.position <= self._tail < self._complete_from:
                reason = (
                    f"an event is missing, although the header says that all are there from {self._complete_from} on"
                )
                raise BrokenJournal(one.position, reason)
            if isinstance(one, Removed):
                self._removed.append(one)
            else:
                self._forgotten.append(one)
        else:
            if one.accepted < self._accepted:
                raise BrokenJournal(one.position, f"it was accepted at {one.accepted}, before the entry above it")
            if one.kind in EVENTS and one.position < self._complete_from:
                reason = f"an event comes before {self._complete_from}, the first position according to the header"
                raise BrokenJournal(one.position, reason)
            self._accepted = int(one.accepted)
            self._page.append(one)
        if len(self._page) + len(self._removed) >= ENTRIES_AT_ONCE:
            self._flush()

    def line_of(self, position: int) -> int:
        """In the file: the header stands before the first, and forgotten events share a line."""
        return position + 1 - sum(one.upto - one.position for one in self._forgotten if one.position < position)

    def finish(self, journal_id: str, tail: int) -> None:
        if self._tail != tail:
            raise BrokenJournal(0, f"the file has {self._tail:,} entries, its header says {tail:,}")
        self._flush()
        values: dict[str, Any] = {"journal_id": journal_id, "tail": tail, "accepted": self._accepted}
        values |= {"watermark": self._watermark, "incarnation": uuid4().hex}
        values |= {"events": self._events, "event_bytes": self._event_bytes, "complete_from": self._complete_from}
        self._connection.execute(update(tables.about).values(**values))
        # Of those whose time is not known, the newest entry's is surely not too early.
        late = update(tables.removed_keys).where(tables.removed_keys.c.accepted == _UNKNOWN)
        self._connection.execute(late.values(accepted=self._accepted))

    def _flush(self) -> None:
        self._keep_keys()
        replay(self._connection, self._dialect, self._state, self._page, check)
        self._dialect.insert(self._connection, tables.journal, map(self._row, self._page))
        sizes = [len(one.body.encode()) for one in self._page if one.kind in EVENTS]
        self._events += len(sizes)
        self._event_bytes += sum(sizes)
        self._page = []

    def _row(self, one: Entry) -> tuple[int, int, str, int, str, int | None]:
        """Of an entry that was found right."""
        self._watermark = raised(self._watermark, one.kind, one.body, int(one.accepted))
        watermark = self._watermark if one.kind in ("event", "tick") else None
        return one.position, int(one.accepted), one.kind, one.schema_version, one.body, watermark

    def _keep_keys(self) -> None:
        """Of removed events; those of the others are kept by the replay."""
        at: dict[bytes, int] = {}
        for one in self._removed:
            if at.setdefault(one.key, one.position) != one.position:
                raise BrokenJournal(one.position, f"position {at[one.key]} has the same key")
        for row in self._dialect.find(self._connection, tables.event_keys.c.key, list(at)):
            raise BrokenJournal(at[bytes(row.key)], f"position {row.position} has the same key")
        self._dialect.insert(self._connection, tables.event_keys, at.items())
        rows = [
            (one.position, _UNKNOWN if one.accepted is None else int(one.accepted), one.key) for one in self._removed
        ]
        self._dialect.insert(self._connection, tables.removed_keys, rows)
        self._removed = []


def check(catalog: Catalog, entry: Entry, body: dict[str, Any]) -> None:
    """Raises TidingsError where the appender would not have accepted it, KeyError where a member is missing."""
    match entry.kind:
        case "event" | "past":
            validate(body, catalog, most_values=None)
        case "subscribe":
            expiry = None if "expiry" not in body else Instant.parse(body["expiry"])
            members = body.get("owner", ""), expiry, body.get("delivery", "")
            named = {name: body.get(name, "") for name in ("name", "note", "composite")}
            check_members(Subscribe(body["id"], body.get("filter", ""), *members, **named))
            _bind(body, catalog)
        case "edit":
            until = body.get("expiry", KEEP)
            expiry = Instant.parse(until) if isinstance(until, str) else until
            delivery = body.get("delivery", KEEP)
            check_edit(Edit(body["id"], body.get("filter"), expiry, delivery, composite=body.get("composite")))
            if "filter" in body or "composite" in body:
                _bind(body, catalog)
        case "name":
            check_names(body["id"], body.get("name", KEEP), body.get("note", KEEP))
        case "quota":
            check_quota(body.get("account", ""), body["matches_per_minute"])
        case "profile":
            check_profile(body["name"], body["options"])


def _bind(body: dict[str, Any], catalog: Catalog) -> None:
    member = "composite" if "composite" in body else "filter"
    check_text(body["id"], member, body[member])
    if member == "composite":
        BoundComposite.parse(body[member], catalog)
    else:
        Filter.parse(body[member], catalog)
