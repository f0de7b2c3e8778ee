"""The sketch that the design was measured with: equality clusters found by hashing, filters without an equality
scanned by columns.

A yardstick to beat, on arrays prepared for it and without memory for its answers: they go round in a ring.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.bench.grid import UNBOUND, Grid
from tidings.bench.results import Counts
from tidings.kernels.compiled import inlined, kernel

_RING = 1 << 24


class Prototype:
    name = "prototype"
    what = "the design's sketch, on prepared arrays"
    most = None
    extrapolated = True

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def unavailable(self) -> str | None:
        return None

    def unable(self, grid: Grid) -> str | None:
        if grid.excluding:
            return "cannot express !="
        return None if len(grid.attributes) <= 31 else "cannot hold more than 31 attributes"

    def load(self, grid: Grid) -> None:
        low, high = grid.low.T, grid.high.T
        bits = 1 << np.arange(len(grid.attributes))
        equal = (low == high) & (low != UNBOUND)
        masks, named = (equal * bits).sum(1), ((low != UNBOUND) * bits).sum(1)
        some = np.flatnonzero(masks)
        keys = masks[some].copy()
        for place in range(len(bits)):
            mine = equal[some, place]
            keys[mine] = keys[mine] * 1_000_003 + low[some[mine], place] + 1
        order = np.argsort(keys, kind="stable")
        some, different = some[order], np.unique(keys[order], return_index=True)
        table = np.full(1 << (2 * len(different[0]) + 1).bit_length(), -1, np.int64)
        fill_table(different[0], table)
        none = np.flatnonzero(masks == 0)
        none = none[np.argsort(named[none], kind="stable")]
        groups = np.unique(named[none], return_index=True)
        self.events = np.ascontiguousarray(grid.events.T)
        self.arguments: tuple[Any, ...] = (
            np.unique(masks[some]), different[0], table, np.append(different[1], len(some)),
            np.ascontiguousarray(low[some]), np.ascontiguousarray(high[some]), some.astype(np.int32),
            groups[0], np.append(groups[1], len(none)),
            np.ascontiguousarray(low[none].T), np.ascontiguousarray(high[none].T), none.astype(np.int32),
            np.zeros(_RING, np.int32), np.zeros(len(none), np.uint8),
        )  # fmt: skip

    def counts(self, first: int, last: int) -> Counts:
        counts = np.zeros(last - first, np.int64)
        match_events(self.events[first:last], counts, *self.arguments)
        return counts

    def close(self) -> None:
        self.arguments = ()


@inlined
def place_of(key: Any, size: Any) -> Any:
    mixed = np.uint64(key)
    mixed ^= mixed >> np.uint64(33)
    mixed *= np.uint64(0xFF51AFD7ED558CCD)
    mixed ^= mixed >> np.uint64(33)
    return np.int64(mixed & np.uint64(size - 1))


@kernel
def fill_table(keys: Any, table: Any) -> None:
    for number in range(len(keys)):
        place = place_of(keys[number], len(table))
        while table[place] != -1:
            place = (place + 1) & (len(table) - 1)
        table[place] = number


@kernel
def match_events(
    events: Any, counts: Any, masks: Any, keys: Any, table: Any, starts: Any, low: Any, high: Any, numbers: Any,
    groups: Any, group_starts: Any, none_low: Any, none_high: Any, none_numbers: Any, ring: Any, flags: Any,
) -> None:  # fmt: skip
    """counts[e] = how many filters hold event e."""
    n = 0
    attributes = events.shape[1]
    for e in range(len(events)):
        before = n
        bound = 0
        for a in range(attributes):
            if events[e, a] >= 0:
                bound |= 1 << a
        for m in masks:
            if m & ~bound:
                continue
            key = np.int64(m)
            for a in range(attributes):
                if (m >> a) & 1:
                    key = key * 1_000_003 + events[e, a] + 1
            place = place_of(key, len(table))
            while table[place] != -1 and keys[table[place]] != key:
                place = (place + 1) & (len(table) - 1)
            if table[place] == -1:
                continue
            for s in range(starts[table[place]], starts[table[place] + 1]):
                holds = True
                for a in range(attributes):
                    value = events[e, a]
                    if value < low[s, a] or value > high[s, a]:
                        holds = False
                        break
                ring[n & (_RING - 1)] = numbers[s]
                n += holds
        for g in range(len(groups)):
            if groups[g] & ~bound:
                continue
            first, last = group_starts[g], group_starts[g + 1]
            flags[first:last] = 1
            for a in range(attributes):
                if (groups[g] >> a) & 1:
                    value, lows, highs = events[e, a], none_low[a], none_high[a]
                    for s in range(first, last):
                        flags[s] &= (value >= lows[s]) & (value <= highs[s])
            for s in range(first, last):
                ring[n & (_RING - 1)] = none_numbers[s]
                n += flags[s]
        counts[e] = n - before
