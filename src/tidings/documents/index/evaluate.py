"""Runs the operations of `program` at a node. What an operation gave at a node is remembered for the batch.

The memory has room for a whole path at every node of the largest document (`path_index`): without it, chains of
descendants would take exponential time. What other paths left there makes way."""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.documents.index.program import (
    ACCEPT,
    AND,
    AT_MOST,
    CHILD,
    DESCENDANT,
    EQUAL,
    FIRST,
    LESS,
    MORE,
    NOT,
    OR,
    STARTS,
    TEXT_EQUAL,
    TEXT_UNEQUAL,
    UNEQUAL,
)
from tidings.documents.index.vocabulary import ANY_ATTRIBUTE, ANY_ELEMENT
from tidings.documents.names import ATTRIBUTE, ELEMENT
from tidings.kernels.compiled import bare_kernel

_NEARBY = 8  # slots that an entry may be in


@bare_kernel
def seek(
    program: Any, nodes: Any, kinds: Any, labels: Any, memory: Any, given: Any, looked: Any, patience: Any,
    rows: Any, top: Any, operation: Any, node: Any,
) -> Any:  # fmt: skip
    """The node that the operation gives, the first in document order for steps under FIRST; -1 if it does not hold.

    A descendant step that has looked at more nodes than its `patience` remembers what it finds below each node. `rows`
    is room for that, free from `top` on."""
    kind = program.kind[operation]
    if kind == ACCEPT:
        return np.int64(node)
    first, second = program.first[operation], program.second[operation]
    if kind == AND:
        if seek(program, nodes, kinds, labels, memory, given, looked, patience, rows, top, first, node) < 0:
            return np.int64(-1)
        return seek(program, nodes, kinds, labels, memory, given, looked, patience, rows, top, second, node)
    if kind == OR:
        if seek(program, nodes, kinds, labels, memory, given, looked, patience, rows, top, first, node) >= 0:
            return np.int64(node)
        return seek(program, nodes, kinds, labels, memory, given, looked, patience, rows, top, second, node)
    if kind == NOT:
        found = seek(program, nodes, kinds, labels, memory, given, looked, patience, rows, top, first, node)
        return np.int64(node) if found < 0 else np.int64(-1)
    if kind != CHILD and kind != DESCENDANT and kind != FIRST:
        return np.int64(node) if compared(program, nodes, operation, node) else np.int64(-1)
    key = key_of(operation, node)
    slot = remembered(memory, key)
    if memory[slot] == key:
        return np.int64(given[slot])
    best, label, end = np.int64(-1), program.label[operation], np.int64(nodes.end[node])
    if kind == FIRST:
        found = seek(program, nodes, kinds, labels, memory, given, looked, patience, rows, top, first, node)
        if found < 0:
            best = np.int64(node) if program.flag[operation] else np.int64(-1)
        elif seek(program, nodes, kinds, labels, memory, given, looked, patience, rows, top, second, found) >= 0:
            best = np.int64(node)
    elif kind == CHILD or looked[operation] < patience or top + end - node > len(rows):
        place = np.int64(node + 1)
        while place < end and (best < 0 or place < best):
            looked[operation] += 1
            if fits(kinds, labels, nodes.name[place], label):
                if (
                    first < 0
                    or seek(program, nodes, kinds, labels, memory, given, looked, patience, rows, top, first, place)
                    >= 0
                ):
                    found = seek(
                        program, nodes, kinds, labels, memory, given, looked, patience, rows, top, second, place
                    )
                    if found >= 0 and (best < 0 or found < best):
                        best = found
                        if program.flag[operation]:
                            break
            place = place + 1 if kind == DESCENDANT else np.int64(nodes.end[place])
    else:  # from the leaves up: what is below a node is what its children are and have below them
        stop = line_up(nodes, memory, given, operation, node, rows, top)
        for row in range(stop - 1, top, -1):
            place, best, above = np.int64(rows[row, 0]), np.int64(rows[row, 1]), rows[row, 2]
            if nodes.end[place] > place + 1:
                remember(memory, given, key_of(operation, place), best)
            if fits(kinds, labels, nodes.name[place], label) and (rows[above, 1] < 0 or not program.flag[operation]):
                if (
                    first < 0
                    or seek(program, nodes, kinds, labels, memory, given, looked, patience, rows, stop, first, place)
                    >= 0
                ):
                    found = seek(
                        program, nodes, kinds, labels, memory, given, looked, patience, rows, stop, second, place
                    )
                    best = earlier(found, best)
            rows[above, 1] = earlier(best, np.int64(rows[above, 1]))
        best = np.int64(rows[top, 1])
    remember(memory, given, key, best)
    return best


