"""The store: one journal and what follows from it, in one database, for any number of processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, get_args
from uuid import uuid4

from sqlalchemy import Connection, select, update

from tidings.schema import Catalog, Instant, json_form
from tidings.store import tables
from tidings.store.accounts import accounts, kept_responses
from tidings.store.accounts.accounts import Account, Token, TokenKind
from tidings.store.accounts.kept_responses import KeptResponse
from tidings.store.append import append, parts_of
from tidings.store.clock.clock import Clock
from tidings.store.clock.clock_guard import ClockGuard, ClockReading
from tidings.store.databases import trial_write
from tidings.store.databases.database import Database
from tidings.store.databases.migration import bring_up_to_date
from tidings.store.errors import NoSuchSubscription
from tidings.store.figures import Figures, figures
from tidings.store.journal import dead_letters, journal, subscriptions, watermark
from tidings.store.journal.entries import DeadLetter, Draft, Entry, Notification, Outcome, Span, Standing, StoredLetter
from tidings.store.notifications import notifications, progress, staging
from tidings.store.notifications.progress import MATCHES, Place
from tidings.store.notifications.quotas import Quotas, dropped
from tidings.store.outbox_store import OutboxStore
from tidings.store.removal import old_entries

_DRAFTS = get_args(Draft)


def check_drafts(drafts: Sequence[Draft]) -> None:
    """Raises TypeError: one thing that is no draft must not fail a group that others are in."""
    for draft in drafts:
        if not isinstance(draft, _DRAFTS):
            raise TypeError(f"{draft!r} is no draft")


class Store(OutboxStore):
    """Use it from any thread. Every method is one short transaction, except where it gives an iterator."""

    def __init__(self, database: Database, clock: ClockGuard, id: str) -> None:
        self.database = database
        self.clock = clock
        self._catalog = Catalog()
        self.url = database.url
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

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def now(self) -> Instant:
        """By the clock that gives the times of acceptance; where it is wrong, what it should say."""
        return self.clock.now()

    def confirm_clock(self) -> ClockReading:
        """An operator says that the clock is right; answers how it was before."""
        with self.database.writing("outbox") as connection:
            return self.clock.confirm(connection)

    # The journal

    def incarnation(self) -> str:
        """Of this journal; another one after it was imported or put back from an older copy. What is kept outside of
        the store, by position, belongs to one of them."""
        with self.database.reading() as connection:
            return str(connection.execute(select(tables.about.c.incarnation)).scalar_one())

    def renew_incarnation(self) -> str:
        with self.database.writing() as connection:
            new = uuid4().hex
            connection.execute(update(tables.about).values(incarnation=new))
            return new

    def fingerprint(self, position: int) -> str:
        """Of the entry at this position; empty where there is none, or it was removed."""
        with self.database.reading() as connection:
            return journal.fingerprint(connection, position)

    def append(self, drafts: Sequence[Draft]) -> list[Outcome]:
        """Decides on the drafts in order, in one transaction; an outcome for each.

        First, and even when there are no drafts, the subscriptions that are due expire. Raises ClockJumped.
        """
        check_drafts(drafts)
        with self.database.writing(*parts_of(drafts)) as connection:
            return append(connection, self.database.dialect, self._catalog_of, drafts, self.clock)

    def catalog(self) -> Catalog:
        """The newest; read only when it has changed."""
        with self.database.reading() as connection:
            version = connection.execute(select(tables.catalog.c.version)).scalar_one()
            return self._catalog_of(connection, version)

    @property
    def known_catalog(self) -> Catalog:
        """The newest that was read or appended to here, without asking; another process may have made a newer one."""
        return self._catalog

    def tail(self) -> int:
        """The last position, 0 when nothing was ever appended."""
        with self.database.reading() as connection:
            return journal.tail(connection)

    def next_change(self, after: int) -> int | None:
        """The first position after this one that holds neither an event nor a tick."""
        with self.database.reading() as connection:
            return journal.next_change(connection, after)

    def changes(self, after: int, upto: int | None = None) -> Iterator[Entry]:
        """The entries that are neither events nor ticks, in order."""
        return journal.changes(self.database, after, upto)

    def entries(self, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        return journal.entries(self.database, after, upto)

    def event_rows(self, after: int, upto: int, rows: int = 10_000) -> Iterator[Any]:
        """Events as record batches of position, accepted (µs), schema_version and payload (JSON of a raw event)."""
        return journal.event_rows(self.database, after, upto, rows)

    def event_page(self, after: int, upto: int, rows: int = 10_000, most_bytes: int = 1 << 24) -> journal.EventPage:
        """The first events of (after, upto], as many as fit: at least one, if there is one."""
        return journal.event_page(self.database, after, upto, rows, most_bytes)

    def events_at(self, positions: Iterable[int]) -> dict[int, str]:
        """The events at these positions, as JSON; where none stands, or it was removed, there is no key."""
        with self.database.reading() as connection:
            return journal.events_at(connection, self.database.dialect, positions)

    def position_of(self, source: str, id: str) -> int | None:
        """Where the event of this source and id was accepted, also when it was removed since."""
        with self.database.reading() as connection:
            return journal.position_of(connection, source, id)

    def position_at(self, time: Instant) -> int:
        """The first position accepted at or after the time; one beyond the tail when there is none."""
        with self.database.reading() as connection:
            return journal.position_at(connection, time)

    def watermark_at(self, position: int) -> Instant | None:
        """The latest occurrence time of the events up to this position; None before the first event that is kept."""
        with self.database.reading() as connection:
            return watermark.watermark_at(connection, position)

    # Subscriptions

    def spans(self, living_after: int = 0) -> Iterator[Span]:
        """The spans that are open or stop after this position, by start."""
        return subscriptions.living_spans(self.database, living_after)

    def spans_opened(self, after: int, upto: int) -> Iterator[Span]:
        """The spans that start after the one position and at most at the other, by start."""
        return subscriptions.opened_spans(self.database, after, upto)

    def subscription(self, id: str, owner: str | None = None) -> Standing:
        """Raises NoSuchSubscription, also where it stands but is not this owner's."""
        with self.database.reading() as connection:
            found = subscriptions.one(connection, id)
        if found is None or owner not in (None, found.owner):
            raise NoSuchSubscription(id)
        return found

    def subscriptions(self, owner: str | None = None, after: str = "", limit: int | None = None) -> list[Standing]:
        """Those that stand, active or paused, by id from after this one on: all, or one owner's."""
        with self.database.reading() as connection:
            return subscriptions.listed(connection, owner, after, limit)

    def count_subscriptions(self, owner: str) -> int:
        """Those that stand, active or paused."""
        with self.database.reading() as connection:
            return subscriptions.count(connection, owner)

    # The pipeline

    def committed(self, query: str = MATCHES) -> int:
        """The position up to which all notifications of a query are stored."""
        return self.place(query).committed

    def place(self, query: str = MATCHES) -> Place:
        """How far a query is."""
        with self.database.reading() as connection:
            return progress.place_of(connection, query)

    def least_committed(self) -> int:
        """The position up to which all queries have stored what they found."""
        with self.database.reading() as connection:
            return progress.least_committed(connection)

    def quotas(self) -> Quotas:
        with self.database.reading() as connection:
            return Quotas.read(connection)

    def commit_batch(self, first: int, last: int, matches: Any, now: Instant | None = None) -> int:
        """As `commit`, of a table with columns position and subscriptions (a list), in any order.

        A notification belongs to whoever owns the span that holds its position; quotas do not count here.
        """
        return self.commit(first, last, notifications.chunks_of(self.database, matches, last), now=now)

    def commit(
        self, first: int, last: int, chunks: Iterable[Any], query: str = MATCHES, pace: Any = None,
        batch_limit: int | None = None, now: Instant | None = None,
    ) -> int:  # fmt: skip
        """Stores the notifications of the events at [first, last], in parts, and moves the committed position there.

        `chunks` are record batches of `commits.CHUNK`, in the order of position and subscription. What was committed
        before is skipped, so a batch may be given again. Answers how many were added; raises Gap or OutsideBatch.
        """
        from tidings.store.notifications.commits import Pace, commit  # the gateway starts without pyarrow

        moment = self.clock.now() if now is None else now
        return commit(self.database, query, first, last, chunks, moment, pace or Pace(), batch_limit)

    def dropped_matches(self) -> dict[str, int]:
        """How many matches were ever dropped for the quotas of accounts."""
        with self.database.reading() as connection:
            return dropped(connection)

    def stage(self, run: str, chunk: int, body: bytes) -> None:
        """Leaves a chunk of matches for the sink."""
        staging.put(self.database, run, chunk, body)

    def staged(self, run: str, chunk: int) -> bytes | None:
        return staging.get(self.database, run, chunk)

    def sweep_staged(self, batch: str) -> None:
        """Removes the chunks of runs whose names begin so."""
        staging.sweep(self.database, batch)

    def notifications(
        self, after: int = 0, limit: int = 1000, subscription: str | None = None, owner: str | None = None
    ) -> list[Notification]:
        """By cursor, from after this one on: all, or one owner's, one subscription's, or both.

        Without an owner, a subscription's are found by reading all of them.
        """
        with self.database.reading() as connection:
            return notifications.after_cursor(connection, after, limit, subscription, owner)

    def owned_notifications(self, after: int, limit: int) -> tuple[int, list[tuple[str, Notification]]]:
        """Everybody's, each with its owner, by cursor from after this one on; and the cursor to go on from."""
        with self.database.reading() as connection:
            return notifications.owned_after(connection, after, limit)

    def last_cursor(self) -> int:
        """Of the newest notification, 0 when there is none."""
        with self.database.reading() as connection:
            return progress.last_cursor(connection)

    def newest_notification(self, subscription: str, owner: str) -> Notification | None:
        with self.database.reading() as connection:
            return notifications.newest(connection, subscription, owner)

    def notification_table(self, after_position: int = 0) -> Any:
        """All pairs of position and subscription, as an Arrow table."""
        return notifications.as_table(self.database, after_position)

    def figures(self) -> Figures:
        """How much there is of everything, at one moment."""
        with self.database.reading() as connection:
            return figures(connection)

    # What never got in, and what may go

    def bury(self, letters: Sequence[DeadLetter]) -> int:
        """Keeps refused events; one of the same origin and place is kept once. Answers how many were new."""
        return dead_letters.bury(self.database, letters, self.clock.now())

    def dead_letters(self, after: int = 0, limit: int = 1000) -> list[StoredLetter]:
        """By number, from after this one on."""
        with self.database.reading() as connection:
            return dead_letters.after_number(connection, after, limit)

    def trim(
        self,
        before: Instant | None = None,
        most_bytes: int | None = None,
        needed_from: int | None = None,
        limit: int | None = None,
    ) -> int:
        """Removes the oldest events: those accepted before a time, and so many that the rest fits into `most_bytes`.

        Only up to the committed position, below `needed_from` and below all that is still owed. Answers how many.
        Raises ClockJumped where a time is given and the clock is wrong.
        """
        if before is not None:
            self.clock.look().check()
        return old_entries.trim(self.database, before, most_bytes, needed_from, limit)

    def forget(self, limit: int = 10_000) -> int:
        """Removes notifications whose events were removed. Answers how many; less than the limit: there are no more."""
        return old_entries.forget(self.database, limit)

    def forget_keys(self, before: Instant, limit: int = 1_000) -> int:
        """Removes keys of removed events that were accepted before a time: published again, such an event is new.
        Returns how many; less than the limit: there are no more."""
        self.clock.look().check()
        return old_entries.forget_keys(self.database, before, limit)

    def forget_spans(self, limit: int = 1_000) -> int:
        """Removes spans that closed before the oldest event that is kept. Returns how many, as `forget_keys` does."""
        return old_entries.forget_spans(self.database, limit)

    def forget_letters(self, before: Instant, limit: int = 1_000) -> int:
        """Removes dead letters stored before a time. Returns how many, as `forget_keys` does."""
        self.clock.look().check()
        return old_entries.forget_letters(self.database, before, limit)

    def complete_from(self) -> int:
        """The first position from which on no event was removed."""
        with self.database.reading() as connection:
            return journal.complete_from(connection)

    # Accounts, tokens and answers, which are no part of the journal

    def add_account(self, account: Account) -> None:
        """Raises AccountExists or UnfitAccount."""
        accounts.add_account(self.database, account)

    def account(self, username: str) -> Account | None:
        with self.database.reading() as connection:
            return accounts.account(connection, username)

    def change_account(
        self,
        username: str,
        password: str | None = None,
        scopes: frozenset[str] | None = None,
        *,
        proved: Account | None = None,
        keep: bytes | None = None,
    ) -> bool:
        """What is given. Tokens that may do more than `scopes` are removed, and all but the one to `keep`.

        False when there is no such account, or it is not any more as it was `proved`. Raises LastOperator.
        """
        return accounts.change_account(self.database, username, password, scopes, proved, keep)

    def add_operator(self, token_digest: bytes) -> bool:
        """An operator where none is, and a token: False when an account may operate already."""
        return accounts.add_operator(self.database, token_digest, self.clock.now())

    def add_token(self, token: Token, proved: Account | None = None, most: int | None = None) -> bool:
        """Those of its account that have expired are removed, and the oldest where there would be more than `most`.

        False, and nothing is done, when the account is not any more as it was `proved`.
        """
        return accounts.add_token(self.database, token, self.clock.now(), proved, most)

    def token(self, digest: bytes) -> Token | None:
        """None when it has expired, too."""
        with self.database.reading() as connection:
            return accounts.token(connection, digest, self.clock.now())

    def tokens_of(self, username: str) -> list[Token]:
        """Those that have not expired, oldest first."""
        with self.database.reading() as connection:
            return accounts.tokens_of(connection, username, self.clock.now())

    def remove_token(self, digest: bytes, username: str | None = None) -> bool:
        """Whoever's it is, or only if it is this account's; whether there was one."""
        return accounts.remove_token(self.database, digest, username)

    def remove_tokens_of(self, username: str, kind: TokenKind | None = None) -> int:
        """All, or those of one kind. Answers how many."""
        return accounts.remove_tokens_of(self.database, username, kind)

    def kept_response(self, key: bytes) -> KeptResponse | None:
        """What was answered to a request under this key, for 24 hours."""
        with self.database.reading() as connection:
            return kept_responses.one(connection, key, self.clock.now())

    def keep_response(self, response: KeptResponse) -> bool:
        """False when one is kept under its key already; that one stays."""
        return kept_responses.keep(self.database, response, self.clock.now())

    def try_write(self) -> None:
        """Writes as much as a large event and takes it back. Raises StoreError where a publish would fail too."""
        trial_write.try_write(self.database)

    def _catalog_of(self, connection: Connection, version: int) -> Catalog:
        """The newest catalog, which has this version."""
        newest = self._catalog
        if version != newest.version:
            body = connection.execute(select(tables.catalog.c.body)).scalar_one()
            self._catalog = newest = json_form.read(body)
        return newest
