"""The methods of the store that read events: what queries need. `EventReader` has nothing else, and is loaded in a
third of the time that the whole store takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, select

from tidings.schema import Catalog, Instant, json_form
from tidings.store import tables
from tidings.store.databases.database import Database
from tidings.store.databases.migration import bring_up_to_date
from tidings.store.journal import event_columns, stored_events
from tidings.store.journal.stored_events import EventPage


class EventStore:
    """Every method is one short transaction, except where it gives an iterator."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.url = database.url
        self._catalog = Catalog()

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def complete_from(self) -> int:
        """The first position from which on no event was removed."""
        with self.database.reading() as connection:
            return stored_events.complete_from(connection)

    def tail(self) -> int:
        """The last position, 0 when nothing was ever appended."""
        with self.database.reading() as connection:
            return stored_events.tail(connection)

    def event_rows(self, after: int, upto: int, rows: int = 10_000, most_bytes: int = 1 << 24) -> Iterator[Any]:
        """Events as record batches of position, accepted (µs), schema_version and payload (JSON of a raw event)."""
        return stored_events.event_rows(self.database, after, upto, rows, most_bytes)

    def event_page(self, after: int, upto: int, rows: int = 10_000, most_bytes: int = 1 << 24) -> EventPage:
        """The first events of (after, upto], as many as fit: at least one, if there is one."""
        return stored_events.event_page(self.database, after, upto, rows, most_bytes)

    def events_at(self, positions: Iterable[int]) -> dict[int, str]:
        """The events at these positions, as JSON; where none stands, or it was removed, there is no key."""
        with self.database.reading() as connection:
            return stored_events.events_at(connection, self.database.dialect, positions)

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

    def position_at(self, time: Instant) -> int:
        """The first position accepted at or after the time; one beyond the tail when there is none."""
        with self.database.reading() as connection:
            return stored_events.position_at(connection, time)

    def catalog(self) -> Catalog:
        """The newest; read only when it has changed."""
        with self.database.reading() as connection:
            version = connection.execute(select(tables.catalog.c.version)).scalar_one()
            return self._catalog_of(connection, version)

    @property
    def known_catalog(self) -> Catalog:
        """The newest that was read or appended to here, without asking; another process may have made a newer one."""
        return self._catalog

    def _catalog_of(self, connection: Connection, version: int) -> Catalog:
        """The newest catalog, which has this version."""
        newest = self._catalog
        if version != newest.version:
            body = connection.execute(select(tables.catalog.c.body)).scalar_one()
            self._catalog = newest = json_form.read(body)
        return newest


class EventReader(EventStore):
    @classmethod
    def open(cls, url: str | Path) -> Self:
        """A path, sqlite:///… or postgresql://…; brings the tables up to date. Raises StoreError."""
        database = Database(url)
        try:
            bring_up_to_date(database)
        except BaseException:
            database.close()
            raise
        return cls(database)
