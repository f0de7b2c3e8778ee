"""What a server of a network stores in one transaction: events of others, and the marks that speak for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from tidings.schema import Catalog
from tidings.store import tables
from tidings.store.append import append
from tidings.store.clock.clock_guard import ClockGuard
from tidings.store.databases.database import Database
from tidings.store.journal.entries import Accepted, Draft, Grow, Outcome, PublishValid, Refused
from tidings.store.moves.moving_in import MoveIn, move_in
from tidings.store.network import nodes
from tidings.store.network.nodes import Gap, Place, StoredOrder


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event of another server, with its place in that one's history."""

    draft: PublishValid
    origin: str
    place: Place


@dataclass(frozen=True, slots=True)
class Heard:
    """All of it is stored, or nothing."""

    arrivals: tuple[Arrival, ...] = ()
    marks: tuple[tuple[str, Place], ...] = ()
    gap: Gap | None = None
    orders: tuple[StoredOrder, ...] = ()
    growth: tuple[Grow, ...] = ()  # of the orders, as far as the schema does not have it
    rule: tuple[int, str] | None = None
    renumbered: int | None = None
    began: int | None = None
    moved_in: MoveIn | None = None  # its outcome is the only one


def store_heard(
    database: Database, catalog: Callable[[Connection, int], Catalog], clock: ClockGuard, heard: Sequence[Heard]
) -> list[Outcome]:
    """In order, in one transaction; the outcomes of the arrivals. An event whose source and id are known is no news,
    whatever its origin. Raises ClockJumped, and what a growth is refused for."""
    moving = any(one.moved_in is not None for one in heard)
    with database.writing("journal", *(("pipeline",) if moving else ())) as connection:
        outcomes: list[Outcome] = []
        for one in heard:
            if one.moved_in is not None:
                outcomes.append(move_in(connection, database, catalog, clock, one.moved_in))
                if isinstance(outcomes[-1], Refused):
                    continue
            drafts: list[Draft] = [*one.growth, *(arrival.draft for arrival in one.arrivals)]
            if drafts:
                done = append(connection, database.dialect, catalog, drafts, clock)
                for outcome in done[: len(one.growth)]:
                    if isinstance(outcome, Refused):
                        raise outcome.error
                outcomes += _enter(connection, database, one.arrivals, done[len(one.growth) :])
            if one.began is not None:
                tail = connection.execute(tables.about.select()).one().tail
                connection.execute(tables.network_incarnations.insert().values(number=one.began, began=tail))
            if one.renumbered is not None:
                nodes.renumber(connection, one.renumbered)
            nodes.put_orders(connection, one.orders)
            if one.rule is not None:
                nodes.put_rule(connection, *one.rule)
            nodes.put_marks(connection, one.marks)
            if one.gap is not None:
                nodes.put_gap(connection, one.gap, clock.now())
        return outcomes


def _enter(
    connection: Connection, database: Database, arrivals: Sequence[Arrival], outcomes: Sequence[Outcome]
) -> Sequence[Outcome]:
    rows = [
        (outcome.position, arrival.origin, *arrival.place)
        for arrival, outcome in zip(arrivals, outcomes, strict=True)
        if isinstance(outcome, Accepted)
    ]
    if rows:
        database.dialect.insert(connection, tables.arrivals, rows)
    return outcomes
