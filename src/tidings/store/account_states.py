"""Disabling, enabling and deleting an account: it, its tokens, subscriptions and moves, advertisements and deliveries
change in one transaction. Each may be repeated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, select, update

from tidings.schema import Catalog
from tidings.store.accounts.accounts import ACTIVE, DELETED, DISABLED, Account, account, keep_an_operator
from tidings.store.append import append
from tidings.store.clock.clock_guard import ClockGuard
from tidings.store.databases.database import Database
from tidings.store.deliveries.totals import Totals, add_totals
from tidings.store.journal import subscriptions
from tidings.store.journal.entries import Accepted, Draft, Pause, Withdraw
from tidings.store.moves.offers import forget_moves_of
from tidings.store.network import advertisements
from tidings.store.tables import IN_STATE, accounts, attempts, channels, deliveries, notice_mails, notices, tokens

_AT_ONCE = 500  # SQLite takes 32,766 values in one statement, older ones 999


@dataclass(frozen=True, slots=True)
class DeletedAccount:
    """What went with it: subscriptions withdrawn, and deliveries that were still due."""

    subscriptions: int
    deliveries: int


class AccountStates:
    """Of one database."""

    def __init__(self, database: Database, catalog: Callable[[Connection, int], Catalog], clock: ClockGuard) -> None:
        self._database = database
        self._catalog = catalog
        self._clock = clock

    def disable(self, username: str) -> int | None:
        """How many subscriptions were paused; None without such an account. Raises LastOperator."""
        with self._database.writing("journal", "outbox", "accounts") as connection:
            if account(connection, username) is None:
                return None
            keep_an_operator(connection, username)
            _set_state(connection, username, DISABLED)
            advertisements.changed(connection)
            standing = subscriptions.listed(connection, username, "", None)
            return self._append(connection, [Pause(one.id) for one in standing if one.state == "active"])

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
        with self._database.writing("journal", "outbox", "accounts") as connection:
            found = account(connection, username)
            if found is None or proved not in (None, found):
                return None
            keep_an_operator(connection, username)
            _set_state(connection, username, DELETED)
            advertisements.withdraw_all(connection, username)
            standing = subscriptions.listed(connection, username, "", None)
            withdrawn = self._append(connection, [Withdraw(one.id) for one in standing])
            return DeletedAccount(withdrawn, _drop_deliveries(connection, username))

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


def _drop_deliveries(connection: Connection, owner: str) -> int:
    """Channels, deliveries and notices; returns how many deliveries were due."""
    kinds = {
        row.subscription: row.kind
        for row in connection.execute(select(channels.c.subscription, channels.c.kind).where(channels.c.owner == owner))
    }
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
    told = select(notices.c.number).where(notices.c.owner == owner)
    connection.execute(delete(notice_mails).where(notice_mails.c.notice.in_(told)))
    connection.execute(delete(notices).where(notices.c.owner == owner))
    return dropped
