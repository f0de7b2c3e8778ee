"""What the boxes of a cluster test besides their sides, if it is one comparison of the same two attributes: the kernel
then decides `price < estimate` once for an event and all of them, and finds the numbers of `price < 1.1 * estimate + 5`
side by side, box by box."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tidings.matching.boxes.box_table import LINEAR, RELATED, BoxTable

NOTHING = 0  # in common; above: a linear comparison, below: a plain one. Both are the pair and the operator's bits
BITS = 4


def box_tests(table: BoxTable) -> npt.NDArray[np.int64]:
    """What each box compares, if that is all it tests besides its sides."""
    tests = np.zeros(len(table), np.int64)
    single = np.flatnonzero(np.diff(table.residual_offsets) == 1)
    kind, negated, pair, start, _ = table.residuals[table.residual_offsets[single]].T.astype(np.int64)
    tests[single] = np.select(
        [kind == LINEAR, kind == RELATED], [pair << BITS | negated, -(pair << BITS | start)], NOTHING
    )
    return tests


def cluster_tests(
    table: BoxTable, order: npt.NDArray[np.int64], cluster_start: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """By cluster what its first box compares, which all do in a group of one shape; by box in this order the scale and
    offset. Empty if no box has residuals, or no cluster compares linearly."""
    if not len(table.residuals):
        return np.zeros(0, np.int32), np.zeros((0, 2))
    tests = box_tests(table)[order]
    of_cluster = tests[cluster_start[:-1]].astype(np.int32)
    if not (of_cluster > NOTHING).any():
        return of_cluster, np.zeros((0, 2))
    linear = np.zeros((len(tests), 2))
    compares = np.flatnonzero(tests > NOTHING)
    rows = table.residuals[table.residual_offsets[order[compares]], 3]
    linear[compares] = table.constants[rows, :2]
    return of_cluster, linear
