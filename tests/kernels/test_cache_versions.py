"""Old versions' folders of kernels are removed, never one in use. The folders, locks and processes are real ones."""

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidings.kernels.cache_versions import KEPT, claimed_folder

DAY = 86_400
CLAIM = "from tidings.kernels.cache_versions import claimed_folder; print(claimed_folder('kernels', 'v0'), flush=True)"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("TIDINGS_CACHE", str(folder))
    return folder


@pytest.fixture
def olds(cache: Path) -> list[Path]:
    """Fifteen versions, each used a day after the one before, the newest 25 hours ago."""
    folders = [cache / f"kernels-v{number}" for number in range(15)]
    for age, folder in enumerate(reversed(folders)):
        folder.mkdir(mode=0o700)
        (folder / "kernel").write_text("compiled")
        _used(folder, DAY * age + 25 * 3600)
    return folders


def _used(folder: Path, seconds_ago: float) -> None:
    (folder / "claim").touch()
    then = time.time() - seconds_ago
    os.utime(folder / "claim", (then, then))


@pytest.fixture
def user(cache: Path, olds: list[Path]) -> Iterator[subprocess.Popen[str]]:
    """A process that has claimed the oldest folder, long ago."""
    command = [sys.executable, "-c", f"{CLAIM}; input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == str(olds[0])
        _used(olds[0], DAY * 100)
        yield process
        process.kill()


def names(cache: Path) -> set[str]:
    return {folder.name for folder in cache.iterdir()}


def test_a_new_version_removes_the_oldest(cache: Path, olds: list[Path]) -> None:
    (cache / "plans").mkdir()
    made = claimed_folder("kernels", "new")
    assert made == cache / "kernels-new"
    assert names(cache) == {"plans", "kernels-new", *(folder.name for folder in olds[-KEPT + 1 :])}
    assert all((folder / "kernel").exists() for folder in olds[-KEPT + 1 :])


def test_what_was_used_today_stays(cache: Path, olds: list[Path]) -> None:
    for folder in olds:
        _used(folder, 3600)
    claimed_folder("kernels", "new")
    assert len(names(cache)) == 16


def test_a_known_version_removes_nothing_and_counts_as_used(cache: Path, olds: list[Path]) -> None:
    claimed_folder("kernels", "v0")
    assert len(names(cache)) == 15
    claimed_folder("kernels", "new")
    assert "kernels-v0" in names(cache)


def test_one_without_a_claim_is_as_old_as_its_folder(cache: Path, olds: list[Path]) -> None:
    for folder, age in ((olds[0], 3600), (olds[14], DAY * 100)):
        (folder / "claim").unlink()
        os.utime(folder, (time.time() - age,) * 2)
    claimed_folder("kernels", "new")
    assert "kernels-v0" in names(cache)
    assert "kernels-v14" not in names(cache)


def test_one_in_use_stays_until_its_process_ends(cache: Path, olds: list[Path], user: subprocess.Popen[str]) -> None:
    claimed_folder("kernels", "new")
    assert "kernels-v0" in names(cache)
    assert "kernels-v1" not in names(cache)
    user.kill()
    user.wait()
    claimed_folder("kernels", "newer")
    assert "kernels-v0" not in names(cache)


def test_one_removed_while_it_is_claimed_is_made_again(cache: Path, olds: list[Path]) -> None:
    """Its remover has the lock and deletes it; whoever waits for the lock then makes a new one."""
    old = olds[0]
    with (old / "claim").open("r+") as claim:
        fcntl.flock(claim, fcntl.LOCK_EX)
        command = [sys.executable, "-c", f"{CLAIM}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as waiting:
            _until_waiting(waiting.pid)
            old.rename(cache / "kernels-v0-removed")
            fcntl.flock(claim, fcntl.LOCK_UN)
            told, _ = waiting.communicate(timeout=60)
    assert told.strip() == str(old)
    assert {path.name for path in old.iterdir()} == {"claim"}


def _until_waiting(process: int) -> None:
    deadline = time.monotonic() + 60
    while not any("->" in line and f" {process} " in line for line in Path("/proc/locks").read_text().splitlines()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
