"""The benchmark of composites measures what it says."""

import sys

import pytest

from tidings.bench import composite_memory
from tidings.bench.composites import Stage


def test_both_ways_of_keeping_states_detect_the_same() -> None:
    memory, text = (Stage(composites=2, keys=2, stored=stored).run(10_000) for stored in (False, True))
    assert (memory.detections, memory.live) == (text.detections, text.live)
    assert memory.detections > 0
    assert memory.live > 0
    assert text.bytes_each > 0


def test_memory_is_told_on_the_way(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["", "20000", "3"])
    composite_memory.main()
    _, first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("10,000 events: ")
    assert second.startswith("20,000 events: ")
