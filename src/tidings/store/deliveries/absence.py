"""Whether something is to be sent, and no outbox is there: for a service whose outbox runs elsewhere."""

from __future__ import annotations

from sqlalchemy import Connection, exists, select

from tidings.schema import Instant
from tidings.store.tables import channels, deliveries, leases, notified, outbox

_UNTIL = select(leases.c.until).where(leases.c.name == "outbox")
_IS_DUE = (deliveries.c.state == "due") & (deliveries.c.held == 0) & (deliveries.c.open == 0)
_IS_BEHIND = select(notified.c.cursor > outbox.c.cursor).where(notified.c.one == outbox.c.one)
_IS_WANTED = exists().where(channels.c.state == "active")


def seconds_without_outbox(connection: Connection, now: Instant) -> float:
    """Since the last one's lease ended; 0 where one has it, or nothing is to be sent."""
    until: int = connection.execute(_UNTIL).scalar_one()
    if until >= now:
        return 0.0
    is_due = connection.execute(select(exists().where(_IS_DUE & (deliveries.c.due <= int(now))))).scalar_one()
    if not is_due:
        is_behind = connection.execute(_IS_BEHIND).scalar_one()
        if not (is_behind and connection.execute(select(_IS_WANTED)).scalar_one()):
            return 0.0
    return (int(now) - until) / 1_000_000
