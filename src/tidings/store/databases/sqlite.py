"""SQLite: one file, one writer at a time, readers never wait (WAL); a commit is on the disk (synchronous FULL)."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Column, Connection, Engine, Table, TextClause, create_engine, event
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler

from tidings.errors import StoreError
from tidings.store.databases.database import NamedRow, Part, Row, columns_of, narrowed, row_maker
from tidings.store.errors import ForeignDatabase, StoreFailed, StoreFull, StoreLocked, StoreReadOnly, StoreUnreachable

_PATIENCE = 60  # seconds to wait for other writers
_BETWEEN_TRIES = 0.002  # seconds
_CACHE = 16 * 1024  # KiB of pages a connection keeps
_KEYS_AT_ONCE = 1_000
_ROWS_AT_ONCE = 50  # a statement; one row each took the sink twice the time


class _Compiler(SQLiteCompiler):
    """Writes hints such as INDEXED BY, which SQLAlchemy leaves out for SQLite."""

    def get_from_hint_text(self, table: Any, text: str | None) -> str | None:
        return text


class Sqlite:
    failures: tuple[type[Exception], ...] = (sqlite3.Error,)
    body_bytes = "length(CAST(body AS BLOB))"
    clock_query: str | None = None

    def engine(self, url: URL) -> Engine:
        patience = {} if "timeout" in url.query else {"timeout": _PATIENCE}
        engine = create_engine(url, connect_args=patience, pool_size=8, max_overflow=-1)
        engine.dialect.statement_compiler = _Compiler
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
        return engine

    def begin_reading(self, connection: Connection) -> None:
        connection.begin()

    def begin_writing(self, connection: Connection, part: Part) -> None:
        if not connection.in_transaction():  # one lock is for all parts
            connection.execution_options(writing=True)
            connection.begin()

    def insert(self, connection: Connection, table: Table, rows: Iterable[Row]) -> None:
        given = list(rows)
        names = columns_of(table)
        width = len(names)
        one = f"({', '.join('?' * width)})"
        statement = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES {one}"
        whole = len(given) - len(given) % _ROWS_AT_ONCE
        values = chain.from_iterable(given[:whole])
        groups = zip(*[values] * (width * _ROWS_AT_ONCE), strict=True)  # each takes the next values of the one iterator
        cursor = _cursor(connection)
        if whole:
            cursor.executemany(statement + f", {one}" * (_ROWS_AT_ONCE - 1), groups)
        cursor.executemany(statement, given[whole:])

    def insert_columns(self, connection: Connection, table: Table, columns: Mapping[str, Any]) -> None:
        """What is the same in all rows stands in the statement: to bind a value takes as long as to store it."""
        arrays = {name: column for name, column in columns.items() if hasattr(column, "to_pylist")}
        marks = ", ".join("?" if name in arrays else _literal(column) for name, column in columns.items())
        statement = f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({marks})"
        width, count = len(arrays), len(next(iter(arrays.values())))
        values: list[Any] = [None] * (width * count)
        for place, column in enumerate(arrays.values()):
            values[place::width] = column.to_pylist()
        whole = count - count % _ROWS_AT_ONCE
        cursor = _cursor(connection)
        many = statement + f", ({marks})" * (_ROWS_AT_ONCE - 1)
        cursor.executemany(many, _groups(values[: whole * width], width * _ROWS_AT_ONCE))
        cursor.executemany(statement, _groups(values[whole * width :], width))

    def find(
        self,
        connection: Connection,
        column: Column[Any],
        keys: Sequence[Any],
        among: TextClause | None = None,
        names: tuple[str, ...] = (),
    ) -> Iterator[NamedRow]:
        cursor = _cursor(connection)
        names = names or columns_of(column.table)
        named = row_maker(names)
        rest = iter(keys)
        while some := list(islice(rest, _KEYS_AT_ONCE)):
            places = ", ".join("?" * len(some))
            where = f"{column.name} IN ({places}){narrowed(among)}"
            yield from map(
                named, cursor.execute(f"SELECT {', '.join(names)} FROM {column.table.name} WHERE {where}", some)
            )

    def page(
        self, connection: Connection, query: str, bounds: Row, into: type[tuple[Any, ...]] | None = None
    ) -> list[NamedRow]:
        cursor = _cursor(connection).execute(query, bounds)
        return list(map(row_maker(tuple(one[0] for one in cursor.description), into), cursor))

    def bounded_page(self, connection: Connection, query: str, bounds: Row, most_bytes: int) -> list[Row]:
        cursor = _cursor(connection).execute(query, bounds)
        found: list[Row] = []
        room, some = most_bytes, 1
        while room > 0 and (rows := cursor.fetchmany(some)):
            found += rows
            room -= sum(len(row[-1]) for row in rows)
            some = max(1, min(1_000, room * len(found) // max(1, most_bytes - room)))  # as many as are expected to fit
        cursor.close()
        return found

    def stream(self, connection: Connection, query: str, bounds: Row, size: int) -> Iterator[list[Row]]:
        cursor = _cursor(connection).execute(query, bounds)
        while rows := cursor.fetchmany(size):
            yield rows

    def explain(self, url: str, problem: BaseException) -> StoreError | None:
        said = str(problem)
        code = getattr(problem, "sqlite_errorcode", None)
        match None if code is None else code & 0xFF:  # the rest is detail
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                return StoreLocked(url)
            case sqlite3.SQLITE_FULL:
                return StoreFull(url, said)
            case sqlite3.SQLITE_READONLY:
                return StoreReadOnly(url, said)
            case sqlite3.SQLITE_CANTOPEN:
                return StoreUnreachable(url, _why_not_opened(url, said))
            case sqlite3.SQLITE_NOTADB:
                return ForeignDatabase(url, said)
            case sqlite3.SQLITE_IOERR | sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_PERM | sqlite3.SQLITE_PROTOCOL:
                return StoreFailed(url, said)
            case _:
                return None


def _prepare(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # transactions begin where we say so, and as we say
    cursor = connection.cursor()
    if cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute(f"PRAGMA cache_size = -{_CACHE}")
    cursor.close()


def _begin(connection: Connection) -> None:
    if not connection.get_execution_options().get("writing"):
        connection.exec_driver_sql("BEGIN")
        return
    # SQLite itself would try at most every 0.1 s, and miss the moments between the sink's transactions.
    cursor = _cursor(connection)
    (patience,) = cursor.execute("PRAGMA busy_timeout").fetchone()
    deadline = time.monotonic() + patience / 1000
    cursor.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                cursor.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as problem:
                if problem.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(_BETWEEN_TRIES)
    finally:
        cursor.execute(f"PRAGMA busy_timeout = {patience}")


def _groups(values: list[Any], size: int) -> Iterator[list[Any]]:
    return (values[first : first + size] for first in range(0, len(values), size))


def _literal(value: object) -> str:
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def _cursor(connection: Connection) -> Any:
    return connection.connection.cursor()


def _why_not_opened(url: str, said: str) -> str:
    path = Path(url)
    if not path.parent.is_dir():
        return f"no folder {path.parent}"
    return "it is a folder" if path.is_dir() else said
