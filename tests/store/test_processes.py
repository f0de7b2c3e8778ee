"""Real processes on one store: at once, and killed in the middle."""

import json
import subprocess
import sys
from collections import defaultdict

import pytest

from tests.store.samples import projections, with_schema
from tests.store.writers import SHARED
from tidings.store import Store, rebuild


def run(*arguments: object) -> list[tuple[str, str, str, int]]:
    """What the writers were told: (writer, id, outcome, position)."""
    command = [sys.executable, "-W", "error", "-m", "tests.store.writers", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = []
    for line in done.stdout.splitlines():
        writer, id, outcome, position = line.split()
        told.append((writer, id, outcome, int(position)))
    return told


def published(store: Store) -> dict[str, int]:
    """The id and position of every event; each id once, positions dense."""
    entries = list(store.entries())
    assert [entry.position for entry in entries] == list(range(1, store.tail() + 1))
    assert [entry.accepted for entry in entries] == sorted(entry.accepted for entry in entries)
    pairs = [(json.loads(entry.body)["id"], entry.position) for entry in entries if entry.kind == "event"]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


@pytest.mark.slow
def test_several_processes_append_at_once(url: str) -> None:
    with Store.open(url) as store:
        with_schema(store)
        processes, events = 4, 100
        told = run(store.url, "together", processes, events)
        found = published(store)
        assert len(told) == processes * (events + SHARED)
        assert len(found) == processes * events + SHARED
        outcomes = defaultdict(list)
        for _, id, outcome, position in told:
            assert found[id] == position
            outcomes[id].append(outcome)
        for id, all_told in outcomes.items():
            assert all_told.count("Accepted") == 1
            assert len(all_told) == (processes if id.startswith("shared") else 1)
        before = projections(store)
        rebuild(store)
        assert projections(store) == before


def check_killed(url: str, rounds: int, seed: int) -> None:
    with Store.open(url) as store:
        with_schema(store)
        told = run(store.url, "killed", rounds, seed)
        found = published(store)
        assert {writer.partition(".")[0] for writer, *_ in told} == {str(round) for round in range(rounds)}
        assert all(outcome == "Accepted" and found[id] == position for _, id, outcome, position in told)
        before = projections(store)
        rebuild(store)
        assert projections(store) == before


@pytest.mark.slow
def test_what_was_acknowledged_outlives_a_killed_writer(url: str) -> None:
    check_killed(url, rounds=5, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_what_was_acknowledged_outlives_many_killed_writers(url: str, seed: int) -> None:
    check_killed(url, rounds=60, seed=seed)
