"""The methods of the store that read the journal and what follows from it, and that keep dead letters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from sqlalchemy import select, update

from tidings.schema import Instant
from tidings.store import tables
from tidings.store.clock.clock_guard import ClockGuard
from tidings.store.databases.database import Database
from tidings.store.errors import NoSuchSubscription
from tidings.store.journal import dead_letters, event_columns, journal, profiles, subscriptions, watermark
from tidings.store.journal.entries import DeadLetter, Entry, Span, Standing, StoredLetter


class JournalStore:
    """Every method is one short transaction, except where it gives an iterator."""

    database: Database
    clock: ClockGuard

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

    def complete_from(self) -> int:
        """The first position from which on no event was removed."""
        with self.database.reading() as connection:
            return journal.complete_from(connection)

    def tail(self) -> int:
        """The last position, 0 when nothing was ever appended."""
        with self.database.reading() as connection:
            return journal.tail(connection)

    def next_change(self, after: int) -> int | None:
        """The first position after this one whose entry can change matching."""
        with self.database.reading() as connection:
            return journal.next_change(connection, after)

    def changes(self, after: int, upto: int | None = None) -> Iterator[Entry]:
        """The entries that can change matching, in order: no events, ticks or names."""
        return journal.changes(self.database, after, upto)

    def entries(self, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        return journal.entries(self.database, after, upto)

    def event_rows(self, after: int, upto: int, rows: int = 10_000, most_bytes: int = 1 << 24) -> Iterator[Any]:
        """Events as record batches of position, accepted (µs), schema_version and payload (JSON of a raw event)."""
        return journal.event_rows(self.database, after, upto, rows, most_bytes)

    def event_page(self, after: int, upto: int, rows: int = 10_000, most_bytes: int = 1 << 24) -> journal.EventPage:
        """The first events of (after, upto], as many as fit: at least one, if there is one."""
        return journal.event_page(self.database, after, upto, rows, most_bytes)

    def events_at(self, positions: Iterable[int]) -> dict[int, str]:
        """The events at these positions, as JSON; where none stands, or it was removed, there is no key."""
        with self.database.reading() as connection:
            return journal.events_at(connection, self.database.dialect, positions)

    def copied_columns(self, first: int, last: int, names: Iterable[str]) -> dict[int, event_columns.Columns]:
        """Of these stretches those that were copied by column: what they have of these names, and always ''."""
        with self.database.reading() as connection:
            return event_columns.copied(connection, first, last, names)

    def copied_stretches(self, first: int, last: int) -> set[int]:
        with self.database.reading() as connection:
            return event_columns.stretches(connection, first, last)

    def keep_columns(self, stretch: int, columns: Mapping[str, bytes]) -> None:
        """The events of a whole stretch by column, as `events.column_copy` writes them."""
        with self.database.adding() as connection:
            event_columns.keep(connection, stretch, columns)

    def last_growth(self) -> int:
        """The position of the last change of the schema; 0 where there was none."""
        with self.database.reading() as connection:
            found = journal.growth_before(connection, None, 1)
        return found[0].position if found else 0

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

    def spans(self, living_after: int = 0, composite: bool | None = None) -> Iterator[Span]:
        """The spans that are open or stop after this position, by start; of composites or of filters alone."""
        return subscriptions.living_spans(self.database, living_after, composite)

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

    def subscriptions_mentioning(self, part: str) -> list[Standing]:
        """Those that stand and have this part in their text."""
        with self.database.reading() as connection:
            return subscriptions.mentioning(connection, part)

    def subscriptions_with(self, ids: Iterable[str]) -> list[Standing]:
        """Those of them that stand, whoever has them."""
        with self.database.reading() as connection:
            return subscriptions.some(connection, self.database.dialect, ids)

    def subscription_names(self, ids: Iterable[str]) -> dict[tuple[str, str], str]:
        """By id and owner, of those that stand and have one."""
        with self.database.reading() as connection:
            return subscriptions.names(connection, self.database.dialect, ids)

    def composite_profiles(self) -> dict[str, str]:
        """Options that composites may inherit with `using NAME`, by name."""
        with self.database.reading() as connection:
            return profiles.profiles_of(connection)

    def count_subscriptions(self, owner: str) -> int:
        """Those that stand, active or paused."""
        with self.database.reading() as connection:
            return subscriptions.count(connection, owner)

    # Dead letters

    def bury(self, letters: Sequence[DeadLetter]) -> int:
        """Keeps refused events; one of the same origin and place is kept once. Answers how many were new."""
        return dead_letters.bury(self.database, letters, self.clock.now())

    def dead_letters(self, after: int = 0, limit: int = 1000) -> list[StoredLetter]:
        """By number, from after this one on."""
        with self.database.reading() as connection:
            return dead_letters.after_number(connection, after, limit)
