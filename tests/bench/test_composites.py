"""The benchmark of composites measures what it says."""

import subprocess
import sys

import pytest

from tidings.bench import composite_memory, composite_stages
from tidings.bench.composite_stream import steady
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


def test_both_counts_are_measured_in_one_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["", "3,20", "1400", "often"])
    monkeypatch.setattr(composite_stages, "_BATCH", 200)
    composite_stages.main()
    _, *told = capsys.readouterr().out.splitlines()
    assert [line.partition(" ")[0] for line in told if "learnt" in line] == ["3", "20"]
    assert [line.split("; ")[2] for line in told if "leaves" in line] == 2 * ["3 batches of 200"]


def test_what_is_measured_begins_when_batches_are_of_like_size() -> None:
    assert steady([0, 5, 10, 20, 30, 40, 125], 5, 125) == 5
    assert steady([0, 5, 15, 35, 65, 75, 125], 5, 125) == 4  # at the latest at half of the events
    assert steady([0, 125], 5, 125) == 0


@pytest.mark.slow
def test_the_stream_is_measured() -> None:
    command = [sys.executable, "-m", "tidings.bench.composite_stream", "3,20", "4000"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout.splitlines()
    assert [line.partition(":")[0] for line in told[1:]] == ["3 composites", "20 composites"]
    assert all("events/s" in line and "MB" in line for line in told[1:])
