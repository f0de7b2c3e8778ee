"""The serial appender: a group of drafts in, one transaction, an outcome for each.

Under the database's lock positions are given, duplicates found, names and schema rules checked; so whoever sees a
position sees all below it, and every answer is the same for all processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, select

from tidings.schema import Catalog, Instant
from tidings.store import tables
from tidings.store.accounts.accounts import closed_among
from tidings.store.clock.clock_guard import ClockGuard, ClockReading
from tidings.store.databases.database import Dialect, Part
from tidings.store.draft_group import DraftGroup
from tidings.store.journal.entries import (
    KEEP,
    Draft,
    Edit,
    Outcome,
    Pause,
    Publish,
    PublishPast,
    PublishValid,
    Resume,
    Subscribe,
    Withdraw,
)
from tidings.store.journal.fitness import is_id
from tidings.store.journal.profiles import profiles_of
from tidings.store.journal.projections import Projections, event_key
from tidings.store.network.advertisements import Admitted

MOST_DUE = 2_000  # subscriptions that expire in one transaction: 60 ms

# Made once: SQLAlchemy takes longer to make these statements than SQLite takes to run them.
_about = tables.about.c
_node = tables.network_node.c
_ADVERTISED = select(_node.advertised).where(_node.distribution == "advertisements").scalar_subquery()
_STATE = select(
    _about.tail, _about.accepted, _about.watermark, tables.catalog.c.version, _ADVERTISED.label("advertised")
).where(_about.one == tables.catalog.c.one)


class ManyDue(Exception):
    """More subscriptions are due than one transaction lets expire: `expire_some` goes first."""


def append(
    connection: Connection,
    dialect: Dialect,
    catalog: Callable[[Connection, int], Catalog],
    drafts: Sequence[Draft],
    clock: ClockGuard,
    admitted: Admitted | None = None,
) -> list[Outcome]:
    """Inside a transaction that writes `parts_of` these drafts. `catalog` gives the newest one, which has this version.
    Where advertisements are in force, `admitted` decides on events; without it all of them may come.
    Raises ClockJumped, or ManyDue or Outdated before anything is written."""
    row, reading, accepted = _begin(connection, clock)
    newest = catalog(connection, row.version)
    admits = None if admitted is None or row.advertised is None else admitted.at(row.advertised, newest)
    state = Projections(newest)
    due = state.load_expired(connection, accepted, MOST_DUE + 1)
    if len(due) > MOST_DUE:
        raise ManyDue
    owners = {draft.owner for draft in drafts if isinstance(draft, Subscribe) and is_id(draft.owner)}
    state.load_owned(connection, owners)
    group = DraftGroup(state, row.tail, row.watermark, accepted, closed_among(connection, owners))
    group.admits = admits
    group.expire(due)
    state.load(connection, dialect, _ids(drafts), _keys(drafts))
    if any(isinstance(draft, Subscribe | Edit) and draft.composite and not draft.bound for draft in drafts):
        state.profiles |= profiles_of(connection)
    outcomes = [group.decide(draft) for draft in drafts]
    group.write(connection, dialect)
    clock.keep(connection, reading)
    return outcomes


def expire_some(
    connection: Connection, dialect: Dialect, catalog: Callable[[Connection, int], Catalog], clock: ClockGuard
) -> None:
    """Those that were due first, at most `MOST_DUE`. Raises ClockJumped."""
    row, reading, accepted = _begin(connection, clock)
    state = Projections(catalog(connection, row.version))
    group = DraftGroup(state, row.tail, row.watermark, accepted)
    group.expire(state.load_expired(connection, accepted, MOST_DUE))
    group.write(connection, dialect)
    clock.keep(connection, reading)


def _begin(connection: Connection, clock: ClockGuard) -> tuple[Any, ClockReading, Instant]:
    """The journal's state, and the time at which it accepts."""
    row: Any = connection.execute(_STATE).one()
    reading = clock.read(connection)  # under the lock, lest a later group gets an earlier time
    reading.check()
    return row, reading, Instant(max(reading.now, row.accepted))


def parts_of(drafts: Iterable[Draft]) -> tuple[Part, ...]:
    """What of the database they change: a subscription and its channel change together."""
    for draft in drafts:
        if isinstance(draft, (Subscribe, Edit)) and draft.channel is not (KEEP if isinstance(draft, Edit) else None):
            return "journal", "outbox"
    return ("journal",)


def _ids(drafts: Iterable[Draft]) -> Iterable[str]:
    for draft in drafts:
        if isinstance(draft, (Subscribe, Withdraw, Pause, Resume, Edit)) and is_id(draft.id):
            yield draft.id


def _keys(drafts: Iterable[Draft]) -> Iterable[bytes]:
    """Those that may be duplicates; what a raw event lacks, validation will say."""
    for draft in drafts:
        if isinstance(draft, PublishValid | PublishPast):
            yield event_key(draft.event.source, draft.event.id)
        elif isinstance(draft, Publish) and isinstance(draft.raw, dict):
            source, id = draft.raw.get("source") or "", draft.raw.get("id")
            if isinstance(source, str) and isinstance(id, str):
                yield event_key(source, id)
