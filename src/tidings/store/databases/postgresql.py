"""PostgreSQL through psycopg: an advisory lock makes one appender of many processes, COPY writes many rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, islice
from typing import Any

import psycopg
from sqlalchemy import URL, Column, Connection, Engine, Table, TextClause, create_engine, event

from tidings.errors import StoreError
from tidings.store.databases.database import NamedRow, Part, Row, columns_of, narrowed, row_maker
from tidings.store.errors import StoreFailed, StoreFull, StoreLocked, StoreReadOnly, StoreUnreachable
from tidings.store.tables.base import for_postgresql

_PATIENCE = 60  # seconds to wait for other writers
# Any numbers will do, as long as every process takes the same.
_LOCKS: dict[Part, int] = {
    "journal": 8_411_461_100,
    "pipeline": 8_411_461_101,
    "letters": 8_411_461_102,
    "accounts": 8_411_461_103,
    "responses": 8_411_461_104,
    "outbox": 8_411_461_105,
}
_FEW = 20  # rows
_cursor_names = count(1)


class Postgresql:
    failures: tuple[type[Exception], ...] = (psycopg.Error,)
    body_bytes = "octet_length(body)"
    # now() would be the transaction's beginning
    clock_query: str | None = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint"

    def engine(self, url: URL) -> Engine:
        for_postgresql()
        # A connection that the server has dropped meanwhile is replaced, not handed out.
        engine = create_engine(url, pool_pre_ping=True, pool_size=8, max_overflow=-1)
        event.listen(engine, "connect", _prepare)
        return engine

    def begin_reading(self, connection: Connection) -> None:
        connection.execution_options(isolation_level="REPEATABLE READ")

    def begin_writing(self, connection: Connection, part: Part) -> None:
        # Held until the commit is visible to others, so positions become visible in their order.
        connection.exec_driver_sql(
            f"SET LOCAL lock_timeout = '{_PATIENCE}s'; SELECT pg_advisory_xact_lock({_LOCKS[part]})"
        )

    def insert(self, connection: Connection, table: Table, rows: Iterable[Row]) -> None:
        rest = iter(rows)
        first = list(islice(rest, _FEW + 1))
        names = columns_of(table)
        into = f"{table.name} ({', '.join(names)})"
        with _cursor(connection) as cursor:
            if len(first) > _FEW:
                with cursor.copy(f"COPY {into} FROM STDIN") as copy:
                    for row in chain(first, rest):
                        copy.write_row(row)
            elif first:  # one round trip where COPY takes three
                places = "(" + ", ".join(["%s"] * len(names)) + ")"
                values = ", ".join([places] * len(first))
                cursor.execute(f"INSERT INTO {into} VALUES {values}", [value for row in first for value in row])

    def insert_columns(self, connection: Connection, table: Table, columns: Mapping[str, Any]) -> None:
        """As CSV, which Arrow writes without an object per value."""
        import pyarrow as pa
        import pyarrow.csv

        count = next(len(column) for column in columns.values() if isinstance(column, pa.Array))
        arrays = [one if isinstance(one, pa.Array) else pa.repeat(one, count) for one in columns.values()]
        names = ", ".join(columns)
        with _cursor(connection) as cursor:
            if count <= _FEW:  # one round trip where COPY takes three
                places = "(" + ", ".join(["%s"] * len(arrays)) + ")"
                rows = zip(*(array.to_pylist() for array in arrays), strict=True)
                statement = f"INSERT INTO {table.name} ({names}) VALUES {', '.join([places] * count)}"
                cursor.execute(statement, list(chain.from_iterable(rows)))
                return
            text = pa.BufferOutputStream()
            options = pa.csv.WriteOptions(include_header=False, quoting_style="all_valid")  # "": not null but empty
            pa.csv.write_csv(pa.table(arrays, names=list(columns)), text, options)
            with cursor.copy(f"COPY {table.name} ({names}) FROM STDIN (FORMAT csv)") as copy:
                copy.write(memoryview(text.getvalue()))

    def find(
        self,
        connection: Connection,
        column: Column[Any],
        keys: Sequence[Any],
        among: TextClause | None = None,
        names: tuple[str, ...] = (),
    ) -> Iterator[NamedRow]:
        if not keys:
            return
        names = names or columns_of(column.table)
        where = f"{column.name} = ANY(%b){narrowed(among)}"
        with _cursor(connection) as cursor:
            rows = cursor.execute(f"SELECT {', '.join(names)} FROM {column.table.name} WHERE {where}", [list(keys)])
            yield from map(row_maker(names), rows)

    def page(
        self, connection: Connection, query: str, bounds: Row, into: type[tuple[Any, ...]] | None = None
    ) -> list[NamedRow]:
        with _cursor(connection, binary=True) as cursor:
            cursor.execute(query.replace("?", "%s"), bounds)
            return list(map(row_maker(tuple(one.name for one in cursor.description), into), cursor.fetchall()))

    def bounded_page(self, connection: Connection, query: str, bounds: Row, most_bytes: int) -> list[Row]:
        """The server sums up the sizes, which it knows without reading large texts, and sends no more."""
        summed = (
            f"SELECT position, accepted, watermark, schema_version, body FROM (SELECT *, sum(octet_length(body)) OVER "
            f"(ORDER BY position) - octet_length(body) AS before FROM ({query}) AS rows) AS summed "
            "WHERE before < ? ORDER BY position"
        )
        return self.page(connection, summed, (*bounds, most_bytes))

    def stream(self, connection: Connection, query: str, bounds: Row, size: int) -> Iterator[list[Row]]:
        """Through a cursor in the server: only so many rows at a time come over and take memory."""
        with _cursor(connection, name=f"rows_{next(_cursor_names)}", binary=True) as cursor:
            cursor.execute(query.replace("?", "%s"), bounds)
            while rows := cursor.fetchmany(size):
                yield rows

    def explain(self, url: str, problem: BaseException) -> StoreError | None:
        said = " ".join(str(problem).split())
        state = getattr(problem, "sqlstate", None) or ""
        if state == "53100":
            return StoreFull(url, said)
        if state == "25006":
            return StoreReadOnly(url, said)
        if state == "55P03":
            return StoreLocked(url)
        # Without a state there is no connection; the others are about making or losing one.
        if isinstance(problem, psycopg.OperationalError | psycopg.InterfaceError) and (
            not state or state[:2] in ("08", "28", "3D") or state[:3] == "57P" or state == "53300"
        ):
            return StoreUnreachable(url, said)
        return StoreFailed(url, said) if isinstance(problem, psycopg.OperationalError) or state == "42501" else None


def _prepare(connection: Any, _: object) -> None:
    """Every statement here has an index that leads to a few rows. Without statistics, as in a new or restored database,
    PostgreSQL would rather read the table whole, or sort all rows of a range to take the first twenty.

    A table of one row is read whole all the same, and now seems so expensive that PostgreSQL compiles the statement:
    100 ms for the first of a connection, 4 ms for each one after (PostgreSQL 15). So it does not compile."""
    connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off")
    connection.commit()


def _cursor(connection: Connection, **options: Any) -> Any:
    raw: Any = connection.connection.dbapi_connection
    return raw.cursor(**options)
