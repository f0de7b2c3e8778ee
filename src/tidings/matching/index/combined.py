"""Combines the answers of several segments, after Python has verified what kernels left undecided."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tidings.events import EventBatch
from tidings.language import Filter
from tidings.matching.algorithm import Cost, Matches
from tidings.matching.index.segment import Found
from tidings.matching.ragged import owners
from tidings.matching.verified import verified


def combined(batch: EventBatch, found: list[Found], filter_of: Callable[[int], Filter]) -> Matches:
    """`filter_of` gives the filter of a number."""
    cost = sum((one.cost for one in found), Cost())
    if not found:
        return Matches(np.zeros(len(batch) + 1, np.int64), np.zeros(0, np.int32), cost)
    if len(found) == 1:
        joined = Matches(found[0].offsets, found[0].numbers, cost)
    else:
        event = np.concatenate([owners(one.offsets) for one in found])
        order = np.argsort(event, kind="stable")
        offsets = np.sum([one.offsets for one in found], axis=0)
        joined = Matches(offsets, np.concatenate([one.numbers for one in found])[order], cost)
    if not any(one.open for one in found):
        return joined
    verify = joined.numbers < 0
    return verified(
        Matches(joined.offsets, np.where(verify, ~joined.numbers, joined.numbers), cost), verify, batch, filter_of
    )
