"""The store: one journal and what follows from it, in one database, for any number of processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, get_args

from sqlalchemy import Connection, select

from tidings.schema import Catalog, Instant, json_form
from tidings.store import dead_letters, journal, notifications, retention, subscriptions, tables
from tidings.store.appending import append
from tidings.store.clock import Clock, now
from tidings.store.database import Database
from tidings.store.entries import DeadLetter, Draft, Entry, Notification, Outcome, Span, Standing, StoredLetter
from tidings.store.errors import NoSuchSubscription
from tidings.store.figures import Figures, figures
from tidings.store.migrating import bring_up_to_date

_DRAFTS = get_args(Draft)


def check_drafts(drafts: Sequence[Draft]) -> None:
    """Raises TypeError: one thing that is no draft must not fail a group that others are in."""
    for draft in drafts:
        if not isinstance(draft, _DRAFTS):
            raise TypeError(f"{draft!r} is no draft")


class Store:
    """Use it from any thread. Every method is one short transaction, except where it gives an iterator."""

    def __init__(self, database: Database, clock: Clock, id: str) -> None:
        self.database = database
        self._clock = clock
        self._catalog = Catalog()
        self.url = database.url
        self.id = id

    @classmethod
    def open(cls, url: str | Path, clock: Clock = now) -> Store:
        """A path, sqlite:///… or postgresql://…; makes the tables or brings them up to date. Raises StoreError."""
        database = Database(url)
        try:
            bring_up_to_date(database)
            with database.reading() as connection:
                id = connection.execute(select(tables.about.c.journal_id)).scalar_one()
        except BaseException:
            database.close()
            raise
        return cls(database, clock, id)

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # The journal

    def append(self, drafts: Sequence[Draft]) -> list[Outcome]:
        """Decides on the drafts in order, in one transaction; an outcome for each.

        First, and even when there are no drafts, the subscriptions that are due expire.
        """
        check_drafts(drafts)
        with self.database.writing() as connection:
            return append(connection, self.database.dialect, self._catalog_of, drafts, self._clock)

    def catalog(self) -> Catalog:
        """The newest; read only when it has changed."""
        with self.database.reading() as connection:
            version = connection.execute(select(tables.catalog.c.version)).scalar_one()
            return self._catalog_of(connection, version)

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

    def position_at(self, time: Instant) -> int:
        """The first position accepted at or after the time; one beyond the tail when there is none."""
        with self.database.reading() as connection:
            return journal.position_at(connection, time)

    # Subscriptions

    def spans(self, living_after: int = 0) -> Iterator[Span]:
        """The spans that are open or stop after this position, by start."""
        return subscriptions.living_spans(self.database, living_after)

    def spans_opened(self, after: int, upto: int) -> Iterator[Span]:
        """The spans that start after the one position and at most at the other, by start."""
        return subscriptions.opened_spans(self.database, after, upto)

    def subscription(self, id: str) -> Standing:
        """Raises NoSuchSubscription."""
        with self.database.reading() as connection:
            found = subscriptions.one(connection, id)
        if found is None:
            raise NoSuchSubscription(id)
        return found

    def subscriptions(self, owner: str | None = None, after: str = "", limit: int | None = None) -> list[Standing]:
        """Those that stand, active or paused, by id from after this one on: all, or one owner's."""
        with self.database.reading() as connection:
            return subscriptions.listed(connection, owner, after, limit)

    # The pipeline

    def committed(self) -> int:
        """The position up to which all notifications are stored."""
        with self.database.reading() as connection:
            return notifications.committed(connection)

    def commit_batch(self, first: int, last: int, matches: Any, now: Instant | None = None) -> int:
        """Stores the notifications of the events at [first, last] and moves the committed position there.

        `matches` has columns position and subscriptions (a list). What was committed before is skipped, so a
        batch may be given again. Answers how many were added; raises Gap or OutsideBatch.
        """
        return notifications.commit_batch(self.database, first, last, matches, self._clock() if now is None else now)

    def notifications(self, after: int = 0, limit: int = 1000, subscription: str | None = None) -> list[Notification]:
        """By cursor, from after this one on: all, or one subscription's, which are found by reading all of them."""
        with self.database.reading() as connection:
            return notifications.after_cursor(connection, after, limit, subscription)

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
        return dead_letters.bury(self.database, letters, self._clock())

    def dead_letters(self, after: int = 0, limit: int = 1000) -> list[StoredLetter]:
        """By number, from after this one on."""
        with self.database.reading() as connection:
            return dead_letters.after_number(connection, after, limit)

    def trim(self, before: Instant | None = None, most_bytes: int | None = None, needed_from: int | None = None) -> int:
        """Removes the oldest events: those accepted before a time, and so many that the rest fits into `most_bytes`.

        Only up to the committed position and below `needed_from`. Answers how many.
        """
        return retention.trim(self.database, before, most_bytes, needed_from)

    def complete_from(self) -> int:
        """The first position from which on no event was removed."""
        with self.database.reading() as connection:
            return retention.complete_from(connection)

    def _catalog_of(self, connection: Connection, version: int) -> Catalog:
        """The newest catalog, which has this version."""
        newest = self._catalog
        if version != newest.version:
            body = connection.execute(select(tables.catalog.c.body)).scalar_one()
            self._catalog = newest = json_form.read(body)
        return newest
