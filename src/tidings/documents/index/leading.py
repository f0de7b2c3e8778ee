"""Whether steps without tests lead anywhere from a node: what most paths with one test have after it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tidings.documents.index.program import ACCEPT, CHILD, DESCENDANT
from tidings.documents.index.trie import Integers, Numbers
from tidings.documents.index.vocabulary import ANY_ATTRIBUTE, ANY_ELEMENT
from tidings.documents.names import ATTRIBUTE, ELEMENT
from tidings.kernels.compiled import bare_inlined, kernel

UNDECIDED = 2
LONGEST = 24  # steps
_LONGEST_LOOK = 2_000  # nodes to look at; several descendants in a row may take far more, and `seek` remembers


class Occurrences(NamedTuple):
    """The nodes of a batch by name, in document order; those of a label are nodes[starts[label]:stops[label]]."""

    starts: Integers
    stops: Integers
    nodes: Numbers
    below: Integers  # by node: the names below it, as the bits of `program`


@kernel
def occurrences(names: Any, parents: Any, labels: Any, label_count: Any) -> Any:
    """By label; wildcards and names that no path speaks of have none."""
    starts, stops = np.zeros(label_count, np.int64), np.zeros(label_count, np.int64)
    ends = np.zeros(len(labels) + 1, np.int64)
    for name in names:
        ends[name + 1] += 1
    for name in range(len(labels)):
        ends[name + 1] += ends[name]
        if labels[name] >= 0:
            starts[labels[name]], stops[labels[name]] = ends[name], ends[name + 1]
    nodes = np.empty(len(names), np.int32)
    for node in range(len(names)):
        nodes[ends[names[node]]] = node
        ends[names[node]] += 1
    below = np.zeros(len(names), np.int64)
    for node in range(len(names) - 1, -1, -1):
        if parents[node] >= 0:
            label = labels[names[node]]
            below[parents[node]] |= below[node] | (np.int64(1) << np.int64(label % 62) if label >= 0 else np.int64(0))
    return starts, stops, nodes, below


@bare_inlined
def first_after(nodes: Any, start: Any, stop: Any, node: Any) -> Any:
    """Where the first of the nodes that comes after this one is."""
    while start < stop:
        middle = (start + stop) >> 1
        if nodes[middle] <= node:
            start = middle + 1
        else:
            stop = middle
    return start


@bare_inlined
def leads(
    operation: Any, node: Any, operation_kind: Any, first: Any, second: Any, operation_label: Any, names: Any,
    node_end: Any, kinds: Any, labels: Any, occurring: Any, starts: Any, stops: Any, trail: Any, looked_at: Any,
    patience: Any,
) -> Any:  # fmt: skip
    """1 or 0; UNDECIDED if the operation is another one, or it takes too long. `trail` is room for the steps:
    the operation, where to look next (of a descendant with a name: among the occurrences), and where to end."""
    length, last, asked = 0, np.int64(-1), operation
    if looked_at[asked] > patience:
        return UNDECIDED
    while operation_kind[operation] != ACCEPT:
        kind = operation_kind[operation]
        if (kind != CHILD and kind != DESCENDANT) or first[operation] >= 0 or length == LONGEST:
            return UNDECIDED
        trail[length, 0] = operation
        length += 1
        last = np.int64(operation_label[operation])
        operation = second[operation]
    if length and last != ANY_ELEMENT and last != ANY_ATTRIBUTE:  # mostly the rarest
        place = first_after(occurring, starts[last], stops[last], node)
        if place == stops[last] or occurring[place] >= node_end[node]:
            return 0
    step, looked, within = 0, 0, np.int64(node)
    entering = True
    while step >= 0 and step < length:
        current = trail[step, 0]
        label, below = np.int64(operation_label[current]), operation_kind[current] == DESCENDANT
        wild = label == ANY_ELEMENT or label == ANY_ATTRIBUTE
        named = below and not wild
        if entering:
            trail[step, 2] = node_end[within]
            trail[step, 1] = within + 1
            if named:
                trail[step, 1] = first_after(occurring, starts[label], stops[label], within)
        at, end = trail[step, 1], trail[step, 2]
        if named:
            found = at < stops[label] and occurring[at] < end
            trail[step, 1] = at + 1
            within = np.int64(occurring[at]) if found else within
            looked += 1
        else:
            found = False
            while at < end and not found:
                looked += 1
                within = at
                name = names[at]
                if wild:
                    found = kinds[name] == (ELEMENT if label == ANY_ELEMENT else ATTRIBUTE)
                else:
                    found = labels[name] == label
                at = np.int64(at + 1) if below else np.int64(node_end[at])
            trail[step, 1] = at
        if looked > _LONGEST_LOOK:
            looked_at[asked] += looked
            return UNDECIDED
        entering = found
        step += 1 if found else -1
    looked_at[asked] += looked
    return 1 if step == length else 0
