"""What a store really asks its database, and how much work that is: every statement, with its access path.

PostgreSQL explains what it ran (auto_explain), SQLite is asked for the plan of the same statement with the same
parameters, and its virtual machine's steps are counted as it runs. Statements that go past SQLAlchemy are seen too.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import event

from tidings.store import Store
from tidings.store.databases import sqlite

# Tables of a row or a few, which are read whole.
SMALL = {
    "about",
    "catalog",
    "clock_anchors",
    "composite_profiles",
    "delivery_totals",
    "leases",
    "network_node",
    "notice_mails",
    "notified",
    "outbox",
    "progress",
    "staged",
    "unpacked",
}
_EVERY = 10  # steps of SQLite's machine between two counts
_SET = (
    "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on; "
    "SET auto_explain.log_timing = off; SET auto_explain.log_format = json; "
    "SET auto_explain.log_buffers = on; SET auto_explain.log_level = notice"
)


@dataclass(slots=True)
class Statement:
    """`work` is rows and blocks looked at (PostgreSQL) or steps of the machine (SQLite)."""

    sql: str
    paths: list[str]
    work: int = 0

    @property
    def scans(self) -> bool:
        """A table that SQLite walks in the order of its key ends at a limit; `work` tells whether it does."""
        pattern = r"Seq Scan on (\w+)" if "LIMIT" in self.sql else r"(?:Seq Scan on|SCAN) (?!anon_)(\w+)"
        found = [re.fullmatch(pattern, path) for path in self.paths]
        return any(one is not None and one[1] not in SMALL for one in found)


@dataclass(slots=True)
class Statements:
    seen: list[Statement] = field(default_factory=list)

    def scans(self, most: int) -> list[Statement]:
        """Those that walk over a table: by their path, or by their work."""
        return [one for one in self.seen if one.work > most or one.scans]


@contextmanager
def recorded(store: Store) -> Iterator[Statements]:
    statements = Statements()
    store.database.engine.dispose()  # those that are open were not prepared
    kind = _on_sqlite if store.url.startswith("sqlite") else _on_postgresql
    with kind(store, statements):
        yield statements
    store.database.engine.dispose()


@contextmanager
def _on_postgresql(store: Store, statements: Statements) -> Iterator[None]:
    def explained(diagnostic: Any) -> None:
        told = diagnostic.message_primary or ""
        if "plan:" in told:
            plan = json.loads(told.partition("plan:")[2])
            nodes = list(_nodes(plan["Plan"]))
            paths = [path for node in nodes if node.get("Actual Loops", 1) and (path := _path(node))]
            blocks = sum(plan["Plan"].get(f"Shared {how} Blocks", 0) for how in ("Hit", "Read"))
            statements.seen.append(Statement(plan["Query Text"], paths, sum(map(_rows, nodes)) + blocks))

    def prepare(connection: Any, _: object) -> None:
        connection.execute(_SET)
        connection.commit()
        connection.add_notice_handler(explained)

    event.listen(store.database.engine, "connect", prepare)
    try:
        yield
    finally:
        event.remove(store.database.engine, "connect", prepare)


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)


def _path(node: dict[str, Any]) -> str:
    match node["Node Type"]:
        case "Seq Scan":
            return f"Seq Scan on {node['Relation Name']}"
        case "Index Scan" | "Index Only Scan" | "Bitmap Index Scan" as how:
            return f"{how} using {node['Index Name']}"
        case _:
            return ""


def _rows(node: dict[str, Any]) -> int:
    if "Scan" not in node["Node Type"]:
        return 0
    removed = sum(node.get(f"Rows Removed by {why}", 0) for why in ("Filter", "Index Recheck"))
    return int((node.get("Actual Rows", 0) + removed) * node.get("Actual Loops", 1))


@contextmanager
def _on_sqlite(store: Store, statements: Statements) -> Iterator[None]:
    asking = sqlite3.connect(store.database.shown_url)

    def begin(sql: str, parameters: Any) -> None:
        if sql.split(None, 1)[0] in ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH"):
            rows = asking.execute("EXPLAIN QUERY PLAN " + sql, parameters).fetchall()
            statements.seen.append(Statement(sql, [detail for *_, detail in rows if detail.startswith(("SE", "SC"))]))
        else:
            statements.seen.append(Statement(sql, []))

    def count() -> None:
        if statements.seen:
            statements.seen[-1].work += _EVERY

    def prepare(connection: sqlite3.Connection, _: object) -> None:
        connection.set_progress_handler(count, _EVERY)

    def execute(_1: Any, _2: Any, sql: str, parameters: Any, _3: Any, many: bool) -> None:
        begin(sql, parameters[0] if many else parameters)

    class Cursor:
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def execute(self, sql: str, parameters: Any = ()) -> Any:
            begin(sql, parameters)
            return self._inner.execute(sql, parameters)

        def executemany(self, sql: str, rows: Any) -> Any:
            given = list(rows)
            if given:
                begin(sql, given[0])
                self._inner.executemany(sql, given)
            return self._inner

    with pytest.MonkeyPatch.context() as patch:
        cursor = sqlite._cursor
        patch.setattr(sqlite, "_cursor", lambda connection: Cursor(cursor(connection)))
        event.listen(store.database.engine, "connect", prepare)
        event.listen(store.database.engine, "before_cursor_execute", execute)
        try:
            yield
        finally:
            event.remove(store.database.engine, "connect", prepare)
            event.remove(store.database.engine, "before_cursor_execute", execute)
            asking.close()
