"""What several tests of this room begin with."""

from collections.abc import Iterator

import pytest

from tests.matching.gate import Gate
from tidings.matching.index import box_matcher as default_module
from tidings.matching.index import segments as segments_module


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    monkeypatch.setattr(default_module, "_MOST_WAITING", 1)  # every filter is a segment
    monkeypatch.setattr(segments_module, "LARGE", 4)
    made = Gate(monkeypatch)
    yield made
    made.opened.set()
