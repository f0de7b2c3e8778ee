"""The kernels that every index shares: whether an event lies inside a side, whether a box's residuals hold, and which
subscriptions remain.

They work on the arrays of `EventTable` and `BoxTable`, independent of how the boxes were found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.kernels.compiled import inlined, kernel
from tidings.language.relations import GREATER, LESS, SAME
from tidings.matching.boxes.box_table import (
    HALF,
    HAS_ALL,
    HAS_ANY,
    IN_RANGES,
    LINEAR,
    PATTERN,
    RELATED,
    SHIFTED,
    SINGLE,
    UNBOUND_AXIS,
    VERIFY,
)
from tidings.matching.boxes.chosen_values import IMPOSSIBLE, by_extremes, in_region
from tidings.matching.boxes.event_table import EXTREMES, SEVERAL
from tidings.matching.boxes.second_look import second_look
from tidings.matching.boxes.texts.pattern_kernel import some_text_fits

# A verdict is NO, or YES with pending work: ASK for a second look at the event's values (`second_look`), CHECK for a
# predicate that only Python can check.
NO, YES, ASK, CHECK = 0, 1, 2, 4


@inlined
def inside(e: Any, d: Any, low: Any, high: Any, least: Any, greatest: Any, starts: Any, stops: Any, sets: Any) -> Any:
    """Whether one of event e's ordinals in dimension d lies in [low, high)."""
    smallest, largest = least[e, d], greatest[e, d]
    if largest < low or smallest >= high:
        return False
    if smallest >= low or largest < high:
        return True
    left, right = starts[e, d], stops[e, d]
    while left < right:  # they ascend
        middle = (left + right) >> 1
        if sets[middle] < low:
            left = middle + 1
        else:
            right = middle
    return sets[left] < high


@inlined
def patterns_of(shape_starts: Any, shape_steps: Any, events: Any) -> Any:
    """What `some_text_fits` reads."""
    return (
        shape_starts, shape_steps, events.text_starts, events.text_stops, events.texts, events.entry_offsets,
        events.entry_terms, events.place_offsets, events.places,
    )  # fmt: skip


@inlined
def holds(
    r: Any,
    residuals: Any,
    e: Any,
    pool: Any,
    least: Any,
    greatest: Any,
    starts: Any,
    stops: Any,
    sets: Any,
    relations: Any,
    constants: Any,
    numbers: Any,
    instants: Any,
    patterns: Any,
) -> Any:
    """Whether residual r (kind, negated, first, start, stop) holds for event e.

    Reads it entry by entry: a view of the row would be reference-counted each time (measured: 200 ns).
    """
    kind, d, start, stop = residuals[r, 0], residuals[r, 2], residuals[r, 3], residuals[r, 4]
    if kind == RELATED:
        if not relations[e, d] & start:
            return NO
        return ASK if relations[e, d] & SEVERAL else YES
    if kind == VERIFY:
        return CHECK
    if kind == PATTERN:
        if len(patterns[2]) == 0:  # one event, without its words
            return CHECK
        if least[e, d] < 0:
            return NO
        shape = residuals[r, 1]
        return YES if some_text_fits(e, d, shape >> 1, start, pool, patterns) != (shape & 1 == 1) else NO
    if kind >= LINEAR:
        if relations[e, d] & SEVERAL:
            if kind > SHIFTED:
                return ASK
            possible = by_extremes(kind, e, d, residuals[r, 1], start, constants, numbers, instants)
            return NO if possible == IMPOSSIBLE else ASK
        if kind == SINGLE:
            return YES
        if relations[e, d] == 0:
            return NO
        return YES if computed(kind, e, d, residuals[r, 1], start, constants, numbers, instants) else NO
    if kind == UNBOUND_AXIS:
        return YES if least[e, d] < 0 else NO
    if least[e, d] < 0:
        return NO
    if kind == IN_RANGES:
        ordinal = least[e, d]
        if ordinal == greatest[e, d]:
            for i in range(start, stop, 2):
                if pool[i] <= ordinal < pool[i + 1]:
                    return YES
            return NO
        for i in range(start, stop, 2):
            if inside(e, d, pool[i], pool[i + 1], least, greatest, starts, stops, sets):
                return YES
        return NO
    found = 0
    for i in range(start, stop):
        if inside(e, d, pool[i], pool[i] + 1, least, greatest, starts, stops, sets):
            found += 1
            if kind == HAS_ANY:
                break
    wanted = 1 if kind == HAS_ANY else stop - start
    return YES if (found >= wanted) != (residuals[r, 1] == 1) else NO


