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
def seek(program: Any, nodes: Any, kinds: Any, labels: Any, memory: Any, given: Any, operation: Any, node: Any) -> Any:
    """The node that the operation gives, the first in document order for steps under FIRST; -1 if it does not hold."""
    kind = program.kind[operation]
    if kind == ACCEPT:
        return np.int64(node)
    first, second = program.first[operation], program.second[operation]
    if kind == AND:
        if seek(program, nodes, kinds, labels, memory, given, first, node) < 0:
            return np.int64(-1)
        return seek(program, nodes, kinds, labels, memory, given, second, node)
    if kind == OR:
        if seek(program, nodes, kinds, labels, memory, given, first, node) >= 0:
            return np.int64(node)
        return seek(program, nodes, kinds, labels, memory, given, second, node)
    if kind == NOT:
        found = seek(program, nodes, kinds, labels, memory, given, first, node)
        return np.int64(node) if found < 0 else np.int64(-1)
    if kind != CHILD and kind != DESCENDANT and kind != FIRST:
        return np.int64(node) if compared(program, nodes, operation, node) else np.int64(-1)
    key = (np.int64(operation) << 32 | np.int64(node)) + 1
    slot = remembered(memory, key)
    if memory[slot] == key:
        return np.int64(given[slot])
    best = np.int64(-1)
    if kind == FIRST:
        found = seek(program, nodes, kinds, labels, memory, given, first, node)
        if found < 0:
            best = np.int64(node) if program.flag[operation] else np.int64(-1)
        elif seek(program, nodes, kinds, labels, memory, given, second, found) >= 0:
            best = np.int64(node)
    else:
        place = node + 1
        while place < nodes.end[node] and (best < 0 or place < best):
            if fits(kinds, labels, nodes.name[place], program.label[operation]):
                if first < 0 or seek(program, nodes, kinds, labels, memory, given, first, place) >= 0:
                    found = seek(program, nodes, kinds, labels, memory, given, second, place)
                    if found >= 0 and (best < 0 or found < best):
                        best = found
                        if program.flag[operation]:
                            break
            place = place + 1 if kind == DESCENDANT else nodes.end[place]
    slot = remembered(memory, key)  # what was done since may have taken the slot
    memory[slot] = key
    given[slot] = best
    return best


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
