"""One database, SQLite or PostgreSQL: short transactions on it, and its failures in plain words.

Everything else in this room speaks to the database through `reading` and `writing`. What the two do differently
(how to become the only writer, how to write many rows) is in `sqlite` and `postgresql`.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, Protocol

from sqlalchemy import URL, Column, Connection, Engine, Table, TextClause, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from tidings.errors import StoreError
from tidings.store.errors import UnknownStore

Row = Sequence[Any]
NamedRow = Any  # a tuple whose values have the names of the columns: `row.position`
# What has a writer of its own, where the database can tell them apart.
Part = Literal["journal", "pipeline", "letters", "accounts", "responses", "outbox"]
UNLOCKED = 0.01  # seconds between two transactions of one job, in which a waiting writer tries again
_POSTGRESQL = ("postgresql", "postgres", "postgresql+psycopg")


class Dialect(Protocol):
    """What the databases do differently."""

    failures: tuple[type[Exception], ...]  # the driver's errors, which raw cursors raise unwrapped
    body_bytes: str  # SQL for the size of a journal entry's body
    clock_query: str | None  # SQL for what its own clock says, in microseconds; None: it has none but this host's

    def engine(self, url: URL) -> Engine: ...

    def begin_reading(self, connection: Connection) -> None:
        """Until the transaction ends, every statement sees the same moment."""

    def begin_writing(self, connection: Connection, part: Part) -> None:
        """Waits until this is the only writer of the part, and stays so until the transaction ends."""

    def insert(self, connection: Connection, table: Table, rows: Iterable[Row]) -> None:
        """Many rows, with a value for every column of the table, in its order."""

    def insert_columns(self, connection: Connection, table: Table, columns: Mapping[str, Any]) -> None:
        """Many rows, as an Arrow array for each column, or one value for all rows; at least one is an array."""

    def find(
        self,
        connection: Connection,
        column: Column[Any],
        keys: Sequence[Any],
        among: TextClause | None = None,
        names: tuple[str, ...] = (),
    ) -> Iterator[NamedRow]:
        """The rows of the column's table in which it has one of the values, with these columns or all; `among` is the
        condition of an index."""

    def page(
        self, connection: Connection, query: str, bounds: Row, into: type[tuple[Any, ...]] | None = None
    ) -> list[NamedRow]:
        """All rows of a fixed query (with `?` for its bounds), each made `into` a named tuple of its columns."""

    def bounded_page(self, connection: Connection, query: str, bounds: Row, most_bytes: int) -> list[Row]:
        """The first of these rows: as many as bring the texts in the last column to so many bytes, at least one."""

    def stream(self, connection: Connection, query: str, bounds: Row, size: int) -> Iterator[list[Row]]:
        """The same as plain tuples, `size` rows at a time, while the transaction lasts."""

    def explain(self, url: str, problem: BaseException) -> StoreError | None:
        """The failure in plain words; None where it is a defect of ours and must be seen as it is."""


class Database:
    """Safe in several threads. `url` opens the same database again, `shown_url` may be shown to people."""

    def __init__(self, url: str | Path) -> None:
        made = _url(url)
        self.url = made.render_as_string(hide_password=False)
        shown = made.set(drivername=made.get_backend_name()).render_as_string()  # without the password
        self.shown_url = str(made.database) if made.drivername == "sqlite" else shown
        self.dialect = _dialect(made, self.shown_url)
        self.engine = self.dialect.engine(made)
        self._failures: tuple[type[Exception], ...] = (DBAPIError, *self.dialect.failures)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One moment of the database."""
        with self._plain_failures(), self.engine.connect() as connection:
            self.dialect.begin_reading(connection)
            yield connection

    @contextmanager
    def writing(self, *parts: Part) -> Iterator[Connection]:
        """The only writer of these parts, or of the journal; committed at the end, or nothing is changed. Everybody who
        takes several names the journal first, so nobody waits in a circle."""
        with self._plain_failures(), self.engine.connect() as connection:
            for part in parts or ("journal",):
                self.dialect.begin_writing(connection, part)
            yield connection
            connection.commit()

    @contextmanager
    def adding(self) -> Iterator[Connection]:
        """Beside other writers: for rows that nobody else writes. SQLite has one writer at a time all the same."""
        with self._plain_failures(), self.engine.connect() as connection:
            connection.execution_options(writing=True)
            yield connection
            connection.commit()

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def _plain_failures(self) -> Iterator[None]:
        try:
            yield
        except self._failures as problem:
            cause = problem.orig if isinstance(problem, DBAPIError) and problem.orig else problem
            explained = self.dialect.explain(self.shown_url, cause)
            if explained is None:
                raise
            raise explained from problem


@lru_cache(256)
def row_maker(names: tuple[str, ...], into: type[tuple[Any, ...]] | None = None) -> Callable[[Row], NamedRow]:
    """Makes a driver's tuple a named one. Half the time of `_make`, which is a Python function."""
    return partial(tuple.__new__, into or namedtuple("NamedRow", names, rename=True))


def columns_of(table: Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns)


def narrowed(among: TextClause | None) -> str:
    """The end of a WHERE clause: neither database takes a partial index that the query does not name so."""
    return "" if among is None else f" AND {among.text}"


def _url(given: str | Path) -> URL:
    if isinstance(given, str) and "://" in given:
        try:
            url = make_url(given)
        except (ArgumentError, ValueError):
            raise UnknownStore("the store's URL", "it cannot be read as a URL") from None  # it may hold a password
        if url.drivername in _POSTGRESQL:
            if not url.database:
                raise UnknownStore(url.render_as_string(), "it names no database")
            return url.set(drivername="postgresql+psycopg")
        if url.drivername != "sqlite":
            raise UnknownStore(url.render_as_string(), f"{url.drivername!r} is not a supported database")
        if url.database and not url.database.startswith("file:"):
            url = url.set(database=str(Path(url.database).absolute()))
    else:
        url = URL.create("sqlite", database=str(Path(given).absolute()))
    if not url.database or url.database.endswith(":memory:"):
        raise UnknownStore(str(given), "a journal must be in a file")
    return url


def _dialect(url: URL, shown_url: str) -> Dialect:
    if url.drivername == "sqlite":
        from tidings.store.databases.sqlite import Sqlite

        return Sqlite()
    try:
        from tidings.store.databases.postgresql import Postgresql
    except ImportError:
        reason = "the driver for PostgreSQL is missing: pip install 'tidings[postgresql]'"
        raise UnknownStore(shown_url, reason) from None
    return Postgresql()