@inlined
def computed(
    kind: Any, e: Any, pair: Any, bits: Any, row: Any, constants: Any, numbers: Any, instants: Any
) -> Any:  # fmt: skip
    """Whether the values of a pair satisfy a residual with constants; for regions, `bits` is 1 if negated."""
    if kind == LINEAR:
        left = numbers[e, EXTREMES * pair]
        right = constants[row, 0] * numbers[e, EXTREMES * pair + 1] + constants[row, 1]
        return bits & (SAME if left == right else LESS if left < right else GREATER) != 0
    if kind == SHIFTED:
        ahead = instants[e, EXTREMES * pair] - instants[e, EXTREMES * pair + 1]
        span = np.int64(constants[row, 0]) * HALF + np.int64(constants[row, 1])
        return bits & (SAME if ahead == span else LESS if ahead < span else GREATER) != 0
    latitude, longitude = numbers[e, EXTREMES * pair], numbers[e, EXTREMES * pair + 1]
    return in_region(kind, bits == 1, row, constants, latitude, longitude)


@inlined
def verdict_of(
    e: Any, first: Any, last: Any, residuals: Any, pool: Any, least: Any, greatest: Any, starts: Any, stops: Any,
    sets: Any, relations: Any, constants: Any, numbers: Any, instants: Any, patterns: Any,
) -> Any:  # fmt: skip
    """Whether all residuals of a box hold."""
    verdict = YES
    for r in range(first, last):
        answer = holds(
            r, residuals, e, pool, least, greatest, starts, stops, sets, relations, constants, numbers, instants,
            patterns,
        )  # fmt: skip
        # Words that occur in several values together may not occur in a single one, so a NO proves nothing.
        if answer == NO and not (verdict & ASK and residuals[r, 0] == HAS_ALL and residuals[r, 1] == 1):
            return NO
        verdict |= answer
    return verdict


@kernel
def settle(
    event_offsets: Any, boxes: Any, number: Any, offsets: Any, dimension: Any, low: Any, high: Any,
    residual_offsets: Any, residuals: Any, pool: Any, constants: Any, shape_starts: Any, shape_steps: Any, events: Any,
    choices: Any, span_start: Any, span_stop: Any, stamp: Any, out_offsets: Any, out: Any, verify: Any,
) -> Any:  # fmt: skip
    """Turns boxes whose sides all match into subscription numbers: checks residuals and spans, and keeps each number
    once per event.

    `out` and `verify` are as long as `boxes`; `verify[i]` says that Python must check `out[i]`. Returns how many were
    written.
    """
    n = 0
    patterns = patterns_of(shape_starts, shape_steps, events)
    for e in range(len(event_offsets) - 1):
        out_offsets[e] = n
        for i in range(event_offsets[e], event_offsets[e + 1]):
            box = boxes[i]
            s = number[box]
            if stamp[s] == e + 1 or not span_start[s] <= events.positions[e] < span_stop[s]:
                continue
            first, last = residual_offsets[box], residual_offsets[box + 1]
            verdict = verdict_of(
                e, first, last, residuals, pool, events.least, events.greatest, events.set_starts, events.set_stops,
                events.sets, events.relations, constants, events.pair_numbers, events.pair_instants, patterns,
            )  # fmt: skip
            begin, end = offsets[box], offsets[box + 1]
            if verdict & ASK and not second_look(
                e, low[:0], dimension[:0], dimension[begin:end], low[begin:end], high[begin:end], first, last,
                residuals, pool, constants, choices,
            ):  # fmt: skip
                continue
            if verdict == NO:
                continue
            if not verdict & CHECK:
                stamp[s] = e + 1
            out[n] = s
            verify[n] = verdict & CHECK != 0
            n += 1
    out_offsets[len(event_offsets) - 1] = n
    return n
