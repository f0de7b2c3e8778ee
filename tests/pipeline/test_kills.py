"""Real processes, SIGKILL: whatever dies at whatever moment, every event is matched and no notification is missing or
doubled.

What must be there is computed by the oracle from the journal alone, and who published keeps a record of its own of
what was acknowledged."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipeline.market import Market, opening
from tests.pipeline.oracle import notifications_of, stored
from tidings.store import Accepted, Store
from tidings.torture.processes import descendants

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "tidings.db") as store:
        store.append(opening())
        yield store


def driver(folder: Path, where: str, batch: int = 0) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.pipeline.driver", str(folder), where, str(batch)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(folder: Path) -> None:
    """Another pipeline does the rest."""
    process = driver(folder, "never")
    _, said = process.communicate(timeout=240)
    assert process.returncode == 0, said.decode()


@pytest.mark.parametrize("where", ["before-commit", "amid-commit", "after-commit"])
def test_the_driver_dies_around_the_commit(store: Store, tmp_path: Path, where: str) -> None:
    """After the sink's commit Spark's own is missing: the batch is run again, and must add nothing."""
    store.append(list(Market(seed=11).drafts(1_000, changes=0.2)))
    process = driver(tmp_path, where, batch=2)
    process.communicate(timeout=240)
    assert process.returncode == -signal.SIGKILL
    assert 0 < store.committed() < store.tail()
    assert set() < stored(store) < notifications_of(store)
    finish(tmp_path)
    assert store.committed() == store.tail()
    assert stored(store) == notifications_of(store)


def test_the_driver_dies_at_any_time_while_events_come(store: Store, tmp_path: Path) -> None:
    market, draw = Market(seed=12), random.Random(12)
    acknowledged: list[int] = []
    for _ in range(4):
        before, process = store.committed(), driver(tmp_path, "running")
        deadline = time.monotonic() + 180
        moment = None
        try:
            while moment is None or time.monotonic() < moment:
                for outcome in store.append(list(market.drafts(20, changes=0.1))):
                    assert isinstance(outcome, Accepted)
                    acknowledged.append(outcome.position)
                if moment is None and store.committed() > before:  # it works: dies some time within the next batches
                    moment = time.monotonic() + draw.random() * 3
                assert time.monotonic() < deadline
                time.sleep(0.05)
        finally:
            process.kill()
            process.communicate()
        assert process.returncode == -signal.SIGKILL
    finish(tmp_path)
    assert store.committed() == store.tail() >= max(acknowledged)
    there = {entry.position for entry in store.entries()}
    assert set(acknowledged) <= there
    assert stored(store) == notifications_of(store)


def test_a_folder_is_free_again_when_its_pipeline_was_killed(store: Store, tmp_path: Path) -> None:
    store.append(list(Market(seed=13).drafts(300, changes=0.2)))
    first = driver(tmp_path, "running")
    try:
        deadline = time.monotonic() + 240
        while store.committed() < store.tail():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        second = driver(tmp_path, "never")
        _, said = second.communicate(timeout=240)
        assert second.returncode != 0
        assert f"process {first.pid}" in said.decode()
    finally:
        os.kill(first.pid, signal.SIGKILL)
        first.communicate()
    finish(tmp_path)
    assert stored(store) == notifications_of(store)


def test_a_killed_java_is_named_as_the_reason(store: Store, tmp_path: Path) -> None:
    """Not "connection refused", which is what the broken connection says."""
    command = [sys.executable, "-m", "tidings.cli.main", "pipeline", "--data", str(tmp_path), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline().startswith("{")
            (java,) = [one for one in descendants(child.pid) if "java" in one.command.partition(" ")[0]]
            os.kill(java.id, signal.SIGKILL)
            _, said = child.communicate(timeout=180)
        finally:
            child.kill()
    assert child.returncode == 1
    assert "Spark's Java process was killed (SIGKILL)" in said.rpartition("error: ")[2]
