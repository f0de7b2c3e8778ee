"""Neon: predicates are stored unfactored, sorted only by event type and operation, and every relevant one is tested.

"Efficient matching for Web-based publish/subscribe systems", section 3, figure 8 (NEONRules). `operations` lists the
pairs of attribute and comparison that occur within an event type. Each has its slice of the table of predicates, with a
row (constant, box) per predicate. Nothing is shared: equal predicates of many filters are stored and tested as often as
they occur. A box matches when the number of its satisfied predicates equals `n_predicates`. Neon also compares
attributes with each other; here, these predicates are residuals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tidings.kernels.compiled import kernel
from tidings.matching.algorithm import Cost
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.dimension import OPEN
from tidings.matching.papers.event_type_parts import COMMON, EventTypeParts
from tidings.matching.papers.indexed import IndexedMatcher, Integers, Ordinals
from tidings.matching.ragged import owners

EQUAL, LESS, AT_LEAST, BOUND = range(4)  # the comparisons; an interval with two ends is AT_LEAST and LESS

_BLOCK = 64  # constants compared with a value at once, before any is tested individually


class NeonMatcher(IndexedMatcher):
    name = "neon"

    def _build(self, table: BoxTable) -> None:
        self._parts = parts = EventTypeParts.of(table)
        owner = owners(table.offsets).astype(np.int32)
        equal = parts.left & (table.high == table.low + 1)
        lower = parts.left & ~equal & (table.low > 0)
        upper = parts.left & ~equal & (table.high != OPEN)
        bound = parts.left & ~equal & ~lower & ~upper
        kinds = (
            (EQUAL, equal, table.low),
            (LESS, upper, table.high),
            (AT_LEAST, lower, table.low),
            (BOUND, bound, table.low),
        )
        self._constants = np.concatenate([constants[chosen] for _, chosen, constants in kinds])
        self._owners = np.concatenate([owner[chosen] for _, chosen, _ in kinds])
        dimension = np.concatenate([table.dimension[chosen] for _, chosen, _ in kinds]).astype(np.int64)
        comparison = np.repeat([kind for kind, _, _ in kinds], [chosen.sum() for _, chosen, _ in kinds])
        self._sort(dimension, comparison)
        self.n_predicates = np.bincount(self._owners, minlength=len(table)).astype(np.int32)
        unasked = np.flatnonzero(self.n_predicates == 0)  # their part decides
        self._unasked = unasked[np.argsort(parts.part[unasked], kind="stable")].astype(np.int32)
        self._unasked_offsets = np.searchsorted(parts.part[self._unasked], np.arange(parts.count + 1))

    def _sort(self, dimension: Integers, comparison: Integers) -> None:
        """Predicates by part, attribute and comparison; a run of equal ones is a row of `operations`."""
        part = self._parts.part[self._owners].astype(np.int64)
        operation = (part * (int(dimension.max(initial=0)) + 1) + dimension) * 4 + comparison
        order = np.argsort(operation, kind="stable")
        self._constants, self._owners = self._constants[order], self._owners[order]
        _, first = np.unique(operation[order], return_index=True)
        rows = order[first]
        stops = np.append(first[1:], len(order))[: len(first)]
        self.operations: npt.NDArray[np.int64] = np.stack([dimension[rows], comparison[rows], first, stops], axis=1)
        self._operation_offsets = np.searchsorted(part[rows], np.arange(self._parts.count + 1))

    def _find(self, points: Ordinals) -> tuple[Integers, Ordinals, Cost]:
        counts = np.zeros(len(self.n_predicates), np.int32)
        touched = np.empty(len(counts) + 1, np.int32)
        index = (
            self._parts.of_points(points), self._operation_offsets, self.operations, self._constants, self._owners,
            self.n_predicates, self._unasked_offsets, self._unasked, counts, touched,
        )  # fmt: skip
        return self._all_found(points, lambda *into: count_predicates(points, *index, *into))


@kernel
def count_predicates(
    points: Any, part_of_points: Any, operation_offsets: Any, operations: Any, constants: Any,
    owners: Any, n_predicates: Any, unasked_offsets: Any, unasked: Any, counts: Any, touched: Any, first: Any,
    out_offsets: Any, out: Any, cost: Any,
) -> Any:  # fmt: skip
    """Figure 8 for the points from `first` on. Stops early when `out` is full and returns the point to resume at.

    `counts` is zero before and after; `cost` counts the boxes with a hit and the predicates tested.
    """
    n = out_offsets[first]
    for p in range(first, len(points)):
        tested = 0
        m = 0
        start = n
        for turn in range(2):
            part = COMMON if turn == 0 else part_of_points[p]
            if turn == 1 and part == COMMON:
                break
            if n + unasked_offsets[part + 1] - unasked_offsets[part] > len(out):
                for i in range(m):
                    counts[touched[i]] = 0
                return p
            for i in range(unasked_offsets[part], unasked_offsets[part + 1]):
                out[n] = unasked[i]
                n += 1
            for operation in range(operation_offsets[part], operation_offsets[part + 1]):
                value = points[p, operations[operation, 0]]
                if value >= 0:
                    comparison, begin, end = (
                        operations[operation, 1],
                        operations[operation, 2],
                        operations[operation, 3],
                    )
                    tested += end - begin
                    m = count_operation(comparison, value, constants[begin:end], owners[begin:end], counts, touched, m)
        candidates = n - start + m
        full = n + m > len(out)
        for i in range(m):
            box = touched[i]
            if not full and counts[box] == n_predicates[box]:
                out[n] = box
                n += 1
            counts[box] = 0
        if full:
            return p
        cost[0] += candidates
        cost[1] += tested
        out_offsets[p + 1] = n
    return len(points)


@kernel
def count_operation(comparison: Any, value: Any, constants: Any, owners: Any, counts: Any, touched: Any, m: Any) -> Any:
    """Tests each predicate of one operation; returns the new length of `touched`. Writes to `touched` before it knows
    the result: half of all range predicates hold, so a branch would often be mispredicted."""
    if comparison == EQUAL:
        for start in range(0, len(constants), _BLOCK):
            block = constants[start : start + _BLOCK]
            hits = 0
            for i in range(len(block)):
                hits += block[i] == value
            if hits:
                for i in range(len(block)):
                    if block[i] == value:
                        box = owners[start + i]
                        touched[m] = box
                        m += counts[box] == 0
                        counts[box] += 1
        return m
    for i in range(len(constants)):
        holds = value < constants[i] if comparison == LESS else value >= constants[i] or comparison == BOUND
        box = owners[i]
        touched[m] = box
        m += holds & (counts[box] == 0)
        counts[box] += holds
    return m
