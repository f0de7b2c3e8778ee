"""How much there is in a store: for `tidings journal show`, the metrics and the pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from tidings.store.databases.database import Database
from tidings.store.notifications.progress import committed, composites_committed, last_cursor
from tidings.store.notifications.quotas import all_dropped
from tidings.store.notifications.waiting import composite_progress
from tidings.store.tables import about, catalog


@dataclass(frozen=True, slots=True)
class Figures:
    """`events` and `event_bytes` are those that were not removed, `notifications` and `dead_letters` all that were ever
    stored; `lag` is what the pipeline has yet to commit."""

    journal: str
    tail: int
    schema_version: int
    active: int
    paused: int
    events: int
    event_bytes: int
    complete_from: int
    committed: int
    notifications: int
    dead_letters: int
    dropped: int  # matches, for the quotas of accounts
    composites_lag: int  # what the composites' query has yet to commit
    late: int  # events that came too late for composites
    crowded: int  # instances of composites for which there was no room

    @property
    def lag(self) -> int:
        return self.tail - self.committed


def figures(connection: Connection) -> Figures:
    """From counters, and an index of the accounts beyond their quotas: a look is short however much there is."""
    row: Any = connection.execute(select(about)).one()
    composites = composite_progress(connection)
    return Figures(
        journal=row.journal_id,
        tail=row.tail,
        schema_version=connection.execute(select(catalog.c.version)).scalar_one(),
        active=row.active,
        paused=row.paused,
        events=row.events,
        event_bytes=row.event_bytes,
        complete_from=row.complete_from,
        committed=committed(connection),
        notifications=last_cursor(connection),
        dead_letters=row.letters,
        dropped=all_dropped(connection),
        composites_lag=0 if composites is None else row.tail - composites.committed,
        late=row.late,
        crowded=row.crowded,
    )


@dataclass(frozen=True, slots=True)
class Growth:
    """How far everything is; `complete_from` moves when old events are removed."""

    tail: int
    events: int
    complete_from: int
    matches: int
    lag: int
    committed: int
    composites_lag: int = 0  # what the composites' query has yet to commit, also where it has yet to begin
    composites_committed: int = 0


def growth(database: Database) -> Growth:
    """Of `figures` what can be asked every other second: nothing is counted."""
    with database.reading() as connection:
        tail, events, first = connection.execute(select(about.c.tail, about.c.events, about.c.complete_from)).one()
        done, cursor = committed(connection), last_cursor(connection)
        found = composites_committed(connection)
    lag = 0 if found is None else max(0, tail - found)
    return Growth(tail, events, first, cursor, max(0, tail - done), done, lag, found or 0)