@bare_kernel
def earlier(one: Any, other: Any) -> Any:
    """Of two nodes; -1 is none."""
    return one if other < 0 or (one >= 0 and one < other) else other


@bare_kernel
def line_up(
    nodes: Any, memory: Any, given: Any, operation: Any, node: Any, rows: Any, top: Any
) -> Any:  # fmt: skip
    """A row for the node and for each below it, except below those where the operation is known: the node, what the
    operation gives there so far, the row of its parent. Returns where they end."""
    rows[top, 0], rows[top, 1] = node, -1
    row, above, place = top + 1, top, np.int64(node + 1)
    while place < nodes.end[node]:
        while place >= nodes.end[rows[above, 0]]:
            above = np.int64(rows[above, 2])
        rows[row, 0], rows[row, 1], rows[row, 2] = place, -1, above
        key = key_of(operation, place)
        slot = remembered(memory, key)
        if memory[slot] == key:
            rows[row, 1] = given[slot]
            place = np.int64(nodes.end[place])
        else:
            above = row
            place += 1
        row += 1
    return row


@bare_kernel
def key_of(operation: Any, node: Any) -> Any:
    return (np.int64(operation) << 32 | np.int64(node)) + 1


@bare_kernel
def remember(memory: Any, given: Any, key: Any, found: Any) -> None:
    slot = remembered(memory, key)
    memory[slot] = key
    given[slot] = found


@bare_kernel
def remembered(memory: Any, key: Any) -> Any:
    """The key's slot, else a free one nearby, else the one whose entry is to go. Products stay within 63 bits."""
    mask = len(memory) - 1
    home = ((((key & 0x7FFFFFFF) * 0x5851F42D) ^ ((key >> 32) * 0x2545F491)) >> 13) & mask
    for step in range(_NEARBY):
        slot = (home + step) & mask
        if memory[slot] == key or memory[slot] == 0:
            return slot
    return home


@bare_kernel
def fits(kinds: Any, labels: Any, name: Any, label: Any) -> Any:
    """Whether a node of this name is what a step with this label asks for."""
    if label == ANY_ELEMENT:
        return kinds[name] == ELEMENT
    if label == ANY_ATTRIBUTE:
        return kinds[name] == ATTRIBUTE
    return labels[name] == label


@bare_kernel
def compared(program: Any, nodes: Any, operation: Any, node: Any) -> Any:
    kind = program.kind[operation]
    start, stop = nodes.start[node], nodes.stop[node]
    if kind >= EQUAL:
        value, bound = number(nodes.text, start, stop), program.number[operation]
        if kind == EQUAL:
            return value == bound
        if kind == UNEQUAL:
            return value != bound
        if kind == LESS:
            return value < bound
        if kind == AT_MOST:
            return value <= bound
        if kind == MORE:
            return value > bound
        return value >= bound
    literal = program.first[operation]
    first, last = program.literal_offsets[literal], program.literal_offsets[literal + 1]
    if kind == TEXT_EQUAL:
        return stop - start == last - first and begins(nodes.text, start, stop, program.literals, first, last)
    if kind == TEXT_UNEQUAL:
        return stop - start != last - first or not begins(nodes.text, start, stop, program.literals, first, last)
    if kind == STARTS:
        return begins(nodes.text, start, stop, program.literals, first, last)
    for place in range(start, stop - (last - first) + 1):
        if begins(nodes.text, place, stop, program.literals, first, last):
            return True
    return False


@bare_kernel
def begins(text: Any, start: Any, stop: Any, literals: Any, first: Any, last: Any) -> Any:
    if stop - start < last - first:
        return False
    for i in range(last - first):
        if text[start + i] != literals[first + i]:
            return False
    return True


@bare_kernel
def number(text: Any, start: Any, stop: Any) -> Any:
    """As XPath reads one; NaN if it is none. Exact up to 15 digits, beyond within a unit in the last place."""
    while start < stop and is_blank(text[start]):
        start += 1
    while stop > start and is_blank(text[stop - 1]):
        stop -= 1
    negative = start < stop and text[start] == 45
    if negative:
        start += 1
    value, scale, digits, point = 0.0, 1.0, 0, False
    for i in range(start, stop):
        byte = np.int64(text[i])
        if byte == 46 and not point:
            point = True
        elif byte >= 48 and byte <= 57:
            digits += 1
            if not point or scale < 1e300:
                value = value * 10.0 + (byte - 48)
                scale = scale * 10.0 if point else scale
        else:
            return np.nan
    if digits == 0:
        return np.nan
    value /= scale
    return -value if negative else value


@bare_kernel
def is_blank(byte: Any) -> Any:
    return byte == 32 or byte == 10 or byte == 9 or byte == 13
