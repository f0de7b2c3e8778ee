"""Channels: how the owner of a subscription is notified. A subscription without one is only read.

The service creates and changes channels, the outbox uses them. A change here never makes a delivery due: deliveries are
held until the outbox releases them (`creation`), so that one process alone decides when to send.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Connection, func, select, update

from tidings.schema import Instant
from tidings.store.databases.database import Database, Dialect
from tidings.store.databases.seal import opened, sealed_secrets, sealed_settings
from tidings.store.deliveries.totals import Totals, add_totals
from tidings.store.errors import NoSuchChannel
from tidings.store.notifications.progress import last_cursor
from tidings.store.tables import IN_STATE, TROUBLED, channels, deliveries, outbox

ChannelState = Literal["active", "paused", "disabled", "unconfirmed"]
Secrets = tuple[tuple[str, Instant | None], ...]

NEVER = Instant(0)
_RELEASED, _TO_RELEASE = 1, 0


@dataclass(frozen=True, slots=True)
class StoredChannel:
    """`settings` has no secrets: each of those is kept with the time until which it signs, the newest first.

    The rest is kept by the store: `sequence` is the last number given, `since` the cursor after which it is owed.
    """

    subscription: str
    owner: str
    kind: str
    settings: Mapping[str, Any] = field(repr=False)
    state: ChannelState = "active"
    reason: str = ""
    secrets: Secrets = field(default=(), repr=False)
    since: int = 0
    sequence: int = 0
    failing_since: Instant | None = None
    dead_in_a_row: int = 0
    seconds: float = 0.0  # of an attempt, the average of the last ones
    problem: str = ""  # of the last attempt, if it failed
    changed: Instant = NEVER

    def secrets_at(self, now: Instant) -> list[str]:
        return [secret for secret, until in self.secrets if until is None or until > now]

    def old_secret_until(self, now: Instant) -> Instant | None:
        """Until when a secret that was replaced signs beside the new one."""
        return max((until for _, until in self.secrets if until is not None and until > now), default=None)


def set_channel(database: Database, new: StoredChannel, now: Instant) -> StoredChannel:
    with database.writing("outbox") as connection:
        return put_channel(connection, new, now)


def put_channel(connection: Connection, new: StoredChannel, now: Instant) -> StoredChannel:
    """One that is replaced keeps its sequence, and what it owes goes out by the new settings."""
    key = (channels.c.subscription == new.subscription) & (channels.c.owner == new.owner)
    old = connection.execute(select(channels).where(key)).first()
    # `old_entries` locks it too.
    created_to = connection.execute(select(outbox.c.cursor).with_for_update()).scalar_one()
    values: dict[str, Any] = {
        "kind": new.kind,
        "settings": sealed_settings(connection, new.kind, new.settings),
        "state": new.state,
        "reason": new.reason,
        "secrets": sealed_secrets(connection, new.secrets),
        "until": None,
        "released": _TO_RELEASE if new.state == "active" else _RELEASED,
        "failing_since": None,
        "dead_in_a_row": 0,
        "seconds": 0.0,
        "problem": "",
        "changed": int(now),
        "address": _mail_address(new.kind, new.settings),
    }
    # One that ended is owed from now on; unless notifications from before its end have yet to become deliveries.
    if old is None or (old.until is not None and old.until <= created_to):
        values["since"] = last_cursor(connection)
    if old is None:
        fresh = {"subscription": new.subscription, "owner": new.owner, "sequence": 0, "recent": "[]"}
        connection.execute(channels.insert().values(values | fresh | {"released": _RELEASED}))
    else:
        connection.execute(update(channels).where(key).values(values))
        if old.kind != new.kind:
            _move_due(connection, old, new.kind)
        hold(connection, new.subscription, new.owner, new.state == "active", now)
    return read_channel(connection, connection.execute(select(channels).where(key)).one())


def channel(connection: Connection, subscription: str, owner: str | None) -> StoredChannel | None:
    """Without an owner, the newest of those that had one for this id."""
    row = _row(connection, subscription, owner)
    return None if row is None else read_channel(connection, row)


def active_channels(connection: Connection, owner: str, most: int) -> list[StoredChannel]:
    """The owner's channels that send now, the one that was changed last at the end."""
    mine = (channels.c.owner == owner) & (channels.c.state == "active") & channels.c.until.is_(None)
    newest = select(channels).where(mine).order_by(channels.c.changed.desc(), channels.c.subscription).limit(most)
    return [read_channel(connection, row) for row in reversed(connection.execute(newest).all())]


def channels_of(
    connection: Connection, dialect: Dialect, owner: str, subscriptions: Sequence[str]
) -> dict[str, StoredChannel]:
    """Those of them that have one."""
    rows = dialect.find(connection, channels.c.subscription, subscriptions)
    return {row.subscription: read_channel(connection, row) for row in rows if row.owner == owner and row.until is None}


