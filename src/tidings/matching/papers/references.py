"""Maps the elementary intervals of an attribute to the boxes that contain them, for `typed_tree`: arrays for few boxes,
bit lists for many.

A-MEDIAS section 9.4: "The array is used for a small number of profile references, whereas the bit-list is used for a
higher number […] The system changes automatically between the two". A bit list per interval would take as many bits as
there are boxes times intervals: 0.4 GB for 100,000 boxes of the Le Subscribe workload. Adjacent intervals differ
little, so only some bit lists are stored; the others are stored as the boxes that entered or left since. Storage is
proportional to the number of sides, and reconstructing a reference costs no more than reading it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tidings.kernels.compiled import kernel
from tidings.matching.boxes.dimension import OPEN
from tidings.matching.papers.indexed import Integers, Ordinals
from tidings.matching.ragged import offsets_of

ARRAY, BITS = range(2)
# A reference is an ARRAY's slice, or the index of BITS and the slice of later changes.
KIND, PLACE, START, STOP = range(4)
WORD = 64  # bits; an array has at most as many entries as a bit list has words
_GENEROUS = 16  # maximum entries of an array per box that changed since the last array

Bits = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class AttributeNode:
    """One attribute of one tree. Reference i covers `cuts[i]` up to the next cut; nothing covers values below the
    first."""

    dimension: int
    cuts: Ordinals
    references: Integers  # rows of (kind, place, start, stop)
    sizes: Integers  # boxes per reference
    arrays: Ordinals
    bits: Bits
    changed: Ordinals
    indifferent: Bits  # the boxes without a side in this dimension


def attribute_node(dimension: int, boxes: int, box: Ordinals, low: Ordinals, high: Ordinals) -> AttributeNode:
    """The node of a tree with this many boxes, some of which have the intervals [low, high) in this dimension."""
    begins, ends = np.flatnonzero(low < high), np.flatnonzero((low < high) & (high != OPEN))
    at = np.concatenate([low[begins], high[ends]])
    by_place = np.argsort(at, kind="stable")
    changed = np.concatenate([box[begins], box[ends]])[by_place]
    cuts, firsts = np.unique(at[by_place], return_index=True)
    stops = np.append(firsts[1:], len(changed))[: len(firsts)].astype(np.int64)
    words = -(-boxes // WORD)
    references, sizes = np.zeros((len(cuts), 4), np.int64), np.zeros(len(cuts), np.int64)
    arrays, bits = np.empty(_GENEROUS * len(changed), np.int32), np.empty(len(changed) + words, np.uint64)
    used = refer(
        changed, stops, np.zeros(words, np.uint64), np.empty(boxes, np.int32), np.full(boxes, -1, np.int32),
        references, sizes, arrays, bits,
    )  # fmt: skip
    indifferent = np.ones(words * WORD, np.bool_)
    indifferent[boxes:] = False
    indifferent[box] = False
    packed = np.packbits(indifferent, bitorder="little").view(np.uint64)
    return AttributeNode(
        dimension, cuts, references, sizes, arrays[: used[0]].copy(), bits[: used[1]].copy(), changed, packed
    )


@dataclass(frozen=True, eq=False)
class Forest:
    """All nodes of all trees in flat arrays. Tree t has the nodes `offsets[t]:offsets[t + 1]`, each a row of
    (dimension, first cut, last cut, index in `indifferent`). The other arrays are those of `AttributeNode`,
    concatenated."""

    offsets: Integers
    nodes: Integers
    cuts: Ordinals
    references: Integers
    arrays: Ordinals
    bits: Bits
    changed: Ordinals
    indifferent: Bits

    @classmethod
    def of(cls, trees: Sequence[Sequence[AttributeNode]]) -> Forest:
        every = [node for tree in trees for node in tree]
        cuts, arrays, bits, changed, indifferent = (
            offsets_of([len(getattr(node, part)) for node in every])
            for part in ("cuts", "arrays", "bits", "changed", "indifferent")
        )
        dimensions = np.array([node.dimension for node in every], np.int64)
        nodes = np.stack([dimensions, cuts[:-1], cuts[1:], indifferent[:-1]], axis=1)
        references = [np.zeros((0, 4), np.int64)]
        for node, array, place, change in zip(every, arrays.tolist(), bits.tolist(), changed.tolist(), strict=False):
            moved = node.references.copy()
            moved[:, PLACE] += place
            moved[:, START:] += np.where(moved[:, KIND] == ARRAY, array, change)[:, None]
            references.append(moved)
        return cls(
            offsets_of([len(tree) for tree in trees]),
            nodes,
            np.concatenate([np.zeros(0, np.int32), *(node.cuts for node in every)]),
            np.concatenate(references),
            np.concatenate([np.zeros(0, np.int32), *(node.arrays for node in every)]),
            np.concatenate([np.zeros(0, np.uint64), *(node.bits for node in every)]),
            np.concatenate([np.zeros(0, np.int32), *(node.changed for node in every)]),
            np.concatenate([np.zeros(0, np.uint64), *(node.indifferent for node in every)]),
        )


@kernel
def refer(
    changed: Any,
    stops: Any,
    live: Any,
    members: Any,
    position: Any,
    references: Any,
    sizes: Any,
    arrays: Any,
    bits: Any,
) -> Any:
    """Builds the reference of each interval; the boxes `changed[stops[i - 1]:stops[i]]` enter or leave at interval i.
    Returns how much of `arrays` and `bits` is used. `live` and `members` are the current boxes, `position` their
    indices among the members, -1 if absent."""
    n_arrays, n_bits, size = 0, 0, 0
    last_array, last_bits, base = 0, -1, 0
    start = 0
    for i in range(len(stops)):
        for box in changed[start : stops[i]]:
            live[box >> 6] ^= np.uint64(1) << np.uint64(box & 63)
            if position[box] < 0:
                members[size], position[box] = box, size
                size += 1
            else:
                size -= 1
                members[position[box]] = members[size]
                position[members[size]] = position[box]
                position[box] = -1
        start, sizes[i] = stops[i], size
        if size <= len(live) and size <= _GENEROUS * (start - last_array):
            arrays[n_arrays : n_arrays + size] = members[:size]
            references[i, KIND], references[i, START], references[i, STOP] = ARRAY, n_arrays, n_arrays + size
            n_arrays += size
            last_array = start
            continue
        if last_bits < 0 or start - last_bits > len(live):
            base, last_bits = n_bits, start
            bits[n_bits : n_bits + len(live)] = live
            n_bits += len(live)
        references[i, KIND], references[i, PLACE] = BITS, base
        references[i, START], references[i, STOP] = last_bits, start
    return n_arrays, n_bits


@kernel
def meet(
    reference: Any, arrays: Any, bits: Any, changed: Any, indifferent: Any, first: Any, last: Any, found: Any,
    spare: Any, kept: Any,
) -> Any:  # fmt: skip
    """Keeps the boxes of `found`, all in the words [first, last), that are in the reference or indifferent."""
    start, stop = reference[START], reference[STOP]
    if reference[KIND] == ARRAY:
        n = 0
        for box in arrays[start:stop]:
            kept[n] = box
            n += (found[box >> 6] >> np.uint64(box & 63)) & np.uint64(1) != 0
        leave(found[first:last], indifferent[first:last])
        for box in kept[:n]:
            found[box >> 6] |= np.uint64(1) << np.uint64(box & 63)
        return
    base = bits[reference[PLACE] : reference[PLACE] + len(found)]
    if start < stop:
        spare[first:last] = base[first:last]
        for box in changed[start:stop]:
            spare[box >> 6] ^= np.uint64(1) << np.uint64(box & 63)
        base = spare
    leave_either(found[first:last], base[first:last], indifferent[first:last])


@kernel
def leave(found: Any, bits: Any) -> Any:
    """Keeps the boxes of `found` that are in the bit list."""
    for w in range(len(found)):
        found[w] &= bits[w]


@kernel
def leave_either(found: Any, bits: Any, others: Any) -> Any:
    """Keeps the boxes of `found` that are in one of the bit lists."""
    for w in range(len(found)):
        found[w] &= bits[w] | others[w]
