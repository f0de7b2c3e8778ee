"""A store whose clock stands until it is set."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.sqlite import new_store
from tests.store.samples import Clock
from tidings.store import Store


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with Store.open(new_store(tmp_path / "tidings.db"), clock) as opened:
        yield opened
