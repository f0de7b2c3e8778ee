"""A real service under real blows; and nothing of it is left, however it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tidings.torture.processes import descendants, running

COMMAND = [sys.executable, "-m", "tidings.cli.main", "torture"]


@pytest.mark.slow
def test_sixty_seconds_of_torture_break_no_promise(tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = [*COMMAND, "--seconds", "60", "--seed", "7", "--no-troubles", "--data", str(data), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    verdict = json.loads(done.stdout)
    assert verdict["holds"] is True
    for name, way in verdict["ways"].items():
        assert (way["lost"], way["doubled"], way["phantom"]) == (0, 0, 0), name
        assert way["owed"] == way["arrived"] > 50, name
    assert verdict["refusals"] == []
    assert verdict["unanswered"] == verdict["sequence_gaps"] == verdict["unsigned"] == verdict["left_behind"] == 0
    assert sum(verdict["kills"].values()) >= 3
    assert verdict["events"] > 300


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_whoever_interrupts_it_finds_nothing_left(tmp_path: Path, number: signal.Signals) -> None:
    data = tmp_path / "data"
    child = subprocess.Popen([*COMMAND, "--seconds", "600", "--data", str(data)], stderr=subprocess.PIPE)
    try:
        end = time.monotonic() + 120
        while not (data / "pipeline.log").exists():  # the service runs, and has started its children
            assert child.poll() is None
            assert time.monotonic() < end
            time.sleep(0.1)
        time.sleep(2)
        family = descendants(child.pid)
        assert len(family) >= 3
        child.send_signal(number)
        _, said = child.communicate(timeout=180)
        assert child.returncode == 130, said
        assert b"stopped" in said
        end = time.monotonic() + 60
        while running(family) and time.monotonic() < end:
            time.sleep(0.1)
        assert {process.command for process in running(family)} == set()
    finally:
        if child.poll() is None:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("keep")
    done = subprocess.run([*COMMAND, "--data", str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "is not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
