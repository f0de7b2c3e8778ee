"""How much memory a pipeline takes: the driver with its Java, and the Python workers. Linux only."""

from __future__ import annotations

from contextlib import suppress
from glob import glob
from pathlib import Path


def memory_of(driver: int) -> tuple[int, int]:
    """Bytes that the driver and its Java hold, and those of the Python workers below them. Pages that several
    processes share count in part."""
    own = workers = 0
    for pid, depth in _family(driver, 0):
        held = _proportional(pid)
        if depth <= 1:
            own += held
        else:
            workers += held
    return own, workers


def _family(pid: int, depth: int) -> list[tuple[int, int]]:
    found = [(pid, depth)]
    for child in _children(pid):
        found += _family(child, depth + 1)
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    for task in glob(f"/proc/{pid}/task/*/children"):
        with suppress(OSError):  # the thread ended between two looks
            children += map(int, Path(task).read_text().split())
    return children


def _proportional(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0  # it ended between two looks
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
