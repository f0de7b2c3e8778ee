"""Gives up deliveries of a channel that nobody resumes: they would keep their events, and all later ones, for ever.

They are then dead like failed ones: listed, counted, and sent again if the owner asks in time."""

from __future__ import annotations

from sqlalchemy import Connection, exists, func, select, update

from tidings.schema import Instant
from tidings.store.databases.database import Dialect
from tidings.store.deliveries.totals import Totals, add_totals
from tidings.store.tables import IN_STATE, attempts, channels, deliveries

REASON = "its channel was not resumed in time, so it was given up"


def give_up_held(connection: Connection, dialect: Dialect, before: Instant, now: Instant, limit: int) -> int:
    """Gives up at most `limit` deliveries held since before a time; returns how many."""
    mine = (channels.c.subscription == deliveries.c.subscription) & (channels.c.owner == deliveries.c.owner)
    asleep = exists().where(mine, channels.c.state != "active")  # an active one is about to let its own go
    held = select(deliveries.c.number, deliveries.c.tried, deliveries.c.subscription).where(
        IN_STATE["due"],
        deliveries.c.held == 1,
        deliveries.c.open.in_((0, 1)),  # any: so that the index by time can be used
        deliveries.c.due < int(before),
        deliveries.c.created < int(before),
        asleep,
    )
    found = connection.execute(held.order_by(deliveries.c.due).limit(limit)).all()
    if not found:
        return 0
    numbers = [row.number for row in found]
    given_up = {"state": "dead", "open": 0, "done": int(now), "tried": deliveries.c.tried + 1}
    collecting = channels.c.subscription.in_({row.subscription for row in found}) & channels.c.collecting.in_(numbers)
    connection.execute(update(channels).where(collecting).values(collecting=None))
    connection.execute(update(deliveries).where(deliveries.c.number.in_(numbers)).values(given_up))
    logged = [(row.number, row.tried + 1, int(now), 0.0, 0, None, "", "", REASON) for row in found]
    dialect.insert(connection, attempts, logged)
    kinds = (
        select(channels.c.kind, func.count()).where(mine, deliveries.c.number.in_(numbers)).group_by(channels.c.kind)
    )
    for kind, many in connection.execute(kinds).all():
        add_totals(connection, kind, Totals(due=-many, dead=many))
    return len(numbers)
