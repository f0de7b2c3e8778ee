"""The store: one journal and what follows from it, in one database, for any number of processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self, TypeVar, get_args

from sqlalchemy import select

from tidings.schema import Instant
from tidings.store import tables
from tidings.store.account_states import AccountStates, DeletedAccount
from tidings.store.accounts.account_store import AccountStore
from tidings.store.accounts.accounts import Account
from tidings.store.append import ManyDue, append, expire_some, parts_of
from tidings.store.arrivals import Heard, store_heard
from tidings.store.clock.clock import Clock
from tidings.store.clock.clock_guard import ClockGuard, ClockReading
from tidings.store.databases import seal, trial_write
from tidings.store.databases.database import UNLOCKED, Database
from tidings.store.databases.migration import bring_up_to_date
from tidings.store.deliveries.outbox_store import OutboxStore
from tidings.store.errors import ClockJumped
from tidings.store.figures import Figures, figures
from tidings.store.journal.entries import Draft, Outcome, Withdraw
from tidings.store.journal.journal_store import JournalStore
from tidings.store.moves.move_store import MoveStore
from tidings.store.moves.moving_in import MoveIn, stow
from tidings.store.moves.offers import forget_departure
from tidings.store.network.advertisements import Admitted, Outdated
from tidings.store.network.network_store import NetworkStore
from tidings.store.notifications.notification_store import NotificationStore
from tidings.store.notifications.told import tell_of_jump
from tidings.store.removal.removal_store import RemovalStore
from tidings.vault import Vault

T = TypeVar("T")
_DRAFTS = get_args(Draft)
_MOST_READ = 3  # times that advertisements are read before the lock, should they change again and again


def check_drafts(drafts: Sequence[Draft]) -> None:
    """Raises TypeError: one thing that is not a draft must not fail a group that others are in."""
    for draft in drafts:
        if not isinstance(draft, _DRAFTS):
            raise TypeError(f"{draft!r} is not a draft")


class Store(JournalStore, NotificationStore, OutboxStore, RemovalStore, AccountStore, NetworkStore, MoveStore):
    """Use it from any thread. Every method is one short transaction, except where it gives an iterator."""

    def __init__(self, database: Database, clock: ClockGuard, id: str) -> None:
        super().__init__(database)
        self.clock = clock
        clock.on_jump = tell_of_jump
        self._admitted = Admitted()
        self.id = id

    @classmethod
    def open(cls, url: str | Path, clock: Clock | None = None) -> Store:
        """A path, sqlite:///… or postgresql://…; makes the tables or brings them up to date. Raises StoreError.

        Unless another clock is given, the time is that of the PostgreSQL server, or with SQLite that of this host.
        """
        database = Database(url)
        try:
            bring_up_to_date(database)
            with database.reading() as connection:
                id = connection.execute(select(tables.about.c.journal_id)).scalar_one()
                guard = ClockGuard(database, clock)
                guard.begin(connection)
        except BaseException:
            database.close()
            raise
        return cls(database, guard, id)

    def use_vault(self, vault: Vault) -> Self:
        """Secrets of channels are sealed by it from now on, also those that are stored already. Raises
        SecretKeyMissing or WrongSecretKey."""
        seal.use_vault(self.database, vault)
        return self

    def reseal(self) -> int:
        """Seals the secrets of all channels by the vault's newest key; how many channels."""
        return seal.reseal(self.database)

    def forget_sealed(self) -> int:
        """Drops secrets whose key was lost and disables their channels; how many."""
        return seal.forget_sealed(self.database)

    def now(self) -> Instant:
        """By the clock that gives the times of acceptance; where it is wrong, what it should say."""
        return self.clock.now()

    def confirm_clock(self) -> ClockReading:
        """An operator says that the clock is right; answers how it was before."""
        with self.database.writing("outbox") as connection:
            return self.clock.confirm(connection)

    def append(self, drafts: Sequence[Draft]) -> list[Outcome]:
        """Decides on the drafts in order, in one transaction; an outcome for each.

        First, and even when there are no drafts, the subscriptions that are due expire: many of them in earlier
        transactions. Raises ClockJumped.
        """
        check_drafts(drafts)
        for _ in range(_MOST_READ):
            try:
                return self._appending(lambda: self._append(drafts))
            except Outdated:  # advertisements have changed: they are parsed while others may write
                with self.database.reading() as connection:
                    self._admitted.read(connection, self._catalog_of)
        return self._appending(lambda: self._append(drafts, anew=True))

    def store_heard(self, heard: Sequence[Heard]) -> list[Outcome]:
        """What came from other servers, in one transaction; an outcome for each event. Raises ClockJumped."""
        return self._appending(lambda: store_heard(self.database, self._catalog_of, self.clock, heard))

    def stow(self, luggage: MoveIn, after: int, upto: int) -> int:
        """Notifications of a subscription that is going to move in, between two cursors of its old server's; up to
        which cursor they are here. Raises NoSuchTicket, SubscriptionExists or ClockJumped."""

        def stowed() -> int:
            with self.database.writing("journal", "pipeline") as connection:
                return stow(connection, self.database, self._catalog_of, self.clock, luggage, (after, upto))

        return self._appending(stowed)

    def departed(self, subscription: str) -> None:
        """Another server has it: it is withdrawn here, if it still stands. Raises ClockJumped."""

        def withdraw() -> None:
            with self.database.writing() as connection:
                append(connection, self.database.dialect, self._catalog_of, [Withdraw(subscription)], self.clock)
                forget_departure(connection, subscription)

        self._appending(withdraw)

    def disable_account(self, username: str) -> int | None:
        """Nobody can log in, all tokens, sessions and moves end, all subscriptions are paused, and its advertisements
        do not count until it is enabled. Returns how many were; None
        without such an account. Raises LastOperator or ClockJumped."""
        return self._account_states().disable(username)

    def enable_account(self, username: str) -> bool:
        """Subscriptions stay paused until the owner resumes them. False without such an account."""
        return self._account_states().enable(username)

    def delete_account(self, username: str, proved: Account | None = None) -> DeletedAccount | None:
        """Subscriptions and advertisements are withdrawn; tokens, tickets of moves, channels, deliveries and notices
        are removed. Events and notifications stay until they are old, and the name stays taken.

        None when there is no such account, or it is not any more as it was `proved`. Raises LastOperator or
        ClockJumped.
        """
        return self._account_states().delete(username, proved)

    def figures(self) -> Figures:
        """How much there is of everything, at one moment."""
        with self.database.reading() as connection:
            return figures(connection)

    def try_write(self) -> None:
        """Writes as much as a large event and takes it back. Raises StoreError where a publish would fail too."""
        trial_write.try_write(self.database)

    def _append(self, drafts: Sequence[Draft], anew: bool = False) -> list[Outcome]:
        """Raises Outdated, unless advertisements are read `anew` in the transaction."""
        with self.database.writing(*parts_of(drafts)) as connection:
            if anew:
                self._admitted.read(connection, self._catalog_of)
            return append(connection, self.database.dialect, self._catalog_of, drafts, self.clock, self._admitted)

    def _appending(self, change: Callable[[], T]) -> T:
        """A transaction that appends. Where many subscriptions are due, they expire before it, in transactions of their
        own, so that no other writer waits for all of them."""
        while True:
            try:
                return change()
            except ManyDue:
                with self.database.writing() as connection:
                    expire_some(connection, self.database.dialect, self._catalog_of, self.clock)
                time.sleep(UNLOCKED)
            except ClockJumped:
                self.clock.look()  # and tells other hosts, which a transaction that is taken back could not
                raise

    def _account_states(self) -> AccountStates:
        return AccountStates(self.database, self._catalog_of, self.clock, self._appending)
