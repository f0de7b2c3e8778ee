"""Makes docs/reference/query-plans.md: `python -m tests.store.query_plans [ROWS]` on stores of a million rows."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import pytest

from tests.services.postgresql import postgresql
from tests.services.sqlite import new_store
from tests.store.hot_operations import HOT
from tests.store.large_store import Size
from tests.store.statements import Statement, recorded
from tests.store.test_query_plans import PAGE, large
from tidings.store import Store
from tidings.store.journal import subscriptions
from tidings.store.notifications import packing

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "query-plans.md"
ASKED = re.compile(r"\b(?:FROM|INTO|UPDATE)\s+(\w+)")
HEAD = """# Query plans

What a running service asks of its store, and how the databases find it: every statement that reads a table, as the
store sends it, on stores with {rows:,} rows in each large table. None reads a whole table but those of a row or a
few, such as `about`. Work is the steps of SQLite's machine, or the rows and blocks that PostgreSQL looks at, in one
statement. `python -m tests.store.query_plans` makes this page; `tests/store/test_query_plans.py` checks it, for
PostgreSQL with and without statistics, `make test-slow` with 1,000,000 rows.

| operation | statement | SQLite | steps | PostgreSQL | rows |
|---|---|---|---|---|---|
"""


def main(rows: int) -> None:
    size = Size.of(rows)
    with tempfile.TemporaryDirectory() as folder, postgresql() as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(subscriptions, "_SPANS_AT_ONCE", PAGE)
        patch.setattr(packing, "MANY", 40)
        patch.setattr(packing, "MOST_EVENTS", 16)
        found = []
        for url in (str(new_store(Path(folder) / "tidings.db")), server.store()):
            with large(url, size, analyzed=True) as store:
                found.append({name: seen(store, size, name) for name in HOT})
    lines = [line for name in HOT for line in table(name, found[0][name], found[1][name])]
    DOCUMENT.write_text(HEAD.format(rows=rows) + "\n".join(lines) + "\n")


def seen(store: Store, size: Size, name: str) -> dict[str, Statement]:
    """By verb and table: of several that are alike, the one that takes most work."""
    with recorded(store) as statements:
        HOT[name](store, size)
    worst: dict[str, Statement] = {}
    for one in statements.seen:
        if one.paths and (asked := ASKED.search(one.sql)):
            label = f"{one.sql.split()[0].lower()} {asked[1]}"
            if label not in worst or worst[label].work < one.work:
                worst[label] = one
    return worst


def table(name: str, sqlite: dict[str, Statement], other: dict[str, Statement]) -> list[str]:
    rows = []
    for label in dict.fromkeys([*sqlite, *other]):
        cells = [name if not rows else "", label]
        for one in (sqlite.get(label), other.get(label)):
            cells += ["", ""] if one is None else [", ".join(dict.fromkeys(map(short, one.paths))), f"{one.work:,}"]
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def short(path: str) -> str:
    path = re.sub(r"^SEARCH (\w+) USING ", "", path).replace("INTEGER PRIMARY KEY", "primary key")
    path = re.sub(r"^SCAN (\w+) USING ", "in order: ", path)
    return (
        re.sub(r"sqlite_autoindex_(\w+)_1", r"key of \1", path)
        .replace("COVERING INDEX", "index")
        .replace("INDEX", "index")
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
