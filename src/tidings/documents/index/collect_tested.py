"""Paths with tests: the values at a node find entries, and what is left of them to do is done once for each node.

These kernels take arrays out of their tuples first and call few others: a call with many arrays takes longer than what
it does here."""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.documents.index.evaluate import seek
from tidings.documents.index.keys import FROM, SELF, TO
from tidings.documents.index.leading import UNDECIDED, leads
from tidings.documents.index.walk import ALWAYS_TESTED
from tidings.kernels.compiled import bare_inlined, bare_kernel

NO_ROOM = -1


@bare_kernel
def collect_tested(
    first: Any, stop: Any, states: Any, active: Any, entries: Any, tested: Any, reading: Any, marks: Any, clock: Any,
    numbers: Any, found: Any, count: Any,
) -> Any:  # fmt: skip
    """The paths with tests that hold for a document; returns how many were found by now, or NO_ROOM."""
    names, node_end = reading.nodes.name, reading.nodes.end
    labels, kinds, program, where = reading.labels, reading.kinds, reading.program, reading.where
    operation_kind, operation_first, operation_second = program.kind, program.first, program.second
    needs, below, operation_label, occurring, starts, stops = (
        program.needs,
        where.below,
        program.label,
        where.nodes,
        where.starts,
        where.stops,
    )
    texts, own_texts, values = reading.values.text, reading.values.own_text, reading.values.number
    flags, list_ends, state_lists, bits = tested.flags, tested.offsets, tested.lists, tested.bits
    active_ends, active_nodes, place_of, always = active.ends, active.nodes, entries.place_of, entries.always
    of_text, of_label, cell_offsets = entries.of_text, entries.of_label, entries.cell_offsets
    cell_place, cell_entries, list_label = entries.cell_place, entries.cell_entries, entries.list_label
    list_kind, list_entries, bounds = entries.list_kind, entries.list_entries, entries.bound
    slots, lefts, operations, slot_marks, left_marks = (
        entries.slot, entries.left, entries.operations, marks.slot, marks.left
    )  # fmt: skip
    looked, patience = reading.looked, reading.patience
    spans, trail, tick, node_tick = clock.spans, clock.trail, clock.ticks[0], clock.node_ticks[0]
    for node in range(first, stop):
        state = states[node]
        if flags[state] == 0:
            continue
        node_tick += 1
        pending = 0
        if flags[state] & ALWAYS_TESTED:
            pending = span_always(active_ends[state], active_ends[state + 1], active_nodes, place_of, always, spans)
        begin, end = list_ends[state], list_ends[state + 1]
        at, label, text = np.int64(node), np.int64(SELF), own_texts[node]
        while True:
            if text >= 0 and text < len(of_text):
                pending = span_cells(of_text[text], state, bits, cell_offsets, cell_place, cell_entries, spans, pending)
            if label >= 0 and label + 1 < len(of_label):
                pending = span_cells(
                    of_label[label + 1], state, bits, cell_offsets, cell_place, cell_entries, spans, pending
                )  # fmt: skip
            if begin < end and values[at] == values[at]:
                pending = span_lists(
                    begin, end, label + 1, values[at], state_lists, list_label, list_kind, list_entries, bounds, spans,
                    pending,
                )  # fmt: skip
            for span in range(pending):
                if count + spans[span, 1] - spans[span, 0] > len(found):
                    clock.node_ticks[0] = node_tick
                    return NO_ROOM
                for i in range(spans[span, 0], spans[span, 1]):
                    slot, left = slots[i], lefts[i]
                    if slot_marks[slot] == tick:
                        continue
                    if left >= 0:
                        if left_marks[left] >> 1 != node_tick:
                            held = 0
                            if needs[operations[left]] & ~below[node] == 0:
                                held = leads(
                                    operations[left], node, operation_kind, operation_first, operation_second,
                                    operation_label, names, node_end, kinds, labels, occurring, starts, stops, trail,
                                    looked, patience,
                                )  # fmt: skip
                            if held == UNDECIDED:
                                held = sought(reading, operations[left], node)
                            left_marks[left] = node_tick << 1 | held
                        if not left_marks[left] & 1:
                            continue
                    slot_marks[slot] = tick
                    found[count] = numbers[slot]
                    count += numbers[slot] >= 0
            pending = 0
            at = np.int64(node + 1) if at == node else np.int64(node_end[at])
            if at >= node_end[node]:
                break
            label, text = labels[names[at]], texts[at]
    clock.node_ticks[0] = node_tick
    return count


@bare_kernel
def sought(reading: Any, operation: Any, node: Any) -> Any:
    top = np.int64(0)  # a literal has a type of its own, and numba does not cache a recursion of two types
    found = seek(
        reading.program, reading.nodes, reading.kinds, reading.labels, reading.memory, reading.given, reading.looked,
        reading.patience, reading.rows, top, operation, node,
    )  # fmt: skip
    return 1 if found >= 0 else 0


@bare_inlined
def span_always(begin: Any, end: Any, nodes: Any, place_of: Any, always: Any, spans: Any) -> Any:
    """The entries without keys of the places that are active."""
    pending = 0
    for i in range(begin, end):
        place = place_of[nodes[i]]
        if place >= 0 and always[place] < always[place + 1]:
            spans[pending, 0], spans[pending, 1] = always[place], always[place + 1]
            pending += 1
    return pending


@bare_inlined
def span_cells(
    key: Any, state: Any, bits: Any, offsets: Any, places: Any, starts: Any, spans: Any, pending: Any
) -> Any:  # fmt: skip
    """The cells of a key whose places are active in the state."""
    if key >= 0:
        for cell in range(offsets[key], offsets[key + 1]):
            place = places[cell]
            if (bits[state, place >> 6] >> np.uint64(place & 63)) & np.uint64(1):
                spans[pending, 0], spans[pending, 1] = starts[cell], starts[cell + 1]
                pending += 1
    return pending


@bare_inlined
def span_lists(
    begin: Any, end: Any, label: Any, value: Any, lists: Any, of_label: Any, kinds: Any, starts: Any, bounds: Any,
    spans: Any, pending: Any,
) -> Any:  # fmt: skip
    """Of the state's lists for this label (plus one), the entries whose comparison holds for the value."""
    left, right = begin, end
    while left < right:
        middle = (left + right) >> 1
        if of_label[lists[middle]] < label:
            left = middle + 1
        else:
            right = middle
    while left < end and of_label[lists[left]] == label:
        number = lists[left]
        start, stop, kind = starts[number], starts[number + 1], kinds[number]
        low, high = start, stop
        if kind != FROM:  # the first that is not less
            below = stop
            while low < below:
                middle = (low + below) >> 1
                if bounds[middle] < value:
                    low = middle + 1
                else:
                    below = middle
        if kind != TO:  # the first that is more
            above = low
            while above < high:
                middle = (above + high) >> 1
                if bounds[middle] <= value:
                    above = middle + 1
                else:
                    high = middle
        if low < high:
            spans[pending, 0], spans[pending, 1] = low, high
            pending += 1
        left += 1
    return pending
