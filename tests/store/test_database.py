"""Opening: new, old, newer, foreign, unreachable, locked, full and read-only stores, each told plainly."""

import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import event, update

from tests.services.postgresql import Server, postgresql
from tests.store.samples import SCHEMA, positions, publish, with_schema
from tidings.store import (
    ForeignDatabase,
    NewerStore,
    Store,
    StoreFailed,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreUnreachable,
    UnknownStore,
)
from tidings.store.databases import migration
from tidings.store.tables import NEWEST_REVISION, about, metadata


def test_opened_again_it_is_the_same(store: Store) -> None:
    with_schema(store).append([publish("e1")])
    with Store.open(store.url) as again:
        assert (again.id, again.url, again.tail()) == (store.id, store.url, 6)
        assert again.catalog() == store.catalog()


def test_two_journals_have_two_ids(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as one, Store.open(tmp_path / "b.db") as other:
        assert one.id != other.id


def test_other_versions_of_what_cuts_texts_are_told_once(store: Store) -> None:
    assert store.renew_text_versions() == "", "it is new"
    assert store.renew_text_versions() == ""
    with store.database.writing() as connection:
        connection.execute(update(about).values(text_versions="Unicode 9.0.0, PyStemmer 1.0"))
    assert "by Unicode 9.0.0, PyStemmer 1.0, and from now on by Unicode 1" in store.renew_text_versions()
    assert store.renew_text_versions() == ""


def test_a_path_a_text_and_a_url_name_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "100% of ä #1?.db"
    with Store.open(path) as one, Store.open(str(path)) as two, Store.open(one.url) as three:
        assert one.id == two.id == three.id
    monkeypatch.chdir(tmp_path)
    with Store.open("100% of ä #1?.db") as relative, Store.open("sqlite:///plain.db") as plain:
        assert relative.id == one.id
        assert Path(plain.url.removeprefix("sqlite:///")) == tmp_path / "plain.db"


def test_the_tables_are_what_the_migrations_make(store: Store) -> None:
    with store.database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_the_newest_migration_is_the_one_the_store_asks_for() -> None:
    config = Config()
    config.set_main_option("script_location", str(migration.SCRIPTS))
    assert ScriptDirectory.from_config(config).get_current_head() == NEWEST_REVISION


def test_sqlite_is_durable(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tidings.db") as store, store.database.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL


def test_several_processes_open_a_new_store_at_once(url: str) -> None:
    command = [sys.executable, "-m", "tests.store.writers", url, "opened", "6", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ids = done.stdout.splitlines()
    assert len(ids) == 6
    assert len(set(ids)) == 1


def test_a_newer_store_is_left_alone(store: Store) -> None:
    with store.database.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(NewerStore, match=rf"newer release .*at 9999, this release knows {NEWEST_REVISION}"):
        Store.open(store.url)


def test_tables_of_somebody_else_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE subscriptions (who TEXT)")
    connection.close()
    with pytest.raises(ForeignDatabase, match=r"other tables with the same names .subscriptions."):
        Store.open(path)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("subscriptions",)]
    connection.close()


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are notes, not a database.\n" * 100)
    with pytest.raises(ForeignDatabase, match="not a Tidings store: file is not a database"):
        Store.open(path)
    assert path.read_text().startswith("These are notes")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("mysql://host/x", "'mysql' is not a supported database"),
        ("sqlite://", "a journal must be in a file"),
        ("sqlite:///:memory:", "a journal must be in a file"),
        ("postgresql://me:secret@host:port/x", "cannot be read as a URL"),
        ("postgresql://host", "it names no database"),
    ],
)
def test_urls_that_name_no_store(url: str, reason: str) -> None:
    with pytest.raises(UnknownStore, match=reason):
        Store.open(url)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreUnreachable, match=r"no folder .*none"):
        Store.open(tmp_path / "none" / "tidings.db")
    with pytest.raises(StoreUnreachable, match="it is a folder"):
        Store.open(tmp_path)


def test_a_server_that_is_not_there(server: Server) -> None:
    with pytest.raises(StoreUnreachable, match="Connection refused") as problem:
        Store.open("postgresql://me:secret@127.0.0.1:1/tidings")
    assert "secret" not in str(problem.value)
    with pytest.raises(StoreUnreachable, match='database "none" does not exist'):
        Store.open(server.url("none"))


def test_a_server_that_goes_away_and_comes_back(tmp_path: Path) -> None:
    with postgresql() as own, Store.open(own.database()) as store:
        with_schema(store)
        own.process.send_signal(signal.SIGQUIT)
        own.process.wait()
        for _ in range(2):
            with pytest.raises(StoreUnreachable, match="cannot be reached"):
                store.append([publish("e1")])
        with pytest.raises(StoreUnreachable):
            store.tail()
        own.start()
        assert store.tail() == 5
        assert positions(store.append([publish("e1")])) == [6]


def lose_connection(store: Store, server: Server) -> None:
    with store.database.writing() as connection:
        pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        with psycopg.connect(server.url("postgres"), autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [pid])
        store.database.dialect.insert(connection, metadata.tables["event_keys"], [(b"x", 1)])