def change_channel(
    database: Database,
    subscription: str,
    owner: str | None,
    state: ChannelState | None,
    reason: str | None,
    settings: Mapping[str, Any] | None,
    secrets: Secrets | None,
    now: Instant,
) -> StoredChannel:
    with database.writing("outbox") as connection:
        row = _row(connection, subscription, owner)
        if row is None:
            raise NoSuchChannel(subscription)
        values: dict[str, Any] = {"changed": int(now)}
        if secrets is not None:
            values["secrets"] = sealed_secrets(connection, secrets)
        if reason is not None:
            values["reason"] = reason
        if settings is not None:
            values |= {
                "settings": sealed_settings(connection, row.kind, settings),
                "address": _mail_address(row.kind, settings),
            }
        if state is not None and state != row.state:
            values |= {"state": state, "reason": reason or ""}
            if state == "active":  # a new beginning: it is not disabled again for what was before
                values |= {"failing_since": None, "dead_in_a_row": 0, "problem": ""}
        if "state" in values or settings is not None:
            active = values.get("state", row.state) == "active"
            values["released"] = _TO_RELEASE if active else _RELEASED
            hold(connection, row.subscription, row.owner, active, now)
        key = (channels.c.subscription == row.subscription) & (channels.c.owner == row.owner)
        connection.execute(update(channels).where(key).values(values))
        return read_channel(connection, connection.execute(select(channels).where(key)).one())


def remove_channel(database: Database, subscription: str, owner: str | None, now: Instant) -> bool:
    with database.writing("outbox") as connection:
        return end_channel(connection, subscription, owner, now)


def end_channel(connection: Connection, subscription: str, owner: str | None, now: Instant) -> bool:
    """What was found up to now is still owed and sent; whether there was one. The row goes when nothing needs it."""
    row = _row(connection, subscription, owner)
    if row is None:
        return False
    key = (channels.c.subscription == row.subscription) & (channels.c.owner == row.owner)
    connection.execute(update(channels).where(key).values(until=last_cursor(connection), changed=int(now)))
    return True


def hold(connection: Connection, subscription: str, owner: str, active: bool, now: Instant) -> None:
    """Keeps what is owed from being sent: all of it, or, where the channel is active, what was never tried, until the
    outbox has found its new time. An open digest of an active channel is closed."""
    mine = (deliveries.c.subscription == subscription) & (deliveries.c.owner == owner) & IN_STATE["due"]
    if not active:
        connection.execute(update(deliveries).where(mine).values(held=1))
        return
    connection.execute(
        update(deliveries).where(mine, deliveries.c.open == 0, deliveries.c.attempts == 0).values(held=1)
    )
    connection.execute(update(deliveries).where(mine, deliveries.c.open == 1).values(due=int(now)))


def troubled(connection: Connection, limit: int) -> list[StoredChannel]:
    """Those that fail, were disabled or are slow, whoever's they are; the longest failing first."""
    query = select(channels).where(TROUBLED, channels.c.until.is_(None))
    query = query.with_hint(channels, "INDEXED BY channels_troubled", "sqlite")
    order = (channels.c.failing_since.is_(None), channels.c.failing_since, channels.c.seconds.desc())
    return [read_channel(connection, row) for row in connection.execute(query.order_by(*order).limit(limit))]


def read_channel(connection: Connection, row: Any) -> StoredChannel:
    """From a whole row of the table."""
    settings, secrets = opened(connection, row.kind, row.settings, row.secrets)
    return StoredChannel(
        row.subscription,
        row.owner,
        row.kind,
        settings,
        row.state,
        row.reason,
        secrets,
        row.since,
        row.sequence,
        None if row.failing_since is None else Instant(row.failing_since),
        row.dead_in_a_row,
        row.seconds,
        row.problem,
        Instant(row.changed),
    )


def _mail_address(kind: str, settings: Mapping[str, Any]) -> str:
    return str(settings.get("address") or "") if kind == "email" else ""


def _move_due(connection: Connection, old: Any, kind: str) -> None:
    """What it owes is counted under the kind by which it goes out."""
    mine = (deliveries.c.subscription == old.subscription) & (deliveries.c.owner == old.owner)
    counted = select(func.count()).select_from(deliveries).where(mine, IN_STATE["due"])
    if due := connection.execute(counted).scalar_one():
        add_totals(connection, old.kind, Totals(due=-due))
        add_totals(connection, kind, Totals(due=due))


def _row(connection: Connection, subscription: str, owner: str | None) -> Any:
    query = select(channels).where(channels.c.subscription == subscription, channels.c.until.is_(None))
    if owner is not None:
        query = query.where(channels.c.owner == owner)
    return connection.execute(query.order_by(channels.c.changed.desc()).limit(1)).first()
