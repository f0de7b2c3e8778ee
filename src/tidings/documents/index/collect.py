"""From the states of documents' nodes to the paths that hold: those without tests by state, the others by value."""

from __future__ import annotations

from typing import Any

from tidings.documents.index.collect_tested import NO_ROOM, collect_tested
from tidings.documents.index.walk import SIMULATED
from tidings.kernels.compiled import bare_kernel


@bare_kernel
def collect(
    document: Any, offsets: Any, states: Any, active: Any, trie: Any, groups: Any, marks: Any, clock: Any, entries: Any,
    tested: Any, reading: Any, numbers: Any, unchanged: Any, found: Any, ends: Any,
) -> Any:  # fmt: skip
    """The paths of documents from this one on, up to one that is left to simulation or for which there is no room.

    `numbers` are those of the paths, -1 if withdrawn; `unchanged`: none was since they were grouped. Returns the
    document where it ended, and whether for want of room."""
    while document < len(offsets) - 1:
        first, stop = offsets[document], offsets[document + 1]
        if states[first] == SIMULATED:
            return document, False
        clock.ticks[0] += 1
        count = collect_plain(
            first, stop, states, active, trie, groups, marks, clock, numbers, unchanged, found, ends[document]
        )  # fmt: skip
        if count >= 0 and entries.places:
            count = collect_tested(
                first, stop, states, active, entries, tested, reading, marks, clock, numbers, found, count
            )  # fmt: skip
        if count < 0:
            return document, True
        document += 1
        ends[document] = count
    return document, False


@bare_kernel
def collect_plain(
    first: Any, stop: Any, states: Any, active: Any, trie: Any, groups: Any, marks: Any, clock: Any, numbers: Any,
    unchanged: Any, found: Any, count: Any,
) -> Any:  # fmt: skip
    """Whole groups for the states that were grouped, trie node by trie node for newer ones."""
    state_marks, group_marks, group_offsets, of_state = marks.state, marks.group, groups.offsets, groups.of_state
    member_offsets, members, member_numbers = groups.member_offsets, groups.members, groups.numbers
    tick, looked = clock.ticks[0], 0
    for node in range(first, stop):
        state = states[node]
        if state_marks[state] == tick:
            continue
        state_marks[state] = tick
        if state >= groups.states:
            looked += active.ends[state + 1] - active.ends[state]
            continue
        for place in range(group_offsets[state], group_offsets[state + 1]):
            group = of_state[place]
            if group_marks[group] == tick:
                continue
            group_marks[group] = tick
            begin, end = member_offsets[group], member_offsets[group + 1]
            if count + end - begin > len(found):
                return NO_ROOM
            if unchanged:
                for i in range(end - begin):  # faster than a slice: most groups are short
                    found[count + i] = member_numbers[begin + i]
                count += end - begin
                continue
            for i in range(begin, end):
                number = numbers[members[i]]
                found[count] = number
                count += number >= 0
    if looked == 0:
        return count
    clock.looked[0] += looked
    for node in range(first, stop):
        state = states[node]
        if state < groups.states or marks.state[state] == -tick:
            continue
        marks.state[state] = -tick
        for place in range(active.ends[state], active.ends[state + 1]):
            at = active.nodes[place]
            begin, end = trie.slot_offsets[at], trie.plain_stop[at]
            if begin == end or marks.node[at] == tick:
                continue
            group = groups.of_node[at]
            if group >= 0 and marks.group[group] == tick:
                continue
            marks.node[at] = tick
            if count + end - begin > len(found):
                return NO_ROOM
            for i in range(begin, end):
                number = numbers[trie.slots[i]]
                found[count] = number
                count += number >= 0
    return count
