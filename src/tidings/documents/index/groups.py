"""Trie nodes that are active in the same states of an automaton, taken together: their paths without tests are found or
not found as a whole.

Without groups, a document with 20,000 matches would look at each path once for each of its states that accepts it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tidings.documents.index.trie import Integers, Numbers, Trie
from tidings.kernels.compiled import bare_kernel


class Groups(NamedTuple):
    states: int  # those that were grouped; newer ones look at their trie nodes one by one
    offsets: Integers  # the groups that state i accepts
    of_state: Numbers
    member_offsets: Integers  # the paths in group i
    members: Numbers
    numbers: Numbers  # of the members, as they were when they were grouped
    of_node: Numbers  # -1: none


def no_groups(trie: Trie) -> Groups:
    nothing = np.zeros(1, np.int64)
    none = nothing[1:].astype(np.int32)
    return Groups(0, nothing, none, nothing, none, none, np.full(len(trie.parent), -1, np.int32))


def grouped(ends: Integers, active: Numbers, trie: Trie, live: Numbers) -> Groups:
    """`active[ends[i]:ends[i + 1]]` are the trie nodes of state i; `live` are the numbers of the paths.

    Nodes are told apart by two sums of random numbers over their states, 40 bits each."""
    drawn = np.random.default_rng().integers(1, 1 << 40, (len(ends) - 1, 2))
    sums = np.zeros((len(trie.parent), 2), np.int64)
    add_up(ends, active, trie, drawn, sums)
    nodes = np.flatnonzero(sums[:, 0])
    nodes = nodes[np.lexsort((sums[nodes, 1], sums[nodes, 0]))]
    new = np.ones(len(nodes), np.bool_)
    new[1:] = (np.diff(sums[nodes], axis=0) != 0).any(axis=1)
    group, count = np.cumsum(new) - 1, int(np.count_nonzero(new))
    of_node = np.full(len(trie.parent), -1, np.int32)
    of_node[nodes] = group
    ranks = np.full(count, -1, np.int32)
    number_groups(active, of_node, ranks)
    order = np.argsort(ranks[group], kind="stable")
    nodes, group = nodes[order], ranks[group[order]]
    of_node[nodes] = group
    lengths = (trie.plain_stop - trie.slot_offsets[:-1])[nodes]
    stops = np.cumsum(lengths)
    places = np.repeat(trie.slot_offsets[nodes] - (stops - lengths), lengths) + np.arange(lengths.sum())
    members = trie.slots[places]
    kept = live[members] >= 0
    members = members[kept]
    member_offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(np.repeat(group, lengths)[kept], minlength=count), out=member_offsets[1:])
    offsets = np.zeros(len(ends), np.int64)
    met = np.zeros(count, np.int64)
    total = list_groups(ends, active, of_node, met, offsets, np.empty(0, np.int32))
    met[:] = 0
    of_state = np.empty(total, np.int32)
    list_groups(ends, active, of_node, met, offsets, of_state)
    return Groups(len(ends) - 1, offsets, of_state, member_offsets, members, live[members], of_node)


@bare_kernel
def add_up(ends: Any, active: Any, trie: Any, drawn: Any, sums: Any) -> None:
    """Only for nodes where paths without tests end."""
    for state in range(len(ends) - 1):
        for place in range(ends[state], ends[state + 1]):
            node = active[place]
            if trie.slot_offsets[node] < trie.plain_stop[node]:
                sums[node, 0] += drawn[state, 0]
                sums[node, 1] += drawn[state, 1]


@bare_kernel
def number_groups(active: Any, of_node: Any, ranks: Any) -> None:
    """Ranks groups as states first list them: those of a state then lie together, and so do their members."""
    count = 0
    for node in active:
        group = of_node[node]
        if group >= 0 and ranks[group] < 0:
            ranks[group] = count
            count += 1


@bare_kernel
def list_groups(ends: Any, active: Any, of_node: Any, met: Any, offsets: Any, of_state: Any) -> Any:
    """The groups of each state, once each; returns how many there are. Only counts if there is no room for any."""
    count = 0
    for state in range(len(ends) - 1):
        for place in range(ends[state], ends[state + 1]):
            group = of_node[active[place]]
            if group >= 0 and met[group] != state + 1:
                met[group] = state + 1
                if len(of_state):
                    of_state[count] = group
                count += 1
        offsets[state + 1] = count
    return count