def test_a_connection_that_is_cut_in_the_middle(server: Server) -> None:
    with Store.open(server.database()) as store:
        with_schema(store)
        with pytest.raises(StoreUnreachable):
            lose_connection(store, server)
        assert positions(store.append([publish("e1")])) == [6]


def test_postgresql_compiles_no_statement(server: Server) -> None:
    """It would, for each one that reads a table of one row: an append took 38 ms of processor time instead of 2."""
    with Store.open(server.database()) as store, store.database.reading() as connection:
        plan = [row[0] for row in connection.exec_driver_sql("EXPLAIN SELECT journal_id FROM about")]
    assert "Seq Scan" in plan[0]
    assert "JIT:" not in plan


def test_locked_by_another_process(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/tidings.db?timeout=0.05") as store:
        holder = sqlite3.connect(tmp_path / "tidings.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLocked, match="stayed locked by another process"):
            store.append(SCHEMA)
        assert store.tail() == 0  # reading goes on
        holder.execute("ROLLBACK")
        holder.close()
        with_schema(store)


def test_locked_by_another_session(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.store.databases.postgresql._PATIENCE", 0.05)
    with Store.open(server.database()) as store, Store.open(store.url) as other:
        with other.database.writing(), pytest.raises(StoreLocked):
            store.append(SCHEMA)
        with_schema(store)


def test_a_full_disk(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tidings.db") as store:
        with_schema(store)
        store.close()  # so that the next connection is made with the limit
        pages = [60]

        def limit(connection: Any, _: object) -> None:
            connection.execute(f"PRAGMA max_page_count = {pages[0]}")

        event.listen(store.database.engine, "connect", limit)
        with pytest.raises(StoreFull, match=r"no room left .*database or disk is full.*nothing was changed"):
            store.append([publish(f"e{number}") for number in range(10_000)])
        assert store.tail() == 5
        assert positions(store.append([publish("e1")])) == [6]


def test_a_trial_write_fails_while_the_disk_is_full_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tidings.db") as store:
        with_schema(store)
        store.close()
        pages = [60]

        def limit(connection: Any, _: object) -> None:
            connection.execute(f"PRAGMA max_page_count = {pages[0]}")

        event.listen(store.database.engine, "connect", limit)
        with pytest.raises(StoreFull):
            store.try_write()
        store.close()
        pages[0] = 10_000
        store.try_write()
        assert store.tail() == 5
        with store.database.reading() as connection:
            for table in ("journal", "kept_responses"):
                rows = connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one()
                assert rows == {"journal": 5, "kept_responses": 0}[table]


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    """The system's own limit, in a process that may write no file beyond it."""
    code = """
import resource, signal, sys
from tests.store.samples import publish, with_schema
from tidings.errors import StoreError
from tidings.store import Store
store = with_schema(Store.open(sys.argv[1]))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
try:
    store.append([publish(f"e{number}") for number in range(20_000)])
except StoreError as problem:
    print(type(problem).__name__, problem, store.tail())
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "tidings.db")], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(("StoreFailed the store", "StoreFull the store")), done.stdout
    assert done.stdout.rstrip().endswith(" 5")


def test_a_store_that_may_only_be_read(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tidings.db") as store:
        with_schema(store).append([publish("e1")])
    with Store.open(f"sqlite:///file:{tmp_path}/tidings.db?mode=ro&uri=true") as reader:
        assert reader.tail() == 6
        with pytest.raises(StoreReadOnly, match=r"cannot be written .*readonly"):
            reader.append([publish("e2")])
        assert reader.tail() == 6


def test_a_file_without_permission_to_write() -> None:
    """In a process that becomes somebody else, since root may write everything."""
    code = """
import os, sys
from pathlib import Path
from tidings.errors import StoreError
from tidings.store import Store
from tests.store.samples import publish, with_schema
path = Path(sys.argv[1])
with Store.open(path) as store:
    with_schema(store)
path.chmod(0o444)
path.parent.chmod(0o555)
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    Store.open(path).append([publish("e1")])
except StoreError as problem:
    print(type(problem).__name__, problem)
"""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to others
        path = str(Path(folder) / "tidings.db")
        done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
        Path(folder).chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("StoreReadOnly", "StoreUnreachable")), done.stdout


def test_a_database_that_may_only_be_read(server: Server) -> None:
    with Store.open(server.database()) as store:
        with_schema(store)
        with store.database.writing() as connection:
            connection.exec_driver_sql("CREATE ROLE reader LOGIN")
            connection.exec_driver_sql("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        with Store.open(store.url.replace("tidings@", "reader@")) as reader:
            assert reader.tail() == 5
            with pytest.raises(StoreFailed, match="permission denied"):
                reader.append([publish("e1")])
        with store.database.writing() as connection:
            connection.exec_driver_sql("ALTER ROLE reader SET default_transaction_read_only = on")
            connection.exec_driver_sql("GRANT ALL ON ALL TABLES IN SCHEMA public TO reader")
        with (
            Store.open(store.url.replace("tidings@", "reader@")) as reader,
            pytest.raises(StoreReadOnly, match="read-only transaction"),
        ):
            reader.append([publish("e1")])
        assert store.tail() == 5
        with store.database.writing() as connection:
            connection.exec_driver_sql("DROP OWNED BY reader")
            connection.exec_driver_sql("DROP ROLE reader")
