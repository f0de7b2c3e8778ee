"""Notices to mail to their owner: queued in the transaction that stores the notice, kept until a mail was sent.

    a channel is disabled ──queue_mail──> notice_mails ──due_notices──> the outbox ──notice_mailed──> gone, or due again

The address is chosen when the mail is sent: one that its reader confirmed for this owner and that does not fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, func, select, update

from tidings.schema import Instant
from tidings.store.channels import StoredChannel, read_channel
from tidings.store.database import Database
from tidings.store.lease import check_lease
from tidings.store.tables import channels, deliveries, notice_mails, notices, subscriptions


@dataclass(frozen=True, slots=True)
class DueNotice:
    """A notice to mail. `address` is '' when there is none any more; `channel` is None when it was removed or resumed,
    so no mail is needed. `waiting` and `dead` count deliveries; `filter` is '' when the subscription was withdrawn."""

    number: int
    owner: str
    subscription: str
    stored: Instant
    attempts: int
    address: str
    channel: StoredChannel | None
    waiting: int
    dead: int
    filter: str = ""


def queue_mail(connection: Connection, number: int, owner: str, disabled: str, now: Instant) -> None:
    """Without a usable address only the notice remains."""
    if address_of(connection, owner, disabled):
        connection.execute(notice_mails.insert().values(notice=number, due=int(now), attempts=0))


def address_of(connection: Connection, owner: str, disabled: str) -> str:
    """A confirmed one: of an email channel that is active, or that its owner paused. None to which mails fail, or whose
    reader wants no more: a mail about mails that fail would be another of them."""
    mine = (channels.c.owner == owner) & (channels.c.kind == "email") & channels.c.until.is_(None)
    query = select(channels.c.settings, channels.c.state, channels.c.subscription).where(mine)
    found: list[tuple[bool, str]] = []
    refused = set()
    for row in connection.execute(query.order_by(channels.c.changed.desc())):
        address = str(msgspec.json.decode(row.settings).get("address") or "")
        if row.state == "disabled" or row.subscription == disabled:
            refused.add(address)
        elif row.state in ("active", "paused"):
            found.append((row.state != "active", address))
    usable = [one for one in found if one[1] and one[1] not in refused]
    return min(usable, key=lambda one: one[0])[1] if usable else ""


def due_notices(connection: Connection, now: Instant, limit: int) -> list[DueNotice]:
    query = select(notice_mails.c.attempts, notices).join(notices, notices.c.number == notice_mails.c.notice)
    query = query.where(notice_mails.c.due <= int(now)).order_by(notice_mails.c.due).limit(limit)
    return [_due_notice(connection, row) for row in connection.execute(query).all()]


def notice_mailed(database: Database, holder: str, number: int, due: Instant | None) -> None:
    """Retries at `due`; None removes it. Raises LeaseLost."""
    mine = notice_mails.c.notice == number
    with database.writing("outbox") as connection:
        check_lease(connection, holder)
        if due is None:
            connection.execute(delete(notice_mails).where(mine))
        else:
            again = {"due": int(due), "attempts": notice_mails.c.attempts + 1}
            connection.execute(update(notice_mails).where(mine).values(again))


def _due_notice(connection: Connection, row: Any) -> DueNotice:
    owner, subscription = row.owner, row.subscription
    mine = (channels.c.subscription == subscription) & (channels.c.owner == owner)
    found = connection.execute(select(channels).where(mine, channels.c.state == "disabled")).first()
    counted = select(deliveries.c.state, func.count()).where(
        deliveries.c.subscription == subscription, deliveries.c.owner == owner, deliveries.c.state.in_(("due", "dead"))
    )
    counts: dict[str, int] = dict(connection.execute(counted.group_by(deliveries.c.state)).all())
    address = address_of(connection, owner, subscription)
    channel = None if found is None else read_channel(found)
    waiting, dead = counts.get("due", 0), counts.get("dead", 0)
    stands = (subscriptions.c.id == subscription) & (subscriptions.c.owner == owner)
    filter = connection.execute(select(subscriptions.c.filter).where(stands)).scalar() or ""
    stored = Instant(row.stored)
    return DueNotice(row.number, owner, subscription, stored, row.attempts, address, channel, waiting, dead, filter)
