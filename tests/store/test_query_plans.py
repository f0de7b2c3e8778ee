"""No statement that a running service sends walks over a whole table, on either database.

The statements are those that the store really sends (`statements`), on a store with a million rows in each large table
(`large_store`); the quick twin has fewer. `python -m tests.store.query_plans` makes the table in the docs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.services.postgresql import Server
from tests.services.sqlite import new_store
from tests.store.hot_operations import HOT
from tests.store.large_store import Size, fill
from tests.store.statements import Statement, recorded
from tidings.store import Store
from tidings.store.clock.clock import now
from tidings.store.journal import subscriptions
from tidings.store.notifications import packing

MOST_STEPS = 60_000  # of SQLite's machine, in one statement: a scan takes some 5 a row
MOST_ROWS = 3_000  # that PostgreSQL looks at in one statement
PAGE = 100  # spans


def check(store: Store, size: Size, name: str) -> list[Statement]:
    most = MOST_STEPS if store.url.startswith("sqlite") else MOST_ROWS
    with recorded(store) as statements:
        HOT[name](store, size)
    assert statements.seen, "nothing was asked"
    told = [f"{one.work:,} {one.paths}: {one.sql}" for one in statements.scans(most)]
    assert not told, "\n".join(told)
    return statements.seen


@contextmanager
def large(url: str, size: Size, analyzed: bool) -> Iterator[Store]:
    with Store.open(url) as store:
        if not store.url.startswith("sqlite"):
            without_statistics(store)
        fill(store, size, now())
        if analyzed:
            with store.database.writing() as connection:
                connection.execute(text("ANALYZE"))
        yield store


def without_statistics(store: Store) -> None:
    """Until they are asked for: the server would gather them at some moment."""
    with store.database.writing() as connection:
        names = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).scalars()
        for name in list(names):
            connection.execute(text(f"ALTER TABLE {name} SET (autovacuum_enabled = false)"))


@pytest.fixture(autouse=True)
def _short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "_SPANS_AT_ONCE", PAGE)
    monkeypatch.setattr(packing, "MANY", 40)
    monkeypatch.setattr(packing, "MOST_EVENTS", 16)


SIZE = Size.of(20_000)
MILLION = Size.of(1_000_000)


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "postgresql, analyzed"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    yield from _filled(request, tmp_path_factory, SIZE)


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "postgresql, analyzed"])
def million(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    yield from _filled(request, tmp_path_factory, MILLION)


def _filled(request: pytest.FixtureRequest, folders: pytest.TempPathFactory, size: Size) -> Iterator[Store]:
    if request.param == "sqlite":
        path: Path = new_store(folders.mktemp("large") / "tidings.db")
        with large(str(path), size, analyzed=False) as store:
            yield store
        path.unlink()
        return
    server: Server = request.getfixturevalue("server")
    url = server.copied_store()
    with large(url, size, analyzed=request.param.endswith("analyzed")) as store:
        yield store
    server.drop(url)


@pytest.mark.parametrize("name", HOT)
def test_no_scan(filled: Store, name: str) -> None:
    check(filled, SIZE, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", HOT)
def test_no_scan_of_a_million(million: Store, name: str) -> None:
    check(million, MILLION, name)


def test_a_scan_would_be_seen(filled: Store) -> None:
    with recorded(filled) as statements, filled.database.reading() as connection:
        connection.execute(text("SELECT count(*) FROM journal WHERE body = 'x'"))
        connection.execute(text("SELECT cursor FROM notifications WHERE stored = 1 ORDER BY cursor LIMIT 1"))
        connection.execute(text("SELECT cursor FROM notifications WHERE cursor = 1"))
    most = MOST_STEPS if filled.url.startswith("sqlite") else MOST_ROWS
    assert [one.sql.split()[3] for one in statements.scans(most)] == ["journal", "notifications"]
