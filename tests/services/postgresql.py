"""A PostgreSQL server of one's own: in a passing folder, on loopback only, ended by its own process id."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.services.missing import missing
from tidings.store import Store

_WAIT = 60  # seconds for the server to answer


@dataclass
class Server:
    """`database()` returns the URL of an empty database; give it back when done, and the next one is made quicker.
    `store()` returns that of a store without its migrations being run, a copy of one that they made; recycle it, or
    drop it where more than its rows were changed."""

    port: int
    command: list[str]
    folder: Path
    run_as: dict[str, Any]
    process: subprocess.Popen[bytes] = field(init=False)
    made: int = 0
    free: list[str] = field(default_factory=list)
    template: str = ""
    recycled: dict[str, psycopg.Connection[Any]] = field(default_factory=dict)
    stores: list[str] = field(default_factory=list)

    def url(self, database: str) -> str:
        return f"postgresql://tidings@127.0.0.1:{self.port}/{database}"

    def database(self) -> str:
        if self.free:
            return self.free.pop()
        return self._create("")

    def store(self) -> str:
        return self.stores.pop() if self.stores else self.copied_store()

    def copied_store(self) -> str:
        """Without what an earlier use may have left: space of removed rows, statistics."""
        if not self.template:
            made = self._create("")
            Store.open(made).close()
            with psycopg.connect(made, autocommit=True) as connection:
                _add_reset(connection)
            self.template = made.rpartition("/")[2]
        return self._create(f" TEMPLATE {self.template}")

    def recycle(self, url: str) -> None:
        """Its tables hold again what the migrations left in them. 3 ms; to drop one and copy another takes 150."""
        if url not in self.recycled:
            self.recycled[url] = psycopg.connect(url, autocommit=True, options="-c lock_timeout=30s")
        self.recycled[url].execute("SELECT fresh.reset()")
        self.stores.append(url)

    def drop(self, url: str) -> None:
        """Nobody may be connected any more."""
        if (own := self.recycled.pop(url, None)) is not None:
            own.close()
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {url.rpartition('/')[2]}")  # type: ignore[arg-type]

    def _create(self, how: str) -> str:
        self.made += 1
        name = f"tidings_{os.getpid()}_{self.made}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}{how}")  # type: ignore[arg-type]
        return self.url(name)

    def give_back(self, url: str) -> None:
        """Emptied; nobody may be connected any more."""
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
        self.free.append(url)

    def start(self) -> None:
        """Also once more, after it was ended."""
        log = self.folder / "log"
        with log.open("ab") as file:
            self.process = subprocess.Popen(self.command, cwd=self.folder, stdout=file, stderr=file, **self.run_as)
        end = time.monotonic() + _WAIT
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                assert self.process.poll() is None, log.read_text()
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.05)

    def stop(self) -> None:
        """At once: nobody needs the data any more."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
        self.process.wait(_WAIT)


def _add_reset(connection: psycopg.Connection[Any]) -> None:
    """A function that puts back the rows of this moment."""
    execute: Any = connection.execute
    tables = [row[0] for row in execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
    execute("CREATE SCHEMA fresh")
    steps = []
    for table in tables:
        execute(f"CREATE TABLE fresh.{table} AS TABLE public.{table}")
        steps += [f"DELETE FROM public.{table};", f"INSERT INTO public.{table} TABLE fresh.{table};"]
    execute(f"CREATE FUNCTION fresh.reset() RETURNS void LANGUAGE plpgsql AS 'BEGIN {' '.join(steps)} END'")


def binary(name: str) -> str | None:
    """Debian keeps the servers off the PATH, by version; the newest is taken."""
    versions = sorted((path.name for path in Path("/usr/lib/postgresql").glob("*")), key=lambda name: (len(name), name))
    for folder in (Path("/usr/lib/postgresql") / version / "bin" for version in reversed(versions)):
        if (folder / name).exists():
            return str(folder / name)
    return shutil.which(name)


@contextmanager
def postgresql(durable: bool = False, host: str = "") -> Iterator[Server]:
    """Skips the test where there is no PostgreSQL on this machine. `durable`: as in earnest, for measurements. `host`:
    another address at which it listens, to everybody on that network."""
    initdb, postgres = binary("initdb"), binary("postgres")
    if initdb is None or postgres is None:
        missing("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    run_as = _unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="tidings-postgresql-"))
    try:
        folder.chmod(0o700)
        if run_as:
            os.chown(folder, run_as["user"], run_as["group"])
        data = folder / "data"
        made = subprocess.run(
            [initdb, "--pgdata", data, "--username", "tidings", "--auth", "trust", "--no-sync", "--encoding", "UTF8"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            **run_as,
        )
        assert made.returncode == 0, made.stderr
        port = _free_port()
        if host:
            with (data / "pg_hba.conf").open("a") as rules:
                rules.write("host all all samenet trust\n")
        listen = ",".join(filter(None, ("127.0.0.1", host)))
        command = [postgres, "-D", str(data), "-h", listen, "-p", str(port), "-k", str(folder)]
        if not durable:
            command += ["-c", "fsync=off", "-c", "full_page_writes=off"]
        server = Server(port, command, folder, run_as)
        try:
            server.start()
            yield server
        finally:
            for connection in server.recycled.values():
                connection.close()
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> dict[str, Any]:
    """PostgreSQL refuses to run as root; then somebody runs it who may do nothing."""
    if os.getuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    missing("PostgreSQL does not run as root, and there is no user 'postgres' or 'nobody'")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
