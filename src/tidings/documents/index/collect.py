"""From the states of a document's nodes to the paths that hold: those without tests by state, the others by key."""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.documents.index.evaluate import number, seek
from tidings.documents.index.keys import EQUALS
from tidings.documents.names import find
from tidings.kernels.compiled import kernel


@kernel
def collect(first: Any, stop: Any, states: Any, accepted: Any, groups: Any, marks: Any, tick: Any, found: Any) -> Any:
    """Paths without tests: whole groups for the states that were grouped, path by path for newer ones.

    Returns how many paths, and how many were looked at one by one."""
    count, looked = 0, 0
    for node in range(first, stop):
        state = states[node]
        if marks.state[state] == tick:
            continue
        marks.state[state] = tick
        if state >= groups.states:
            looked += accepted.offsets[state, 1] - accepted.offsets[state, 0]
            continue
        for place in range(groups.offsets[state], groups.offsets[state + 1]):
            group = groups.of_state[place]
            if marks.group[group] != tick:
                marks.group[group] = tick
                begin, end = groups.member_offsets[group], groups.member_offsets[group + 1]
                for i in range(begin, end):
                    found[count + i - begin] = groups.members[i]
                count += end - begin
    if looked == 0:
        return count, looked
    for node in range(first, stop):
        state = states[node]
        if state < groups.states or marks.state[state] == -tick:
            continue
        marks.state[state] = -tick
        for place in range(accepted.offsets[state, 0], accepted.offsets[state, 1]):
            slot = accepted.slots[place]
            if marks.slot[slot] != tick and marks.group[groups.of_slot[slot]] != tick:
                marks.slot[slot] = tick
                found[count] = slot
                count += 1
    return count, looked


@kernel
def try_keys(
    node: Any, low: Any, high: Any, begin: Any, end: Any, runs: Any, nodes: Any, kinds: Any, labels: Any, program: Any,
    memory: Any, given: Any, marks: Any, tick: Any, found: Any, count: Any,
) -> Any:  # fmt: skip
    """The runs from `begin` to `end` with keys from `low` to below `high`: their operation, then their paths."""
    left, right = begin, end
    while left < right:
        middle = (left + right) >> 1
        if runs.key[middle] < low:
            left = middle + 1
        else:
            right = middle
    while left < end and runs.key[left] < high:
        if seek(program, nodes, kinds, labels, memory, given, runs.rest[left], node) >= 0:
            for place in range(runs.offsets[left], runs.offsets[left + 1]):
                slot = runs.slots[place]
                if marks.slot[slot] != tick:
                    marks.slot[slot] = tick
                    found[count] = slot
                    count += 1
        left += 1
    return count


@kernel
def try_value(
    node: Any, label: Any, at: Any, keys: Any, seed: Any, begin: Any, end: Any, runs: Any, nodes: Any, kinds: Any,
    labels: Any, program: Any, memory: Any, given: Any, marks: Any, tick: Any, found: Any, count: Any,
) -> Any:  # fmt: skip
    """The keys that the value at node `at` satisfies; `label` is -1 for the node itself."""
    start, stop = nodes.start[at], nodes.stop[at]
    if keys.equals[label + 1] and stop - start <= keys.longest:
        place = find(keys.texts, seed, EQUALS, label + 1, nodes.text, start, stop)
        if place >= 0:
            key = np.int64(keys.of_text[place])
            count = try_keys(
                node, key, key + 1, begin, end, runs, nodes, kinds, labels, program, memory, given, marks, tick, found,
                count,
            )  # fmt: skip
    low, high = np.int64(keys.ranges[label + 1, 0]), np.int64(keys.ranges[label + 1, 1])
    low_to, high_to = np.int64(keys.ranges[label + 1, 2]), np.int64(keys.ranges[label + 1, 3])
    if low == high and low_to == high_to:
        return count
    value = number(nodes.text, start, stop)
    if value != value:
        return count
    if low < high:
        place = low + np.searchsorted(keys.bounds[low:high], value, side="right")
        count = try_keys(
            node, low, place, begin, end, runs, nodes, kinds, labels, program, memory, given, marks, tick, found, count
        )  # fmt: skip
    if low_to < high_to:
        place = low_to + np.searchsorted(keys.bounds[low_to:high_to], value)
        count = try_keys(
            node, place, high_to, begin, end, runs, nodes, kinds, labels, program, memory, given, marks, tick, found,
            count,
        )  # fmt: skip
    return count


@kernel
def collect_tested(
    first: Any, stop: Any, states: Any, tested: Any, runs: Any, keys: Any, seed: Any, nodes: Any, kinds: Any,
    labels: Any, own_labels: Any, program: Any, memory: Any, given: Any, marks: Any, tick: Any, found: Any, count: Any,
) -> Any:  # fmt: skip
    """Paths with tests, by the keys that each node satisfies; returns how many paths there are now.

    `own_labels` are those that the segment knows, by name; a label that came later is one of a name not spoken of."""
    for node in range(first, stop):
        begin, end = tested[states[node], 0], tested[states[node], 1]
        if begin == end:
            continue
        count = try_keys(
            node, 0, 1, begin, end, runs, nodes, kinds, labels, program, memory, given, marks, tick, found, count
        )  # fmt: skip
        if runs.key[end - 1] == 0:
            continue
        count = try_value(
            node, -1, node, keys, seed, begin, end, runs, nodes, kinds, labels, program, memory, given, marks, tick,
            found, count,
        )  # fmt: skip
        child = node + 1
        while child < nodes.end[node]:
            count = try_value(
                node, own_labels[nodes.name[child]], child, keys, seed, begin, end, runs, nodes, kinds, labels, program,
                memory, given, marks, tick, found, count,
            )  # fmt: skip
            child = nodes.end[child]
    return count
