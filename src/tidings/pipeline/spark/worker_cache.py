"""What Spark's workers keep from task to task: plans by their folder, stores by their URL.

Workers are reused, so only the first batch pays for opening a plan. The last few are kept; of a plan in shards only
one, since a worker has no room for all of them."""

from __future__ import annotations

from collections import OrderedDict
from functools import cache
from pathlib import Path

import pyarrow as pa

from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.plan.folder import open_plan
from tidings.store import Store

_opened: OrderedDict[Path, OpenedPlan] = OrderedDict()


class OpenedPlan:
    """`names` are the owners of its subscriptions, '' among them if one is nobody's, `named` the same for Arrow, which
    takes long to make of many; `owners` gives for each number the place of its owner there; `owned` says whether
    somebody owns one of them."""

    def __init__(self, matcher: BoxMatcher) -> None:
        self.matcher = matcher
        self.names, self.owners = matcher.spans.coded_owners()
        self.named = pa.array(self.names, pa.string())
        self.owned = any(self.names)


def opened(folder: Path, most_kept: int = 2) -> BoxMatcher:
    """The plan's matcher, on one thread: Spark's tasks are what runs in parallel."""
    return opened_plan(folder, most_kept).matcher


def opened_plan(folder: Path, most_kept: int = 2) -> OpenedPlan:
    plan = _opened.get(folder)
    if plan is None:
        while len(_opened) >= most_kept:
            _opened.popitem(last=False)
        plan = _opened[folder] = OpenedPlan(open_plan(folder, threads=1))
    _opened.move_to_end(folder)
    return plan


@cache
def opened_store(url: str) -> Store:
    """Opened once in each worker: to open it takes longer than to read a batch."""
    return Store.open(url)
