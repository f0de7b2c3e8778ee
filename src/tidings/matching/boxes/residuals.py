"""The kernels that every index shares: does an event lie inside a side, do a box's residuals hold, which
subscriptions remain.

They work on the arrays of `EventTable` and `BoxTable`; nothing here knows how the boxes were found.
"""

from __future__ import annotations

from typing import Any

from tidings.matching.boxes.box_table import HAS_ALL, HAS_ANY, IN_RANGES, RELATED, UNBOUND_AXIS, VERIFY
from tidings.matching.boxes.event_table import SEVERAL
from tidings.matching.compiled import inlined, kernel

NO, YES, ASK = 0, 1, 2  # ASK: only the specification knows


@inlined
def inside(e: Any, d: Any, low: Any, high: Any, least: Any, greatest: Any, starts: Any, stops: Any, sets: Any) -> Any:
    """Whether one of event e's ordinals in dimension d lies in [low, high)."""
    smallest, largest = least[e, d], greatest[e, d]
    if largest < low or smallest >= high:
        return False
    if smallest >= low or largest < high:
        return True
    for i in range(starts[e, d], stops[e, d]):
        if low <= sets[i] < high:
            return True
    return False


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
) -> Any:
    """Whether residual r (kind, negated, first, start, stop) is true of event e.

    It is read entry by entry: a view of the row would be counted in and out each time (measured: 200 ns).
    """
    kind, d, start, stop = residuals[r, 0], residuals[r, 2], residuals[r, 3], residuals[r, 4]
    if kind == RELATED:
        if relations[e, d] == SEVERAL:
            return ASK
        return YES if relations[e, d] & start else NO
    if kind == VERIFY:
        return ASK
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
def verdict_of(
    e: Any, first: Any, last: Any, residuals: Any, pool: Any, least: Any, greatest: Any, starts: Any, stops: Any,
    sets: Any, relations: Any,
) -> Any:  # fmt: skip
    """Whether all residuals of a box hold: YES, NO or ASK."""
    verdict = YES
    for r in range(first, last):
        answer = holds(r, residuals, e, pool, least, greatest, starts, stops, sets, relations)
        if answer == ASK:
            verdict = ASK
        elif answer == NO:
            # Words that occur together in several values may not do so in one: that NO proves nothing.
            if not (verdict == ASK and residuals[r, 0] == HAS_ALL and residuals[r, 1] == 1):
                return NO
    return verdict


@kernel
def settle(
    event_offsets: Any,
    boxes: Any,
    number: Any,
    residual_offsets: Any,
    residuals: Any,
    pool: Any,
    least: Any,
    greatest: Any,
    starts: Any,
    stops: Any,
    sets: Any,
    relations: Any,
    positions: Any,
    span_start: Any,
    span_stop: Any,
    stamp: Any,
    out_offsets: Any,
    out: Any,
    ask: Any,
) -> Any:
    """From boxes whose sides all fit to subscription numbers: residuals, spans, each number once an event.

    `out` and `ask` are as long as `boxes`; `ask[i]` tells that `out[i]` is for the specification to decide.
    Returns how many were written.
    """
    n = 0
    for e in range(len(event_offsets) - 1):
        out_offsets[e] = n
        for i in range(event_offsets[e], event_offsets[e + 1]):
            box = boxes[i]
            s = number[box]
            if not span_start[s] <= positions[e] < span_stop[s]:
                continue
            verdict = verdict_of(
                e, residual_offsets[box], residual_offsets[box + 1], residuals, pool, least, greatest, starts, stops,
                sets, relations,
            )  # fmt: skip
            if verdict == NO or stamp[s] == e + 1:
                continue
            if verdict == YES:
                stamp[s] = e + 1
            out[n] = s
            ask[n] = verdict == ASK
            n += 1
    out_offsets[len(event_offsets) - 1] = n
    return n
