"""The paths of a segment with common beginnings merged: nodes of a trie, each reached by one step from its parent.

A path is in the trie up to its first step with tests, itself included. What is left of it is an operation of `program`.
Nodes are numbered so that parents come first; 0 is the document."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.kernels.compiled import bare_kernel

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]


class Edges(NamedTuple):
    """The edges of one axis; those of node i are offsets[i] to offsets[i + 1], by rising label."""

    offsets: Numbers
    label: Numbers
    target: Numbers


class Trie(NamedTuple):
    parent: Numbers
    children: Edges
    descendants: Edges
    last: Numbers  # by path: the node where it ends
    slot_offsets: Numbers  # the paths that end at node i, those without tests first
    slots: Numbers
    plain_stop: Numbers  # by node: where those without tests end
    rest: Numbers  # by path: the operation that is left to do, or -1
    weight: Numbers  # by node: how many paths end there or below


def build_trie(offsets: Integers, tokens: Numbers, rest: Numbers) -> Trie:
    """`tokens[offsets[i]:offsets[i + 1]]` are the steps of path i: twice the label, plus one for a descendant."""
    most = len(tokens) + 1
    table = np.zeros((1 << int(2 * most).bit_length(), 2), np.int64)
    parent, token = np.empty(most, np.int32), np.empty(most, np.int32)
    last = np.empty(len(rest), np.int32)
    count = insert(offsets, tokens, table, parent, token, last)
    parent, token = parent[:count].copy(), token[:count].copy()
    slots = np.lexsort((rest >= 0, last)).astype(np.int32)
    weight = np.bincount(last, minlength=count).astype(np.int32)
    slot_offsets = _offsets(last, count)
    plain_stop = slot_offsets[:-1] + np.bincount(last[rest < 0], minlength=count).astype(np.int32)
    gather(parent, weight)
    children, descendants = _edges(parent, token, 0), _edges(parent, token, 1)
    return Trie(parent, children, descendants, last, slot_offsets, slots, plain_stop, rest, weight)


def _edges(parent: Numbers, token: Numbers, axis: int) -> Edges:
    chosen = np.flatnonzero(token[1:] % 2 == axis) + 1
    order = chosen[np.lexsort((token[chosen], parent[chosen]))]
    return Edges(_offsets(parent[chosen], len(parent)), token[order] // 2, order.astype(np.int32))


def _offsets(owners: Any, count: int) -> Numbers:
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(owners, minlength=count), out=offsets[1:])
    return offsets


@bare_kernel
def insert(offsets: Any, tokens: Any, table: Any, parent: Any, token: Any, last: Any) -> Any:
    """Fills parent and token by node, and last by path; returns the number of nodes."""
    parent[0], token[0] = -1, 0
    count = 1
    mask = len(table) - 1
    for path in range(len(last)):
        node = np.int64(0)
        for i in range(offsets[path], offsets[path + 1]):
            key = (node << 31 | tokens[i]) + 1
            slot = (((key ^ key >> 31) & 0x7FFFFFFF) * 0x5851F42D >> 7) & mask  # within 63 bits, uncompiled too
            while table[slot, 0] != 0 and table[slot, 0] != key:
                slot = (slot + 1) & mask
            if table[slot, 0] == 0:
                table[slot, 0], table[slot, 1] = key, count
                parent[count], token[count] = node, tokens[i]
                count += 1
            node = table[slot, 1]
        last[path] = node
    return count


@bare_kernel
def gather(parent: Any, weight: Any) -> Any:
    """Adds each node's weight to its ancestors'."""
    for node in range(len(parent) - 1, 0, -1):
        weight[parent[node]] += weight[node]


@bare_kernel
def edge_of(edges: Any, node: Any, label: Any) -> Any:
    """The place of the node's edge with this label, or -1."""
    low, high = edges.offsets[node], edges.offsets[node + 1]
    while low < high:
        middle = (low + high) >> 1
        if edges.label[middle] < label:
            low = middle + 1
        else:
            high = middle
    if low < edges.offsets[node + 1] and edges.label[low] == label:
        return np.int64(low)
    return np.int64(-1)
