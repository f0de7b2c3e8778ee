"""The automaton's kernels: a state for each node, and a state that is not known yet.

A state stands for a set of active trie nodes, and for the set of those whose descendant edges wait. The second only
grows on the way down, so it is kept as a chain of chunks, which states share."""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.documents.index.trie import edge_of
from tidings.documents.index.vocabulary import ANY_ATTRIBUTE, ANY_ELEMENT
from tidings.documents.names import ATTRIBUTE, ELEMENT
from tidings.kernels.compiled import bare_kernel

SIMULATED = -2  # the state of nodes of a document that is left to `simulate`
TESTED, ALWAYS_TESTED = 1, 2  # flags of a state: paths with tests are active, some without a key


@bare_kernel
def walk(first: Any, stop: Any, nodes: Any, labels: Any, keys: Any, targets: Any, states: Any) -> Any:
    """Fills in the states of nodes; returns the first one whose state is not known, or `stop`."""
    for node in range(first, stop):
        above = nodes.parent[node]
        state = transition(keys, targets, states[above] if above >= 0 else 0, labels[nodes.name[node]])
        if state < 0:
            return node
        states[node] = state
    return stop


@bare_kernel
def transition(keys: Any, targets: Any, state: Any, label: Any) -> Any:
    """The state after this one on a label, or -1: not known."""
    key = (np.int64(state) << 32 | np.int64(label)) + 1
    mask = len(keys) - 1
    slot = (key * 5 ^ key >> 29) & mask
    while keys[slot] != 0:
        if keys[slot] == key:
            return np.int64(targets[slot])
        slot = (slot + 1) & mask
    return np.int64(-1)


@bare_kernel
def put_transition(keys: Any, targets: Any, state: Any, label: Any, target: Any) -> Any:
    key = (np.int64(state) << 32 | np.int64(label)) + 1
    mask = len(keys) - 1
    slot = (key * 5 ^ key >> 29) & mask
    while keys[slot] != 0:
        slot = (slot + 1) & mask
    keys[slot], targets[slot] = key, target


@bare_kernel
def rehash(keys: Any, targets: Any, new_keys: Any, new_targets: Any) -> Any:
    for i in range(len(keys)):
        if keys[i]:
            put_transition(new_keys, new_targets, (keys[i] - 1) >> 32, (keys[i] - 1) & 0xFFFFFFFF, targets[i])


@bare_kernel
def expand(
    trie: Any, active: Any, chain: Any, chunks: Any, pool: Any, label: Any, kind: Any, stamps: Any, tick: Any, mix: Any,
    new_active: Any, new_waiting: Any,
) -> Any:  # fmt: skip
    """What is active and newly waiting after a label: how many of each, and sums that tell sets apart."""
    count = 0
    wild = ANY_ELEMENT if kind == ELEMENT else ANY_ATTRIBUTE if kind == ATTRIBUTE else -1
    for node in active:
        for wanted in (label, wild):
            edge = edge_of(trie.children, node, wanted)
            if edge >= 0:
                new_active[count] = trie.children.target[edge]
                count += 1
    while chain >= 0:
        for place in range(chunks[chain, 1], chunks[chain, 2]):
            node = pool[place]
            stamps[node] = tick
            for wanted in (label, wild):
                edge = edge_of(trie.descendants, node, wanted)
                if edge >= 0:
                    new_active[count] = trie.descendants.target[edge]
                    count += 1
        chain = chunks[chain, 0]
    waiting = 0
    first, second, first_waiting, second_waiting = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for i in range(count):
        node = new_active[i]
        first += mix[node, 0]
        second += mix[node, 1]
        if kind == ELEMENT and stamps[node] != tick:
            if trie.descendants.offsets[node] < trie.descendants.offsets[node + 1]:
                new_waiting[waiting] = node
                waiting += 1
                first_waiting += mix[node, 0]
                second_waiting += mix[node, 1]
    return count, waiting, (first, second, first_waiting, second_waiting)


@bare_kernel
def note_tests(active: Any, entries: Any, bits: Any, lists: Any) -> Any:
    """Which places are active, and their lists: how many, and the state's flags."""
    count, flags = 0, 0
    for node in active:
        place = entries.place_of[node]
        if place < 0:
            continue
        bits[place >> 6] |= np.uint64(1) << np.uint64(place & 63)
        flags |= TESTED
        if entries.always[place] < entries.always[place + 1]:
            flags |= ALWAYS_TESTED
        for number in range(entries.list_offsets[place], entries.list_offsets[place + 1]):
            lists[count] = number
            count += 1
    return count, flags
