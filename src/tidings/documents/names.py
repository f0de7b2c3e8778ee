"""Distinct names, numbered by hashing with open addressing. A batch of documents has such a table, and so has an index.

A slot holds a name's number plus one; 0 if free. A name is its kind, its namespace's number (plus one; 0: none) and its
local part; namespaces are names, too. Bytes are compared, so equal hashes do no harm; the seed is drawn for each
process, so nobody can prepare names that all collide."""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.kernels.compiled import bare_inlined, kernel

TEXT, ELEMENT, ATTRIBUTE, NAMESPACE = 0, 1, 2, 3
SEED = secrets.randbits(31)


class Names(NamedTuple):
    slots: npt.NDArray[np.int32]
    hash: npt.NDArray[np.int64]
    kind: npt.NDArray[np.int8]
    space: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]  # name i is text[offsets[i]:offsets[i + 1]]
    text: npt.NDArray[np.uint8]


def no_names(most: int, size: int) -> Names:
    """Room for so many names and so many bytes of theirs."""
    names = Names(
        np.zeros(1 << int(2 * most).bit_length(), np.int32),
        np.empty(most, np.int64),
        np.empty(most, np.int8),
        np.empty(most, np.int32),
        np.empty(most + 1, np.int64),
        np.empty(size, np.uint8),
    )
    names.offsets[0] = 0
    return names


@bare_inlined
def hashed(seed: Any, text: Any, start: Any, stop: Any) -> Any:
    """32 bits. Products stay within 63, so uncompiled code gives the same result."""
    hash = np.int64(seed)
    for i in range(start, stop):
        hash = ((hash ^ np.int64(text[i])) * 0x01000193) & 0xFFFFFFFF
    return hash ^ (hash >> 15)


@bare_inlined
def find(names: Any, seed: Any, kind: Any, space: Any, text: Any, start: Any, stop: Any) -> Any:
    """The name's number, or -1 minus the slot that it would take."""
    hash = hashed(seed + 7 * kind + 31 * space, text, start, stop)
    mask = len(names.slots) - 1
    slot = hash & mask
    while names.slots[slot] != 0:
        known = names.slots[slot] - 1
        if names.hash[known] == hash and names.kind[known] == kind and names.space[known] == space:
            first = names.offsets[known]
            if names.offsets[known + 1] - first == stop - start:
                place = start
                while place < stop and names.text[first + place - start] == text[place]:
                    place += 1
                if place == stop:
                    return np.int64(known)
        slot = (slot + 1) & mask
    return np.int64(-1 - slot)


@bare_inlined
def intern(names: Any, seed: Any, count: Any, kind: Any, space: Any, text: Any, start: Any, stop: Any) -> Any:
    """The name's number; `count`, the number of names so far, if it is new."""
    found = find(names, seed, kind, space, text, start, stop)
    if found >= 0:
        return found
    names.slots[-1 - found] = count + 1
    names.hash[count] = hashed(seed + 7 * kind + 31 * space, text, start, stop)
    names.kind[count] = kind
    names.space[count] = space
    first = names.offsets[count]
    for i in range(start, stop):
        names.text[first + i - start] = text[i]
    names.offsets[count + 1] = first + stop - start
    return np.int64(count)


@kernel
def renumbered(names: Any, known: Any, seed: Any, others: Any) -> Any:
    """For each name, its number in the table `known`, else the one that `others` has for its kind."""
    numbers = np.empty(len(names.hash), np.int64)
    for i in range(len(numbers)):
        kind, space = np.int64(names.kind[i]), np.int64(names.space[i])
        if space:
            space = numbers[space - 1] + 1
        found = np.int64(-1)
        if space >= 0:
            found = find(known, seed, kind, space, names.text, names.offsets[i], names.offsets[i + 1])
        numbers[i] = found if found >= 0 else others[kind]
    return numbers
