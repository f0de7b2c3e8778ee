"""Plans as Spark's workers hold them: opened once in each process, found again by folder.

A worker is re-used from task to task, so after the first batch an opened plan costs nothing. Only the newest few
are kept: memory-mapped, an older one costs address space and open files, not memory."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from tidings.matching.default import BoxMatcher
from tidings.matching.plan import open_plan

_MOST_KEPT = 2

_opened: OrderedDict[Path, BoxMatcher] = OrderedDict()


def opened(folder: Path) -> BoxMatcher:
    """The plan's matcher, on one thread: Spark's tasks are what runs in parallel."""
    matcher = _opened.get(folder)
    if matcher is None:
        matcher = _opened[folder] = open_plan(folder, threads=1)
        while len(_opened) > _MOST_KEPT:
            _opened.popitem(last=False)
    _opened.move_to_end(folder)
    return matcher
