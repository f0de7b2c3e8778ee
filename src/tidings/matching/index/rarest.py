"""Chooses by which of its required terms a pattern is found: the one that recent events have least often."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tidings.kernels.compiled import kernel
from tidings.matching.boxes.box_table import PATTERN, BoxTable
from tidings.matching.boxes.event_table import EventTable
from tidings.matching.ragged import owners, places

_MANY = 1 << 32  # an event counts more than all filters


def with_rarest_terms(table: BoxTable, recent: EventTable | None) -> BoxTable:
    """The same boxes, each with the rarest of its required terms as its side. Between terms that no recent event has,
    filters decide: what they rarely name is probably rare."""
    if not table.shapes:
        return table
    found = np.flatnonzero((table.residuals[:, 0] == PATTERN) & (table.residuals[:, 1] & 1 == 0))
    required = np.array([shape[0] for shape in table.shapes], np.int64)
    found = found[required[table.residuals[found, 1] >> 1] > 1]
    if not len(found):
        return table
    low, high = table.low.copy(), table.high.copy()
    boxes = owners(table.residual_offsets)[found]
    for d in np.unique(table.residuals[found, 2]).tolist():
        rows = found[table.residuals[found, 2] == d]
        weight = _weights(table, recent, d)
        choose_terms(
            rows, boxes[table.residuals[found, 2] == d], table.residuals, required, table.pool, weight, table.offsets,
            table.dimension, d, low, high,
        )  # fmt: skip
    return replace(table, low=low, high=high)


def _weights(table: BoxTable, recent: EventTable | None, d: int) -> npt.NDArray[np.int64]:
    """By ordinal: how often it occurs in recent events, and then in filters."""
    size = len(table.dimensions[d].keys) + 1
    rows = table.residuals[(table.residuals[:, 0] == PATTERN) & (table.residuals[:, 2] == d)]
    named = table.pool[places(rows[:, 3].astype(np.int64), rows[:, 4] - rows[:, 3])]
    weight = np.bincount(named, minlength=size).astype(np.int64)
    if recent is None or not len(recent.least):
        return weight
    seen = recent.least[:, d]
    if len(recent.set_starts) and recent.set_stops[-1, d]:  # the sets of a dimension are side by side
        seen = recent.sets[recent.set_starts[0, d] : recent.set_stops[-1, d]]
    counts = np.bincount(seen[(seen >= 0) & (seen < size)], minlength=size)
    return weight + _MANY * counts


@kernel
def choose_terms(
    rows: Any, boxes: Any, residuals: Any, required: Any, pool: Any, weight: Any, offsets: Any, dimension: Any, d: Any,
    low: Any, high: Any,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        row, box = rows[i], boxes[i]
        first = residuals[row, 3]
        last = first + required[residuals[row, 1] >> 1]
        for side in range(offsets[box], offsets[box + 1]):
            if dimension[side] != d:
                continue
            own, best = False, pool[first]
            for j in range(first, last):
                own |= pool[j] == low[side]
                if weight[pool[j]] < weight[best]:
                    best = pool[j]
            if own:  # else it is one of several of which one is required
                low[side], high[side] = best, best + 1
