"""Paths against documents without an automaton: each node in turn, with the nodes of the trie that are active there.

No state outlives the document.

A trie node is active at a document's node when the steps to it lead there. Its descendant edges wait for all nodes
below: for each label there is a list of them, which grows on the way down and shrinks on the way up. A trie node below
which all paths hold already is left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.documents.index.evaluate import seek
from tidings.documents.index.trie import edge_of
from tidings.documents.index.vocabulary import ANY_ATTRIBUTE, ANY_ELEMENT
from tidings.documents.names import ATTRIBUTE, ELEMENT
from tidings.kernels.compiled import bare_kernel, kernel


@kernel
def simulate(
    first: Any, stop: Any, nodes: Any, kinds: Any, labels: Any, trie: Any, program: Any, memory: Any, given: Any,
    most_labels: Any, found: Any,
) -> Any:  # fmt: skip
    """Fills `found` with the paths that hold for the document with these nodes, and returns how many."""
    left = trie.weight.copy()
    held = np.zeros(len(trie.rest), np.bool_)
    waiting = np.zeros(len(trie.parent), np.bool_)
    head = np.full(most_labels, -1, np.int32)  # by label: the descendant edge that came last
    before = np.empty(len(trie.descendants.target) + 1, np.int32)  # by edge: the one that came before it
    active = np.empty(4096, np.int32)  # trie nodes, level by level
    pending = np.empty(len(trie.parent) + 1, np.int32)  # trie nodes whose edges wait, in order of coming
    levels = np.empty((256, 3), np.int64)  # by level: its node, where its active nodes and its pending ones end
    active[0] = 0
    levels[0, 0], levels[0, 1] = -1, 1
    levels[0, 2] = wait(trie, active, 0, 1, waiting, head, before, pending, 0)
    top, count = 0, 0
    for node in range(first, stop):
        while levels[top, 0] != nodes.parent[node]:
            unwait(trie, waiting, head, before, pending, levels[top - 1, 2], levels[top, 2])
            top -= 1
        begin = levels[top - 1, 1] if top > 0 else 0
        end = levels[top, 1]
        name = nodes.name[node]
        label, kind = labels[name], kinds[name]
        wild = ANY_ELEMENT if kind == ELEMENT else ANY_ATTRIBUTE if kind == ATTRIBUTE else -1
        if len(active) < end + len(trie.parent):
            active = np.concatenate((active, np.empty(end + 2 * len(trie.parent), np.int32)))
        new_end = end
        for i in range(begin, end):
            for wanted in (label, wild):
                edge = edge_of(trie.children, active[i], wanted)
                if edge >= 0 and left[trie.children.target[edge]]:
                    active[new_end] = trie.children.target[edge]
                    new_end += 1
        for wanted in (label, wild):
            edge = head[wanted] if wanted >= 0 else -1
            while edge >= 0:
                if left[trie.descendants.target[edge]]:
                    active[new_end] = trie.descendants.target[edge]
                    new_end += 1
                edge = before[edge]
        for i in range(end, new_end):
            for place in range(trie.slot_offsets[active[i]], trie.slot_offsets[active[i] + 1]):
                slot = trie.slots[place]
                if held[slot]:
                    continue
                rest = trie.rest[slot]
                if rest < 0 or seek(program, nodes, kinds, labels, memory, given, rest, node) >= 0:
                    held[slot] = True
                    found[count] = slot
                    count += 1
                    above = active[i]
                    while above >= 0:
                        left[above] -= 1
                        above = trie.parent[above]
        if left[0] == 0:
            return count
        if kind == ELEMENT:
            top += 1
            if top == len(levels):
                levels = np.concatenate((levels, levels))
            levels[top, 0], levels[top, 1] = node, new_end
            levels[top, 2] = wait(
                trie, active, end, new_end, waiting, head, before, pending, levels[top - 1, 2]
            )  # fmt: skip
    return count


@bare_kernel
def wait(
    trie: Any, active: Any, begin: Any, end: Any, waiting: Any, head: Any, before: Any, pending: Any, count: Any
) -> Any:  # fmt: skip
    """The descendant edges of these active nodes wait from now on; returns how many nodes' do."""
    edges = trie.descendants
    for i in range(begin, end):
        node = active[i]
        if waiting[node] or edges.offsets[node] == edges.offsets[node + 1]:
            continue
        waiting[node] = True
        pending[count] = node
        count += 1
        for edge in range(edges.offsets[node], edges.offsets[node + 1]):
            before[edge] = head[edges.label[edge]]
            head[edges.label[edge]] = edge
    return count


@bare_kernel
def unwait(
    trie: Any, waiting: Any, head: Any, before: Any, pending: Any, begin: Any, end: Any
) -> Any:  # fmt: skip
    """Takes back what `wait` did, the last first."""
    edges = trie.descendants
    for i in range(end - 1, begin - 1, -1):
        node = pending[i]
        waiting[node] = False
        for edge in range(edges.offsets[node + 1] - 1, edges.offsets[node] - 1, -1):
            head[edges.label[edge]] = before[edge]
