"""New SQLite stores, copied: their migrations are run once in each process, which saves 50 ms a store."""

from __future__ import annotations

import atexit
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path

from tidings.store import Store


def new_store(path: Path, id: str = "") -> Path:
    """Where an empty store now is. For tests to which it does not matter how a store comes to be. All of them have the
    same id, unless one is given."""
    copied = copied_store(_migrated, path)
    if id:
        with closing(sqlite3.connect(copied)) as connection, connection:
            connection.execute("UPDATE about SET journal_id = ?", (id,))
    return copied


def copied_store(make: Callable[[Path], Store], path: Path) -> Path:
    """A copy of the store that `make` makes at the path given to it, once in each process."""
    return Path(shutil.copyfile(_made(make), path))


def _migrated(path: Path) -> Store:
    return Store.open(path)


@cache
def _made(make: Callable[[Path], Store]) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tidings-store-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    make(folder / "tidings.db").close()
    assert [path.name for path in folder.iterdir()] == ["tidings.db"]  # nothing is left beside it
    return folder / "tidings.db"
