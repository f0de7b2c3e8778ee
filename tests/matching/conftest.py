"""What several tests of this room begin with."""

from collections.abc import Iterator

import pytest

from tests.matching.gate import Gate


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate(monkeypatch)
    yield made
    made.opened.set()
