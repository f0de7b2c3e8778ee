"""Notices to mail to their owner: queued in the transaction that stores the notice, kept until a mail was sent.

    a channel is disabled ──queue_mail──> notice_mails ──due_notices──> the outbox ──notice_mailed──> gone, or due again

The address is chosen when the mail is sent: one that its reader confirmed for this owner and that does not fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from tidings.schema import Instant
from tidings.store.databases.database import Database
from tidings.store.deliveries.channels import StoredChannel, read_channel
from tidings.store.lease import check_lease
from tidings.store.tables import IN_STATE, MAILED, channels, deliveries, notice_mails, notices, subscriptions

_MOST_ADDRESSES = 100  # of one owner that are tried


@dataclass(frozen=True, slots=True)
class DueNotice:
    """A notice to mail. `address` is '' when there is none any more; `channel` is None when it was removed or resumed,
    so no mail is needed. `waiting` and `dead` count deliveries; `filter` and `name` are '' when the subscription was
    withdrawn."""

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
    name: str = ""


def queue_mail(connection: Connection, number: int, owner: str, disabled: str, now: Instant) -> None:
    """Without a usable address only the notice remains."""
    if address_of(connection, owner, disabled):
        connection.execute(notice_mails.insert().values(notice=number, due=int(now), attempts=0))


def address_of(connection: Connection, owner: str, disabled: str) -> str:
    """A confirmed one: of an email channel that is active, or that its owner paused. None to which mails fail, or whose
    reader wants no more: a mail about mails that fail would be another of them."""
    own = select(channels.c.address).where(channels.c.owner == owner, channels.c.subscription == disabled, MAILED)
    refused = connection.execute(own).scalar()
    found: list[tuple[bool, int, str]] = []
    for address in _addresses(connection, owner):
        changed = {state: _changed(connection, owner, address, state) for state in ("disabled", "active", "paused")}
        if address == refused or changed["disabled"]:
            continue
        state = "active" if changed["active"] else "paused"
        if changed[state]:
            found.append((state == "active", changed[state], address))
    return max(found)[2] if found else ""


def _addresses(connection: Connection, owner: str) -> Iterator[str]:
    """The different ones of an owner, from each to the next in the index: a thousand channels may have the same."""
    address: str | None = ""
    for _ in range(_MOST_ADDRESSES):
        following = select(channels.c.address).where(channels.c.owner == owner, channels.c.address > address, MAILED)
        following = following.with_hint(channels, "INDEXED BY channels_mailed", "sqlite")
        address = connection.execute(following.order_by(channels.c.address).limit(1)).scalar()
        if address is None:
            return
        yield address


def _changed(connection: Connection, owner: str, address: str, state: str) -> int:
    """When the last email channel to this address came into this state; 0 where there is none."""
    mine = (channels.c.owner == owner) & (channels.c.address == address) & (channels.c.state == state)
    newest = select(func.max(channels.c.changed)).where(mine, MAILED)
    found = connection.execute(newest.with_hint(channels, "INDEXED BY channels_mailed", "sqlite")).scalar()
    return int(found or 0)


def due_notices(connection: Connection, now: Instant, limit: int) -> list[DueNotice]:
    query = select(notice_mails.c.attempts, notices).join(notices, notices.c.number == notice_mails.c.notice)
    query = query.where(notice_mails.c.due <= int(now)).order_by(notice_mails.c.due).limit(limit)
    return [_due_notice(connection, row) for row in connection.execute(query).all()]


def notice_mailed(database: Database, holder: str, number: int, due: Instant | None) -> None:
    """Retries at `due`; None removes it. Raises LeaseLost."""
    mine = notice_mails.c.notice == number
    with database.writing("outbox") as connection:
        check_lease(connection, "outbox", holder)
        if due is None:
            connection.execute(delete(notice_mails).where(mine))
        else:
            again = {"due": int(due), "attempts": notice_mails.c.attempts + 1}
            connection.execute(update(notice_mails).where(mine).values(again))


def _due_notice(connection: Connection, row: Any) -> DueNotice:
    owner, subscription = row.owner, row.subscription
    mine = (channels.c.subscription == subscription) & (channels.c.owner == owner)
    found = connection.execute(select(channels).where(mine, channels.c.state == "disabled")).first()
    counted = select(func.count()).select_from(deliveries)
    counted = counted.where(deliveries.c.subscription == subscription, deliveries.c.owner == owner)
    waiting, dead = (
        connection.execute(counted.where(state)).scalar_one() for state in (IN_STATE["due"], IN_STATE["dead"])
    )
    address = address_of(connection, owner, subscription)
    channel = None if found is None else read_channel(connection, found)
    stands = (subscriptions.c.id == subscription) & (subscriptions.c.owner == owner)
    said = connection.execute(select(subscriptions.c.filter, subscriptions.c.name).where(stands)).first()
    filter, name = ("", "") if said is None else (said.filter, said.name)
    known = row.number, owner, subscription, Instant(row.stored), row.attempts, address
    return DueNotice(*known, channel, waiting, dead, filter, name)
