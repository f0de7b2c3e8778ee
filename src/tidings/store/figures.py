"""How much there is in a store: for `tidings journal show`, the metrics and the pages."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from tidings.store.database import Database
from tidings.store.tables import about, catalog, dead_letters, pipeline, subscriptions


@dataclass(frozen=True, slots=True)
class Figures:
    """`events` and `event_bytes` are those that were not removed; `lag` is what the pipeline has yet to commit."""

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

    @property
    def lag(self) -> int:
        return self.tail - self.committed


def figures(connection: Connection) -> Figures:
    columns = (about.c.journal_id, about.c.tail, about.c.events, about.c.event_bytes, about.c.complete_from)
    journal, tail, events, event_bytes, complete_from = connection.execute(select(*columns)).one()
    committed, cursor = connection.execute(select(pipeline.c.committed, pipeline.c.cursor)).one()
    by_state = select(subscriptions.c.state, func.count()).group_by(subscriptions.c.state)
    states: dict[str, int] = dict(connection.execute(by_state).all())
    return Figures(
        journal=journal,
        tail=tail,
        schema_version=connection.execute(select(catalog.c.version)).scalar_one(),
        active=states.get("active", 0),
        paused=states.get("paused", 0),
        events=events,
        event_bytes=event_bytes,
        complete_from=complete_from,
        committed=committed,
        notifications=cursor,
        dead_letters=connection.execute(select(func.max(dead_letters.c.number))).scalar() or 0,
    )


@dataclass(frozen=True, slots=True)
class Growth:
    """How far everything is; `complete_from` moves when old events are removed."""

    tail: int
    events: int
    complete_from: int
    matches: int
    lag: int


def growth(database: Database) -> Growth:
    """Of `figures` what can be asked every other second: nothing is counted."""
    with database.reading() as connection:
        tail, events, first = connection.execute(select(about.c.tail, about.c.events, about.c.complete_from)).one()
        committed, cursor = connection.execute(select(pipeline.c.committed, pipeline.c.cursor)).one()
    return Growth(tail, events, first, cursor, max(0, tail - committed))
