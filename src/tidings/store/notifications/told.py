"""Notices that queries write for owners, in the transaction of what they are about."""

from __future__ import annotations

from sqlalchemy import Connection, select, update

from tidings.schema import Instant
from tidings.store.clock.clock_guard import ClockReading
from tidings.store.tables import accounts, notices, outbox


def tell(connection: Connection, owner: str, subscription: str, text: str, now: Instant) -> None:
    """`subscription` is '' where it is about all of an owner's."""
    number = connection.execute(select(outbox.c.notice).with_for_update()).scalar_one() + 1
    connection.execute(update(outbox).values(notice=number))
    row = {"number": number, "owner": owner, "subscription": subscription, "text": text}
    connection.execute(notices.insert().values(row | {"stored": int(now), "seen": 0}))


def tell_of_jump(connection: Connection, reading: ClockReading) -> None:
    """All operators, in the transaction in which a host says that it sees one."""
    operating = accounts.c.scopes.contains('"operate"', autoescape=True), accounts.c.state == "active"
    for name in list(connection.execute(select(accounts.c.username).where(*operating)).scalars()):
        text = str(reading.problem)
        tell(connection, name, "", f"{text[:1].upper()}{text[1:]}.", reading.now)
