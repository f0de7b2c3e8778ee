"""Counters of deliveries by kind of channel, changed in the transaction that changes the deliveries: counting 100,000
that are due takes 0.1 s, and `/metrics` asks all the time. All writers hold the outbox's lock."""

from __future__ import annotations

from dataclasses import dataclass, fields

from sqlalchemy import Connection, update

from tidings.store.tables import delivery_totals


@dataclass(slots=True)
class Totals:
    """What to add: `due` are those that are not done now, the rest all there ever were."""

    due: int = 0
    delivered: int = 0
    dead: int = 0
    attempts: int = 0
    failures: int = 0
    seconds: float = 0.0


_NAMES = tuple(one.name for one in fields(Totals))


def add_totals(connection: Connection, kind: str, more: Totals) -> None:
    values = {name: getattr(more, name) for name in _NAMES}
    known = update(delivery_totals).where(delivery_totals.c.kind == kind)
    added = known.values({name: delivery_totals.c[name] + value for name, value in values.items()})
    if not connection.execute(added).rowcount:
        connection.execute(delivery_totals.insert().values(kind=kind, **values))
