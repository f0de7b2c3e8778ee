"""Disabling, enabling and deleting an account: it, its tokens, subscriptions and moves, advertisements and deliveries.

They change in one transaction, unless they are enough to make other writers wait: then in several. An account is
disabled in the first, so that it can do no more, and deleted in the last, so that it may be deleted again
where the first try was cut off."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from tidings.schema import Catalog
from tidings.store.accounts.accounts import ACTIVE, DELETED, DISABLED, Account, account, keep_an_operator
from tidings.store.append import append
from tidings.store.clock.clock_guard import ClockGuard
from tidings.store.databases.database import UNLOCKED, Database
from tidings.store.deliveries.totals import Totals, add_totals
from tidings.store.journal import subscriptions
from tidings.store.journal.entries import Accepted, Draft, Pause, Standing, Withdraw
from tidings.store.moves.offers import forget_moves_of
from tidings.store.network import advertisements
from tidings.store.tables import IN_STATE, accounts, attempts, channels, deliveries, notice_mails, notices, tokens

MOST_CHANGED = 2_000  # subscriptions, or channels, that one transaction changes
_AT_ONCE = 500  # SQLite takes 32,766 values in one statement, older ones 999


@dataclass(frozen=True, slots=True)
class DeletedAccount:
    """What went with it: subscriptions withdrawn, and deliveries that were still due."""

    subscriptions: int
    deliveries: int


class AccountStates:
    """Of one database. `appending` runs a transaction that appends; see `Store`."""

    def __init__(
        self,
        database: Database,
        catalog: Callable[[Connection, int], Catalog],
        clock: ClockGuard,
        appending: Callable[[Callable[[], Any]], Any],
    ) -> None:
        self._database = database
        self._catalog = catalog
        self._clock = clock
        self._appending = appending

    def disable(self, username: str) -> int | None:
        """How many subscriptions were paused; None without such an account. Raises LastOperator."""
        paused, after = 0, ""
        while True:
            step: tuple[int, list[Standing]] | None = self._appending(partial(self._disable_some, username, after))
            if step is None:
                return None
            paused += step[0]
            if len(step[1]) < MOST_CHANGED:
                return paused
            after = step[1][-1].id
            time.sleep(UNLOCKED)

    def _disable_some(self, username: str, after: str) -> tuple[int, list[Standing]] | None:
        with self._database.writing("journal", "outbox", "accounts") as connection:
            if account(connection, username) is None:
                return None
            if not after:
                keep_an_operator(connection, username)
                _set_state(connection, username, DISABLED)
                advertisements.changed(connection)
            standing = subscriptions.listed(connection, username, after, MOST_CHANGED)
            return self._append(connection, [Pause(one.id) for one in standing if one.state == "active"]), standing

    def enable(self, username: str) -> bool:
        with self._database.writing("accounts") as connection:
            if account(connection, username) is None:
                return False
            connection.execute(update(accounts).where(accounts.c.username == username).values(state=ACTIVE))
            advertisements.changed(connection)
            return True

    def delete(self, username: str, proved: Account | None) -> DeletedAccount | None:
        """None without such an account, or when it is not any more as it was `proved`. Raises LastOperator.

        The name stays taken, since notifications are found by their owner's name: nobody else may come to read them.
        """
        withdrawn, dropped, is_deleted = 0, 0, False
        while not is_deleted:
            step: tuple[int, int, bool] | None = self._appending(partial(self._delete_some, username, proved))
            if step is None:
                return None
            withdrawn, dropped, is_deleted = withdrawn + step[0], dropped + step[1], step[2]
            time.sleep(0 if is_deleted else UNLOCKED)
        return DeletedAccount(withdrawn, dropped)

    def _delete_some(self, username: str, proved: Account | None) -> tuple[int, int, bool] | None:
        """With the last of what it has, the account."""
        with self._database.writing("journal", "outbox", "accounts") as connection:
            found = account(connection, username)
            if found is None or proved not in (None, found):
                return None
            keep_an_operator(connection, username)
            standing = subscriptions.listed(connection, username, "", MOST_CHANGED)
            withdrawn = self._append(connection, [Withdraw(one.id) for one in standing])
            dropped, had = _drop_deliveries(connection, username)
            is_all = len(standing) < MOST_CHANGED and had < MOST_CHANGED
            if is_all:
                _set_state(connection, username, DELETED)
                advertisements.withdraw_all(connection, username)
                _drop_notices(connection, username)
            return withdrawn, dropped, is_all

    def _append(self, connection: Connection, drafts: list[Draft]) -> int:
        """Those that expire at this moment are refused: they are gone already."""
        outcomes = append(connection, self._database.dialect, self._catalog, drafts, self._clock) if drafts else []
        return sum(isinstance(one, Accepted) for one in outcomes)


def _set_state(connection: Connection, username: str, state: str) -> None:
    """And ends all tokens, sessions and moves."""
    values = {"state": state} | ({"password": "", "scopes": "[]"} if state == DELETED else {})
    connection.execute(update(accounts).where(accounts.c.username == username).values(values))
    connection.execute(delete(tokens).where(tokens.c.username == username))
    forget_moves_of(connection, username)


def _drop_deliveries(connection: Connection, owner: str) -> tuple[int, int]:
    """With the channels that they go through, `MOST_CHANGED` of them at most; returns how many deliveries were due, and
    how many channels there were."""
    some = select(channels.c.subscription, channels.c.kind).where(channels.c.owner == owner).limit(MOST_CHANGED)
    kinds = {row.subscription: row.kind for row in connection.execute(some)}
    dropped = 0
    all_ids = list(kinds)
    for first in range(0, len(all_ids), _AT_ONCE):
        ids = all_ids[first : first + _AT_ONCE]
        mine = deliveries.c.subscription.in_(ids) & (deliveries.c.owner == owner)
        due = select(deliveries.c.subscription, func.count().label("due")).where(mine, IN_STATE["due"])
        for row in connection.execute(due.group_by(deliveries.c.subscription)).all():
            add_totals(connection, kinds[row.subscription], Totals(due=-row.due))
            dropped += row.due
        connection.execute(delete(attempts).where(attempts.c.delivery.in_(select(deliveries.c.number).where(mine))))
        connection.execute(delete(deliveries).where(mine))
        connection.execute(delete(channels).where(channels.c.subscription.in_(ids), channels.c.owner == owner))
    return dropped, len(all_ids)


def _drop_notices(connection: Connection, owner: str) -> None:
    told = select(notices.c.number).where(notices.c.owner == owner)
    connection.execute(delete(notice_mails).where(notice_mails.c.notice.in_(told)))
    connection.execute(delete(notices).where(notices.c.owner == owner))
