"""Groups equal rows of a ragged array by hashing, with open addressing: boxes with the same shape, key, residuals or
equalities.

A slot holds 31 bits of the hash, then the group's number plus one; 0 if free. The table is at most half full."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tidings.kernels.compiled import kernel
from tidings.matching.ragged import Integers


class Groups(NamedTuple):
    slots: Integers
    of_row: Integers  # numbered in order of first occurrence
    first: Integers  # by group: its first row


def grouped(seeds: Any, offsets: Integers, items: Any) -> Groups:
    """Rows with equal seeds and equal items form a group."""
    rows = len(seeds)
    slots = np.zeros(1 << int(2 * rows + 1).bit_length(), np.int64)
    of_row, first = np.empty(rows, np.int64), np.empty(rows, np.int64)
    count = group(seeds.astype(np.int64), offsets, items.astype(np.int64), slots, of_row, first)
    return Groups(slots, of_row, first[:count])


@kernel
def mixed(hash: Any, value: Any) -> Any:
    """Mixes a value into a 32-bit hash. Products stay within 63 bits, so uncompiled code gives the same result."""
    product = (np.int64(hash) ^ np.int64(value)) * np.int64(0x5851F42D)
    return ((product >> 32) ^ product) & np.int64(0xFFFFFFFF)


@kernel
def group(seeds: Any, offsets: Any, items: Any, table: Any, group_of: Any, first: Any) -> Any:
    """Fills `group_of` by row and `first` by group; returns the number of groups."""
    groups = 0
    for row in range(len(seeds)):
        hash = mixed(1, seeds[row])
        for i in range(offsets[row], offsets[row + 1]):
            hash = mixed(hash, items[i])
        tag = hash & 0x7FFFFFFF
        slot = hash & (len(table) - 1)
        while True:
            if table[slot] == 0:
                table[slot] = (tag << 32) | (groups + 1)
                first[groups] = row
                group_of[row] = groups
                groups += 1
                break
            if table[slot] >> 32 == tag:
                known = (table[slot] & 0xFFFFFFFF) - 1
                if same(seeds, offsets, items, row, first[known]):
                    group_of[row] = known
                    break
            slot = (slot + 1) & (len(table) - 1)
    return groups


@kernel
def same(seeds: Any, offsets: Any, items: Any, row: Any, other: Any) -> Any:
    """Whether two rows have the same seed and the same items."""
    length = offsets[row + 1] - offsets[row]
    if seeds[row] != seeds[other] or length != offsets[other + 1] - offsets[other]:
        return False
    different = 0
    for i in range(length):
        different += items[offsets[row] + i] != items[offsets[other] + i]
    return different == 0
