"""Real outbox processes, killed in the middle and two at a time: nothing is lost, and what comes twice has one id."""

import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from tests.notifying.owing import OWNER, find, with_channels
from tests.notifying.sender_process import fast_clock
from tests.store.batches import commit_batch
from tests.store.test_notifications import table
from tidings.store import Store, notification_id

IDS = [f"s{number}" for number in range(12)]
EVENTS = 40


def started(store: Store, file: Path, begin: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-W", "error", "-m", "tests.notifying.sender_process", store.url, str(file), str(begin)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def killed(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def wait_for_the_lease(process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "leading\n"


def owed(store: Store) -> int:
    return sum(one.state == "due" for id in IDS for one in store.deliveries_of(id, OWNER, limit=10_000))


def check_all_arrived(store: Store, file: Path, positions: list[int]) -> int:
    """How many were sent more than once; every one of them under the id and the number of the first time."""
    ids: dict[tuple[str, int], set[str]] = defaultdict(set)
    firsts: dict[str, list[int]] = defaultdict(list)
    lines = file.read_text().splitlines()
    for line in lines:
        subscription, sequence, id, _, _ = line.split("\t")
        if (subscription, int(sequence)) not in ids:
            firsts[subscription].append(int(sequence))
        ids[subscription, int(sequence)].add(id)
    assert len(ids) == len(IDS) * len(positions)
    for subscription in IDS:
        assert firsts[subscription] == list(range(1, len(positions) + 1))  # none is missing, all in order
        for sequence, position in enumerate(positions, 1):
            assert ids[subscription, sequence] == {notification_id(subscription, "", f"e{position}")}
        states = {one.state for one in store.deliveries_of(subscription, OWNER, limit=10_000)}
        assert states == {"delivered"}
    return len(lines) - len(ids)


@pytest.mark.slow
def test_killed_in_the_middle_again_and_again(tmp_path: Path) -> None:
    chance = random.Random(7)
    file = tmp_path / "sent"
    begin = time.time_ns() // 1_000
    with Store.open(tmp_path / "tidings.db", fast_clock(begin)) as store:
        with_channels(store, *IDS[:8])
        with_channels(store, *IDS[8:], digest={"count": 7, "seconds": 300})
        assert commit_batch(store, 1, store.tail(), table()) == 0
        positions: list[int] = []
        for _ in range(6):
            process = started(store, file, begin)
            wait_for_the_lease(process)
            for _ in range(chance.randrange(2, 6)):
                positions += find(store, *IDS, many=EVENTS)
                time.sleep(chance.random() * 0.1)
            killed(process)
        rival, last = started(store, file, begin), started(store, file, begin)  # two at once, to the end
        try:
            while owed(store) or not all(store.channel(id).sequence == len(positions) for id in IDS):  # type: ignore[union-attr]
                assert rival.poll() is None
                assert last.poll() is None
                time.sleep(0.1)
        finally:
            killed(rival)
            killed(last)
        assert check_all_arrived(store, file, positions) > 0
