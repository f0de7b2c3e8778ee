"""Builds the tree of `gough` level by level; nodes with the same boxes are created only once.

A node represents the boxes started but not finished on the way to it, as a sorted list of box numbers. Only the lowest
level keeps its lists; the levels above keep their edges and the boxes finished on each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tidings.kernels.compiled import kernel
from tidings.matching.boxes.dimension import OPEN
from tidings.matching.papers.indexed import Integers, Ordinals


@dataclass(frozen=True, eq=False)
class GoughTree:
    """Node i of level l is node `first_nodes[l] + i`; its edges are `node_offsets[node]:node_offsets[node + 1]`. Edge e
    covers the ordinals from `bound[e]` to the next edge's bound, leads to node `child[e]` of the next level, and
    finishes the boxes `answers[answer_offsets[e]:answer_offsets[e + 1]]`."""

    first_nodes: Integers
    node_offsets: Integers
    bound: Ordinals
    child: Ordinals
    answer_offsets: Integers
    answers: Ordinals

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.node_offsets) - 1


class GrowingTree:
    """Arrays are as long as the limits allow; pages that are never written use no memory."""

    def __init__(self, boxes: int, most_nodes: int, most_entries: int) -> None:
        self._limits = np.array([most_nodes, most_entries])
        self._low, self._high = np.full(boxes, -1, np.int32), np.empty(boxes, np.int32)
        self._keys = np.empty(boxes, np.int64)
        self._scratch = np.empty((5, 2 * boxes + 1), np.int32)
        self._sets = [(np.zeros(most_nodes + 2, np.int64), np.empty(most_entries, np.int32)) for _ in range(2)]
        self._slots = np.zeros(1 << (2 * most_nodes + 2).bit_length(), np.int32)
        self._slot_of = np.empty(most_nodes + 1, np.int64)
        self._node_offsets = np.zeros(most_nodes + 2, np.int64)
        self._bound, self._child = np.empty(most_entries, np.int32), np.empty(most_entries, np.int32)
        self._answer_offsets = np.zeros(most_entries + 1, np.int64)
        self._answers = np.empty(most_entries, np.int32)
        self._used = np.zeros(3, np.int64)  # nodes with edges, edges, answers
        self._width = 1
        self._first_nodes = [0]

    def expand(self, boxes: Ordinals, low: Ordinals, high: Ordinals, starting: Ordinals, left: Integers) -> bool:
        """Adds the edges of the lowest level, and the next level; False if a limit is exceeded.

        The boxes have the intervals [low, high) in this level's dimension. `starting` are those without a side above;
        `left` is each box's number of sides below.
        """
        self._low[boxes], self._high[boxes] = low, high
        self._width = expand_level(
            self._width, *self._sets[0], starting, self._low, self._high, left, self._limits, self._keys,
            self._scratch, self._slots, self._slot_of, *self._sets[1], self._node_offsets, self._bound,
            self._child, self._answer_offsets, self._answers, self._used,
        )  # fmt: skip
        self._low[boxes] = -1
        self._sets.reverse()
        self._first_nodes.append(int(self._used[0]))
        return self._width > 0

    def grown(self) -> GoughTree:
        nodes, edges, answers = self._used.tolist()
        return GoughTree(
            np.array(self._first_nodes),
            self._node_offsets[: nodes + 1].copy(),
            self._bound[:edges].copy(),
            self._child[:edges].copy(),
            self._answer_offsets[: edges + 1].copy(),
            self._answers[:answers].copy(),
        )


@kernel
def expand_level(
    width: Any, set_offsets: Any, sets: Any, starting: Any, low: Any, high: Any, left: Any, limits: Any,
    keys: Any, scratch: Any, slots: Any, slot_of: Any, next_offsets: Any, next_sets: Any, node_offsets: Any,
    bound: Any, child: Any, answer_offsets: Any, answers: Any, used: Any,
) -> Any:  # fmt: skip
    """Writes the edges of a level's `width` nodes, whose boxes are in `sets`. Returns the width of the next level, or 0
    if a limit is exceeded. Box b has the interval [low[b], high[b]) here; low is -1 if it does not test the dimension.

    A sweep over a node's cuts keeps the open boxes, so the work is proportional to the output.
    """
    nodes, edges, n_answers, found = used[0], used[1], used[2], 0
    cuts, active, carried, opened, members = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    for node in range(width):
        n_carried, n_keys = 0, 0
        for box in sets[set_offsets[node] : set_offsets[node + 1]]:
            if low[box] < 0:
                carried[n_carried] = box
                n_carried += 1
            else:
                keys[n_keys] = np.int64(low[box]) << 32 | box
                n_keys += 1
        for box in starting:
            keys[n_keys] = np.int64(low[box]) << 32 | box
            n_keys += 1
        keys[:n_keys].sort()
        n_active, pointer = 0, 0
        for cut in cuts[: gather_cuts(keys[:n_keys], high, cuts)]:
            n_active = close(active[:n_active], high, cut)
            while pointer < n_keys and keys[pointer] >> 32 <= cut:
                active[n_active] = keys[pointer] & 0x7FFFFFFF
                n_active += high[active[n_active]] > cut
                pointer += 1
            entries = edges + n_answers + next_offsets[found] + n_carried + n_active
            if used[0] + width + found >= limits[0] or entries >= limits[1]:
                return 0
            n_opened = 0
            for box in active[:n_active]:
                if left[box] == 0:
                    answers[n_answers] = box
                    n_answers += 1
                else:
                    opened[n_opened] = box
                    n_opened += 1
            opened[:n_opened].sort()
            n_members = merge(carried[:n_carried], opened[:n_opened], members)
            place = node_of(members[:n_members], slots, slot_of, next_offsets, next_sets, found)
            found = max(found, place + 1)
            bound[edges], child[edges] = cut, place
            edges += 1
            answer_offsets[edges] = n_answers
        nodes += 1
        node_offsets[nodes] = edges
    for place in range(found):
        slots[slot_of[place]] = 0
    used[0], used[1], used[2] = nodes, edges, n_answers
    return found


@kernel
def gather_cuts(keys: Any, high: Any, cuts: Any) -> Any:
    """Writes where the elementary intervals begin, from -1 on, without duplicates; returns how many there are."""
    cuts[0] = -1
    n = 1
    for key in keys:
        cuts[n] = key >> 32
        cuts[n + 1] = high[key & 0x7FFFFFFF]
        n += 2 if cuts[n + 1] != OPEN else 1
    cuts[:n].sort()
    kept = 1
    for i in range(1, n):
        if cuts[i] != cuts[kept - 1]:
            cuts[kept] = cuts[i]
            kept += 1
    return kept


@kernel
def close(active: Any, high: Any, cut: Any) -> Any:
    """Drops the boxes that end at or below the cut; returns how many remain."""
    kept = 0
    for i in range(len(active)):
        if high[active[i]] > cut:
            active[kept] = active[i]
            kept += 1
    return kept


@kernel
def merge(left: Any, right: Any, out: Any) -> Any:
    """Merges two ascending lists; returns the length of the result."""
    i, j = 0, 0
    while i < len(left) or j < len(right):
        if j == len(right) or (i < len(left) and left[i] < right[j]):
            out[i + j] = left[i]
            i += 1
        else:
            out[i + j] = right[j]
            j += 1
    return i + j


@kernel
def node_of(members: Any, slots: Any, slot_of: Any, offsets: Any, sets: Any, found: Any) -> Any:
    """The node with these boxes among the `found` existing ones, or a new one, `found`.

    `slots` is a hash table of node numbers from 1 on, with linear probing, twice as long as the limit on nodes.
    """
    mixed = np.int64(len(members))  # wide enough for the product in uncompiled code, too
    for box in members:
        mixed = (mixed * 1_000_003 + box) % 2_147_483_647
    slot = mixed & (len(slots) - 1)
    while slots[slot]:
        place = slots[slot] - 1
        known = sets[offsets[place] : offsets[place + 1]]
        if len(known) == len(members):
            same = True
            for i in range(len(known)):
                same = same and known[i] == members[i]
            if same:
                return place
        slot = (slot + 1) & (len(slots) - 1)
    slots[slot], slot_of[found] = found + 1, slot
    offsets[found + 1] = offsets[found] + len(members)
    sets[offsets[found] : offsets[found + 1]] = members
    return found
