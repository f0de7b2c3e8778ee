"""Paths against documents without an automaton: each node in turn, with the nodes of the trie that are active there.

No state outlives the document.

A trie node is active at a document's node when the steps to it lead there. Its descendant edges wait for all nodes
below: for each label there is a list of them, which grows on the way down and shrinks on the way up. A trie node below
which all paths hold already is left out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.documents.index.collect_tested import collect_tested
from tidings.documents.index.trie import Integers, Numbers, edge_of
from tidings.documents.index.vocabulary import ANY_ATTRIBUTE, ANY_ELEMENT
from tidings.documents.index.walk import note_tests
from tidings.documents.names import ATTRIBUTE, ELEMENT
from tidings.kernels.compiled import bare_kernel, kernel


class Active(NamedTuple):
    """Trie nodes by state."""

    ends: Integers
    nodes: Numbers


class Tested(NamedTuple):
    """What states say of paths with tests."""

    bits: npt.NDArray[np.uint64]  # by state: a bit for each place that is active
    flags: npt.NDArray[np.int8]  # by state
    lists: Numbers  # the lists of all places that are active, state by state, by label
    offsets: Integers


@kernel
def simulate(
    first: Any, stop: Any, reading: Any, trie: Any, entries: Any, marks: Any, clock: Any, most_labels: Any, found: Any
) -> Any:
    """Fills `found` with the paths that hold for the document with these nodes, and returns how many. It has room for
    twice as many as there are.

    To `collect_tested`, the node at hand is in state 0, whose tests are noted when it comes."""
    nodes = reading.nodes
    left = trie.weight.copy()
    held = np.zeros(len(trie.parent), np.bool_)  # by trie node: its paths without tests
    waiting = np.zeros(len(trie.parent), np.bool_)
    head = np.full(most_labels, -1, np.int32)  # by label: the descendant edge that came last
    before = np.empty(len(trie.descendants.target) + 1, np.int32)  # by edge: the one that came before it
    active = np.empty(4096, np.int32)  # trie nodes, level by level
    pending = np.empty(len(trie.parent) + 1, np.int32)  # trie nodes whose edges wait, in order of coming
    levels = np.empty((256, 3), np.int64)  # by level: its node, where its active nodes and its pending ones end
    states, slots = np.zeros(stop, np.int32), np.arange(len(trie.rest)).astype(np.int32)
    bits, flags = np.zeros((1, (entries.places + 63) // 64), np.uint64), np.zeros(1, np.int8)
    lists, offsets = np.empty(len(entries.list_label), np.int32), np.zeros(2, np.int64)
    ends = np.zeros(2, np.int64)
    clock.ticks[0] += 1
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
        kind = reading.kinds[name]
        if len(active) < end + len(trie.parent):
            active = np.concatenate((active, np.empty(end + 2 * len(trie.parent), np.int32)))
        new_end = enter(trie, active, begin, end, left, head, before, reading.labels[name], kind)
        count = hold_plain(trie, active, end, new_end, held, left, found, count)
        if entries.places:
            some, flags[0] = note_tests(active[end:new_end], entries, bits[0], lists)
            if flags[0]:
                if some > 1:
                    lists[:some] = lists[:some][np.argsort(entries.list_label[lists[:some]])]
                ends[0], ends[1], offsets[1] = end, new_end, some
                before_tests = count
                count = collect_tested(
                    node, node + 1, states, Active(ends, active), entries, Tested(bits, flags, lists, offsets), reading,
                    marks, clock, slots, found, count,
                )  # fmt: skip
                for place in range(before_tests, count):
                    drop(trie, left, trie.last[found[place]], 1)
                forget_tests(active[end:new_end], entries, bits[0])
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
def enter(
    trie: Any, active: Any, begin: Any, end: Any, left: Any, head: Any, before: Any, label: Any, kind: Any
) -> Any:  # fmt: skip
    """Appends the trie nodes that are active at a node with this label; returns where they end."""
    wild = ANY_ELEMENT if kind == ELEMENT else ANY_ATTRIBUTE if kind == ATTRIBUTE else -1
    new_end = end
    for wanted in (label, wild):
        for i in range(begin, end):
            edge = edge_of(trie.children, active[i], wanted)
            if edge >= 0 and left[trie.children.target[edge]]:
                active[new_end] = trie.children.target[edge]
                new_end += 1
        edge = np.int64(head[wanted]) if wanted >= 0 else np.int64(-1)
        while edge >= 0:
            if left[trie.descendants.target[edge]]:
                active[new_end] = trie.descendants.target[edge]
                new_end += 1
            edge = np.int64(before[edge])
    return new_end


@bare_kernel
def hold_plain(
    trie: Any, active: Any, begin: Any, end: Any, held: Any, left: Any, found: Any, count: Any
) -> Any:  # fmt: skip
    """The paths without tests that end at active trie nodes."""
    for i in range(begin, end):
        at = active[i]
        start, stop = trie.slot_offsets[at], trie.plain_stop[at]
        if start < stop and not held[at]:
            held[at] = True
            for place in range(start, stop):
                found[count] = trie.slots[place]
                count += 1
            drop(trie, left, at, stop - start)
    return count


@bare_kernel
def drop(trie: Any, left: Any, node: Any, paths: Any) -> None:
    """Subtracts paths from a trie node and from those above it."""
    while node >= 0:
        left[node] -= paths
        node = trie.parent[node]


@bare_kernel
def forget_tests(active: Any, entries: Any, bits: Any) -> None:
    """Takes back what `note_tests` did."""
    for node in active:
        place = entries.place_of[node]
        if place >= 0:
            bits[place >> 6] = 0


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
