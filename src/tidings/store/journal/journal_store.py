"""The methods of the store that read the journal and what follows from it, and that keep dead letters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from uuid import uuid4

from sqlalchemy import select, update

from tidings.language.stems import text_versions
from tidings.schema import Instant
from tidings.store import tables
from tidings.store.clock.clock_guard import ClockGuard
from tidings.store.errors import NoSuchSubscription
from tidings.store.journal import dead_letters, journal, profiles, subscriptions, watermark
from tidings.store.journal.entries import DeadLetter, Entry, Span, Standing, StoredLetter
from tidings.store.journal.event_store import EventStore


class JournalStore(EventStore):
    """Every method is one short transaction, except where it gives an iterator."""

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

    def renew_text_versions(self) -> str:
        """What to tell the operator where its texts were cut and stemmed by other versions until now; else nothing."""
        here = text_versions()
        with self.database.reading() as connection:
            before = str(connection.execute(select(tables.about.c.text_versions)).scalar_one())
        if before != here:
            with self.database.writing() as connection:
                connection.execute(update(tables.about).values(text_versions=here))
        if before in {"", here}:  # a new store has none
            return ""
        return (
            f"the texts of this store were cut and stemmed by {before}, and from now on by {here}: about stored "
            "events, filters with words may answer otherwise than when those came"
        )

    def fingerprint(self, position: int) -> str:
        """Of the entry at this position; empty where there is none, or it was removed."""
        with self.database.reading() as connection:
            return journal.fingerprint(connection, position)

    def next_change(self, after: int) -> int | None:
        """The first position after this one whose entry can change matching."""
        with self.database.reading() as connection:
            return journal.next_change(connection, after)

    def changes(self, after: int, upto: int | None = None) -> Iterator[Entry]:
        """The entries that can change matching, in order: no events, ticks or names."""
        return journal.changes(self.database, after, upto)

    def entries(self, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        return journal.entries(self.database, after, upto)

    def last_growth(self) -> int:
        """The position of the last change of the schema; 0 where there was none."""
        with self.database.reading() as connection:
            found = journal.growth_before(connection, None, 1)
        return found[0].position if found else 0

    def position_of(self, source: str, id: str) -> int | None:
        """Where the event of this source and id was accepted, also when it was removed since."""
        with self.database.reading() as connection:
            return journal.position_of(connection, source, id)

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
