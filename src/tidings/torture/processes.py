"""The processes that come from one, each told apart from a later one with the same number (Linux: /proc)."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_STATE, _PARENT, _STARTED = 0, 1, 19  # in /proc/…/stat, after the name


@dataclass(frozen=True, slots=True)
class Process:
    """A number is soon given out again; with the moment of its start it is one process."""

    id: int
    started: int

    @property
    def runs(self) -> bool:
        stat = _stat(self.id)
        return stat is not None and stat[_STATE] != "Z" and int(stat[_STARTED]) == self.started

    @property
    def command(self) -> str:
        """'' where it has ended."""
        try:
            return Path(f"/proc/{self.id}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""

    def kill(self) -> bool:
        """Whether it still ran."""
        if not self.runs:
            return False
        with suppress(ProcessLookupError):
            os.kill(self.id, signal.SIGKILL)
        return True


def descendants(process: int) -> set[Process]:
    """All living processes that come from this one."""
    children: dict[int, list[Process]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (stat := _stat(int(folder.name))) is not None:
            children.setdefault(int(stat[_PARENT]), []).append(Process(int(folder.name), int(stat[_STARTED])))
    found: set[Process] = set()
    rest = [process]
    while rest:
        for child in children.get(rest.pop(), ()):
            found.add(child)
            rest.append(child.id)
    return found


def running(processes: Iterable[Process]) -> set[Process]:
    return {process for process in processes if process.runs}


def _stat(process: int) -> list[str] | None:
    """None where it has just ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
