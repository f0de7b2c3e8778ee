"""Every test of the store's contract runs on SQLite and on PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.postgresql import Server, postgresql
from tests.services.sqlite import new_store
from tests.store.samples import Clock
from tidings.store import Store


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with postgresql() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a store may be made; for a test that has it opened by `store`, it is made already."""
    made = "store" in request.fixturenames
    if request.param == "sqlite":
        yield str(new_store(tmp_path / "tidings.db") if made else tmp_path / "tidings.db")
        return
    server: Server = request.getfixturevalue("server")
    database = server.store() if made else server.database()
    yield database
    (server.recycle if made else server.give_back)(database)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(url: str, clock: Clock) -> Iterator[Store]:
    """Empty."""
    with Store.open(url, clock) as opened:
        yield opened
