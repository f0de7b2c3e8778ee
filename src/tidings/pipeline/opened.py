"""Plans as Spark's workers hold them: opened once in each process, found again by folder.

A worker is re-used from task to task, so after the first batch an opened plan costs nothing. Only the last few are
kept, and where plans are in shards only one: they are, because a worker has no room for all."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.plan.folder import open_plan

_opened: OrderedDict[Path, BoxMatcher] = OrderedDict()


def opened(folder: Path, most_kept: int = 2) -> BoxMatcher:
    """The plan's matcher, on one thread: Spark's tasks are what runs in parallel."""
    matcher = _opened.get(folder)
    if matcher is None:
        while len(_opened) >= most_kept:
            _opened.popitem(last=False)
        matcher = _opened[folder] = open_plan(folder, threads=1)
    _opened.move_to_end(folder)
    return matcher
