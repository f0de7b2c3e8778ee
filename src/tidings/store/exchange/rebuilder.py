"""The projections made anew from the journal: after damage, in an import, and to prove that they follow from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, delete, select, update

from tidings.errors import TidingsError
from tidings.schema import Catalog, Instant
from tidings.store import tables
from tidings.store.databases.database import Dialect
from tidings.store.errors import BrokenJournal
from tidings.store.journal.entries import Entry
from tidings.store.journal.fitness import is_id
from tidings.store.journal.projections import Projections, event_key
from tidings.store.journal.stored_events import EVENTS
from tidings.store.journal.watermark import before_first_event, raised
from tidings.store.store import Store

Check = Callable[[Catalog, Entry, dict[str, Any]], None]

ENTRIES_AT_ONCE = 10_000
_ENTRIES = "SELECT position, accepted, kind, schema_version, body FROM journal WHERE position > ? ORDER BY position"


def rebuild(store: Store) -> None:
    """In one transaction. Keys of events that were removed stay: nothing else remembers them. Raises BrokenJournal."""
    database = store.database
    with database.writing() as connection:
        first, tail = connection.execute(select(tables.about.c.complete_from, tables.about.c.tail)).one()
        connection.execute(delete(tables.subscriptions))
        connection.execute(delete(tables.spans))
        connection.execute(delete(tables.quotas))
        connection.execute(delete(tables.composite_profiles))
        connection.execute(delete(tables.event_keys).where(tables.event_keys.c.position >= first))
        connection.execute(update(tables.catalog).values(version=1, body="{}"))
        connection.execute(update(tables.about).values(active=0, paused=0))  # replaying counts them again
        connection.execute(delete(tables.subscription_counts))
        state = Projections(Catalog())
        seen = first - 1  # below it, events were removed
        watermark = before_first_event(connection) if first > 1 else None
        for rows in database.dialect.stream(connection, _ENTRIES, (0,), ENTRIES_AT_ONCE):
            page = [Entry(at, Instant(time), kind, version, body) for at, time, kind, version, body in rows]
            for entry in page:
                if entry.position > seen + 1:
                    raise BrokenJournal(seen + 1, "its entry is missing")
                seen = max(seen, entry.position)
            replay(connection, database.dialect, state, page)
            watermark = _write_watermarks(connection, page, watermark)
        if seen < tail:
            raise BrokenJournal(seen + 1, "its entry is missing")
        connection.execute(update(tables.about).values(watermark=watermark))


def _write_watermarks(connection: Connection, page: Sequence[Entry], watermark: int | None) -> int | None:
    filled = []
    for entry in page:
        if entry.kind in ("event", "tick"):
            watermark = raised(watermark, entry.kind, entry.body, int(entry.accepted))
            filled.append({"at": entry.position, "raised": watermark})
    if filled:
        journal = tables.journal
        statement = update(journal).where(journal.c.position == bindparam("at"))
        connection.execute(statement.values(watermark=bindparam("raised")), filled)
    return watermark


def replay(
    connection: Connection, dialect: Dialect, state: Projections, page: Sequence[Entry], check: Check | None = None
) -> None:
    """Writes what follows from these entries, which come after all that the state knows; raises BrokenJournal.

    `check` raises TidingsError for an entry that should not be there, under the catalog at its place.
    """
    bodies = [decoded(entry) for entry in page]
    state.load(connection, dialect, *_touched(page, bodies))
    for entry, body in zip(page, bodies, strict=True):
        try:
            if check is not None:
                check(state.catalog, entry, body)
            _apply(state, entry, body)
        except KeyError as problem:
            raise BrokenJournal(
                entry.position, f"this {entry.kind} entry is incomplete or unknown: {problem}"
            ) from None
        except (TidingsError, TypeError, ValueError) as problem:
            raise BrokenJournal(entry.position, str(problem)) from None
    state.write(connection, dialect)


def _apply(state: Projections, entry: Entry, body: dict[str, Any]) -> None:
    if entry.kind in EVENTS and (before := state.keys.get(_key(body))) is not None:
        raise ValueError(f"the event at position {before} has the same source and id")
    state.apply(entry.kind, entry.position, body)
    if entry.schema_version != state.catalog.version:
        raise ValueError(f"it says schema version {entry.schema_version}, but here it is {state.catalog.version}")


def decoded(entry: Entry) -> dict[str, Any]:
    """The members of an entry's body; raises BrokenJournal."""
    try:
        body = msgspec.json.decode(entry.body)
    except (msgspec.MsgspecError, RecursionError) as problem:
        raise BrokenJournal(entry.position, f"its body is not valid JSON: {problem}") from None
    if not isinstance(body, dict):
        raise BrokenJournal(entry.position, "its body is not a JSON object")
    return body


def _touched(page: Sequence[Entry], bodies: Sequence[dict[str, Any]]) -> tuple[list[str], list[bytes]]:
    """The subscriptions' ids and the events' keys that the entries speak of."""
    ids, keys = [], []
    for entry, body in zip(page, bodies, strict=True):
        id = body.get("id")
        if entry.kind in EVENTS and isinstance(id, str) and isinstance(body.get("source", ""), str):
            keys.append(_key(body))
        elif entry.kind not in (*EVENTS, "schema", "quota", "profile", "tick") and is_id(id):
            ids.append(str(id))
    return ids, keys


def _key(body: dict[str, Any]) -> bytes:
    return event_key(body.get("source", ""), body["id"])
