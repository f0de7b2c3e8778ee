"""How an index runs its kernel over points: when the output is full it is doubled, and the kernel resumed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tidings.matching.algorithm import Cost
from tidings.matching.papers.indexed import Integers, Ordinals

FULL = -1  # what a kernel returns instead of a count when the output has no room
_FIRST_ROOM = 1 << 16

# Of the first point, the offsets, the output and the cost (candidates, predicates): the point it stopped at.
Run = Callable[[int, Integers, Ordinals, Integers], int]


def found(points: Ordinals, run: Run) -> tuple[Integers, Ordinals, Cost]:
    """All boxes that `run` finds. It adds to the cost, and sets the next offset, only for finished points."""
    offsets = np.zeros(len(points) + 1, np.int64)
    out = np.empty(_FIRST_ROOM, np.int32)
    cost = np.zeros(2, np.int64)
    done = run(0, offsets, out, cost)
    while done < len(points):
        out = np.concatenate([out, np.empty_like(out)])
        done = run(done, offsets, out, cost)
    return offsets, out[: offsets[-1]], Cost(int(cost[0]), int(cost[1]))
