"""The kernel of the default algorithm: for each event, searches the groups and writes the matching subscriptions.

It reads only arrays of `Index`, `Bitmaps` or an event table. When the output is full, it stops and returns the event,
so that the caller can provide more room and resume. Arrays are unpacked from their tuples once, at the top: passing a
tuple inside the loop costs more than the work (measured on le-subscribe: 110 ns per match).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.kernels.compiled import inlined, kernel
from tidings.language.relations import ANY_RELATION, GREATER, LESS, SAME
from tidings.matching.boxes.box_table import IN_RANGES, LINEAR, PATTERN, RELATED, SHIFTED
from tidings.matching.boxes.chosen_values import CERTAIN, by_extremes, restricts_neither
from tidings.matching.boxes.event_table import EXTREMES, SEVERAL
from tidings.matching.boxes.residuals import ASK, CHECK, NO, YES, inside, patterns_of, verdict_of
from tidings.matching.boxes.second_look import second_look
from tidings.matching.boxes.texts.pattern_kernel import some_text_fits
from tidings.matching.index.access import ALL, BOTH, BOUND, LOWER, MIXED, PREFIX, ROWS, SUFFIX, UPPER
from tidings.matching.index.bitmap_rows import intersect_rows, next_candidate
from tidings.matching.index.cluster_lookup import bound_dimensions, find_cluster, look_ahead
from tidings.matching.index.cluster_tests import BITS, NOTHING
from tidings.matching.index.slices import (
    copy,
    copy_inside,
    copy_inside_both,
    copy_linear,
    first_above,
    places_inside,
    within,
)

CANDIDATES, TESTED, OPEN_MATCHES, ASKED = COUNTED = range(4)  # indices in `counts`
MARKS = 1 << 16  # bits: 8 KB stay in the processor's nearest cache


@kernel
def find_matches(
    index: Any, bitmaps: Any, events: Any, choices: Any, first: Any, last: Any, stamp: Any, span_start: Any,
    span_stop: Any, closed: Any, blocked_from: Any, most_combinations: Any, accumulator: Any, counts: Any,
    out_offsets: Any, out: Any,
) -> Any:  # fmt: skip
    """Matches the events [first, last) and appends to `out`; returns the first event that did not fit.

    `stamp` is empty if each subscription has one box. The spans are empty if all of them cover the whole batch; if only
    some may not, `closed` marks them. A match that Python must still verify is written as ~number."""
    needs, answers, access_offsets, access = index.needs, index.answer, index.access_offsets, index.access
    first_cluster, first_key, first_box = index.first_cluster, index.first_key, index.first_box
    first_side, widths, sorted_by = index.first_side, index.width, index.sorted_by
    first_mixed, mixed_offsets, cluster_start = index.first_mixed, index.mixed_offsets, index.cluster_start
    keys, slots, number = index.keys, index.slots, index.number
    side_dimension, low, high = index.side_dimension, index.low, index.high
    residual_set, set_offsets, residuals, pool = index.residual_set, index.set_offsets, index.residuals, index.pool
    cluster_test, linear = index.cluster_test, index.linear
    bit_cluster, bit_words = bitmaps.cluster, bitmaps.words
    least, greatest, relations = events.least, events.greatest, events.relations
    constants, numbers, instants = index.constants, events.pair_numbers, events.pair_instants
    patterns = patterns_of(index.shape_starts, index.shape_steps, events)
    starts, stops, sets = events.set_starts, events.set_stops, events.sets
    has_residuals = len(residual_set) > 0
    compared, of_compared, row_of = choices.attributes, choices.dimension, choices.row
    shape_starts, shape_steps, text_starts, text_stops = patterns[0], patterns[1], patterns[2], patterns[3]
    has_patterns = len(shape_steps) > 0 and len(text_starts) > 0
    seen = np.zeros(MARKS // 64 if has_patterns else 0, np.uint64)  # terms of the event, by the last bits of a hash
    parts = np.zeros(least.shape[1], np.uint64)
    met = np.ones(len(needs), np.uint64)
    n = out_offsets[first]
    for e in range(first, last):
        bound, single = bound_dimensions(least, greatest, e, parts)
        look_ahead(bound, single, needs, access_offsets, access, slots, parts, met)
        begin = n
        if has_patterns:
            mark_terms(e, least, text_starts, text_stops, patterns, seen)
        for group in range(len(needs)):
            if needs[group] & ~bound or met[group] == 0:
                continue
            access_from, access_to = access_offsets[group], access_offsets[group + 1]
            combinations, most = 1, max(most_combinations, first_cluster[group + 1] - first_cluster[group])
            for a in range(access_from, access_to):
                d = access[a]
                if least[e, d] < 0:
                    combinations = 0
                elif least[e, d] != greatest[e, d] and combinations <= most:
                    combinations *= stops[e, d] - starts[e, d]
            # An event with many values may have more keys than there are clusters; then all clusters are scanned.
            every = combinations > most
            if every:
                combinations = first_cluster[group + 1] - first_cluster[group]
            for combination in range(combinations):
                cluster = first_cluster[group]
                if every:
                    cluster += combination
                    key = first_key[group] + combination * (access_to - access_from)
                    same = True
                    for a in range(access_from, access_to):
                        ordinal = keys[key + a - access_from]
                        same &= inside(e, access[a], ordinal, ordinal + 1, least, greatest, starts, stops, sets)
                    if not same:
                        continue
                elif access_from < access_to:
                    cluster = find_cluster(
                        e, group, combination, access_from, access_to, access, first_cluster, first_key, keys, slots,
                        parts, least, greatest, starts, stops, sets,
                    )  # fmt: skip
                    if cluster < 0:
                        continue
                start, stop = np.int64(cluster_start[cluster]), np.int64(cluster_start[cluster + 1])
                if access_from == access_to and stop - start >= blocked_from and len(bit_cluster):
                    place = np.searchsorted(bit_cluster, cluster)
                    if place < len(bit_cluster) and bit_cluster[place] == cluster:
                        continue  # left to `blocks.py`
                if n + stop - start > len(out):
                    return e
                answer, width, how = answers[group], np.int64(widths[group]), sorted_by[group]
                base, origin = first_side[group], first_box[group]
                if how == LOWER or how == BOTH:  # sorted by lower bound: only the first boxes can match
                    ordinal = greatest[e, side_dimension[base]]
                    stop = first_above(low, base - origin * width, width, start, stop, ordinal)
                elif how == UPPER:  # sorted by upper bound: only the last ones can match
                    ordinal = least[e, side_dimension[base]]
                    if ordinal < 0:
                        continue
                    start = first_above(high, base - origin * width, width, start, stop, ordinal)
                if answer == ALL or answer == PREFIX or answer == SUFFIX:
                    n = copy(number, start, stop, out, n)
                    continue
                if start == stop:
                    continue
                plain = not has_residuals or residual_set[start] == 0  # a group's boxes are alike
                test = cluster_test[cluster] if has_residuals and answer == ROWS else NOTHING
                relation = NOTHING if test == NOTHING else relations[e, abs(test) >> BITS]
                if test != NOTHING:
                    possible = relation & ANY_RELATION
                    if possible == 0 or (test < NOTHING and not possible & -test):
                        continue
                    plain |= test < NOTHING and (
                        not relation & SEVERAL
                        or restricts_neither(
                            -test >> BITS,
                            access,
                            access_from,
                            access_to,
                            side_dimension,
                            low,
                            high,
                            base,
                            base + width,
                            False,
                            compared,
                            of_compared,
                        )
                    )
                alike = plain or (test > NOTHING and not relation & SEVERAL)
                if alike and answer == ROWS and width <= 3 and (width == 0 or (how != BOTH and how != BOUND)):
                    second, third, one_each = np.int32(0), np.int32(0), True
                    if width > 1:
                        d, f = side_dimension[base + 1], side_dimension[base + width - 1]
                        second, third = least[e, d], least[e, f]
                        one_each = second == greatest[e, d] and second >= 0 and third == greatest[e, f] and third >= 0
                    if one_each:
                        first_sides = base - origin * width
                        if test > NOTHING:
                            n = copy_linear(
                                number, low, high, first_sides, width, start, stop, second, third, linear,
                                numbers[e, EXTREMES * (test >> BITS)], numbers[e, EXTREMES * (test >> BITS) + 1], test,
                                out, n,
                            )  # fmt: skip
                        elif width < 2:
                            n = copy(number, start, stop, out, n)
                        elif width == 2:
                            n = copy_inside(number, low, high, first_sides, start, stop, second, out, n)
                        else:
                            n = copy_inside_both(number, low, high, first_sides, start, stop, second, third, out, n)
                        counts[CANDIDATES] += stop - start
                        continue
                # With residuals, boxes whose sides hold are listed first, without a branch, where matches will be.
                listed, at, listed_to = False, n, n
                if (width == 1 or width == 2) and (how == LOWER or how == UPPER) and stop > start:
                    second = least[e, side_dimension[base + width - 1]]
                    if width == 1 or (second >= 0 and second == greatest[e, side_dimension[base + 1]]):
                        listed = True
                        listed_to = places_inside(low, high, base - origin * width, width, start, stop, second, out, n)
                        counts[CANDIDATES] += stop - start
                known_set, known_verdict = np.int64(-1), NO  # boxes side by side often share their residuals
                words = 0
                if not listed and stop - start > 1 and len(bit_cluster):
                    place = np.searchsorted(bit_cluster, cluster)
                    if place < len(bit_cluster) and bit_cluster[place] == cluster:
                        start, stop = np.int64(cluster_start[cluster]), np.int64(cluster_start[cluster + 1])
                        words = bitmaps.words_each[place]
                        before = n
                        n = intersect_rows(
                            accumulator, words, place, bitmaps.first_dimension, bitmaps.dimension, bitmaps.first_edge,
                            bitmaps.edges, bitmaps.first_word, bitmaps.first_plain, bit_words, e, least, greatest,
                            starts, stops, sets, number[start:stop], out, n,
                        )  # fmt: skip
                        counts[CANDIDATES] += n - before
                box = start - 1
                while True:
                    side, end = np.int64(0), np.int64(0)
                    if listed:
                        if at == listed_to:
                            break
                        box = np.int64(out[at])
                        at += 1
                    else:
                        box = next_candidate(box + 1, start, stop, words, accumulator)
                        if box >= stop:
                            break
                        counts[CANDIDATES] += 1
                        if answer == MIXED:
                            side = mixed_offsets[first_mixed[group] + box - origin]
                            end = mixed_offsets[first_mixed[group] + box - origin + 1]
                        else:
                            side = base + (box - origin) * width
                            end = side + width
                        counts[TESTED] += end - side
                    # Inlined by hand: a function that takes these arrays would halve the rate (measured on flights).
                    sides_from, sides_to = base + (box - origin) * width, base + (box - origin + 1) * width
                    if answer == MIXED:
                        sides_from, sides_to = side, end
                    while side < end:
                        d = side_dimension[side]
                        ordinal = least[e, d]
                        if single or ordinal == greatest[e, d]:
                            if ordinal < 0 or not within(ordinal, low[side], high[side]):
                                break
                        elif low[side] > high[side]:
                            if ordinal >= high[side] and greatest[e, d] < low[side]:
                                break
                        elif not inside(e, d, low[side], high[side], least, greatest, starts, stops, sets):
                            break
                        side += 1
                    if side < end:
                        continue
                    verdict = YES
                    if has_residuals and residual_set[box] == known_set:
                        verdict = known_verdict
                    elif has_residuals:
                        # The frequent kinds are tested inline: a call with this many arrays costs 200 ns.
                        r, last_r = set_offsets[residual_set[box]], set_offsets[residual_set[box] + 1]
                        while r < last_r and verdict == YES:
                            kind, d = residuals[r, 0], residuals[r, 2]
                            if kind == IN_RANGES:
                                ordinal = least[e, d]
                                if ordinal != greatest[e, d]:
                                    break
                                verdict = NO
                                for i in range(residuals[r, 3], residuals[r, 4], 2):
                                    if pool[i] <= ordinal < pool[i + 1]:
                                        verdict = YES
                            elif kind == RELATED:
                                if not relations[e, d] & residuals[r, 3]:
                                    verdict = NO
                                elif relations[e, d] & SEVERAL:
                                    break
                            elif kind == PATTERN and has_patterns:
                                shape, verdict = residuals[r, 1], YES if least[e, d] >= 0 else NO
                                for i in range(
                                    residuals[r, 3], residuals[r, 3] + shape_steps[shape_starts[shape >> 1]]
                                ):
                                    mark = mark_of(d, pool[i])
                                    if not seen[mark >> 6] >> np.uint64(mark & 63) & np.uint64(1):
                                        verdict = NO
                                        break
                                if verdict == YES and not some_text_fits(
                                    e, d, shape >> 1, residuals[r, 3], pool, patterns
                                ):
                                    verdict = NO
                                if shape & 1 and least[e, d] >= 0:
                                    verdict = NO if verdict == YES else YES
                            elif kind == LINEAR:
                                if relations[e, d] & SEVERAL:
                                    break
                                c = residuals[r, 3]
                                left = numbers[e, EXTREMES * d]
                                right = constants[c, 0] * numbers[e, EXTREMES * d + 1] + constants[c, 1]
                                bit = SAME if left == right else LESS if left < right else GREATER
                                if relations[e, d] == 0 or not bit & residuals[r, 1]:
                                    verdict = NO
                            else:
                                break
                            r += 1
                        if r < last_r and verdict == YES:
                            verdict = verdict_of(
                                e, r, last_r, residuals, pool, least, greatest, starts, stops, sets, relations,
                                constants, numbers, instants, patterns,
                            )  # fmt: skip
                        if verdict & ASK == 0:
                            known_set, known_verdict = np.int64(residual_set[box]), verdict
                        elif not needs_second_look(
                            e, set_offsets[residual_set[box]], last_r, residuals, constants, relations, numbers,
                            instants, access, access_from, access_to, side_dimension, low, high, sides_from, sides_to,
                            compared, of_compared,
                        ):  # fmt: skip
                            verdict = YES
                        elif row_of[e] < 0:  # one event, without its choices
                            verdict |= CHECK
                            counts[ASKED] += 1
                        else:
                            key = first_key[group] + (cluster - first_cluster[group]) * (access_to - access_from)
                            if not second_look(
                                e, keys[key : key + access_to - access_from], access[access_from:access_to],
                                side_dimension[sides_from:sides_to], low[sides_from:sides_to],
                                high[sides_from:sides_to], set_offsets[residual_set[box]], last_r, residuals, pool,
                                constants, choices,
                            ):  # fmt: skip
                                verdict = NO
                    if verdict != NO:
                        out[n] = ~number[box] if verdict & CHECK else number[box]
                        counts[OPEN_MATCHES] += verdict & CHECK != 0
                        n += 1
        if len(span_start) or len(stamp):
            n = tidy(e, begin, n, events.positions[e], span_start, span_stop, closed, stamp, out)
        out_offsets[e + 1] = n
    return last


@inlined
def needs_second_look(
    e: Any, first: Any, last: Any, residuals: Any, constants: Any, relations: Any, numbers: Any, instants: Any,
    access: Any, access_from: Any, access_to: Any, side_dimension: Any, low: Any, high: Any, sides_from: Any,
    sides_to: Any, compared: Any, of_compared: Any,
) -> Any:  # fmt: skip
    """Whether a box that is not yet decided needs a second look: not if it makes one comparison, which some values are
    known to satisfy, and allows all values of both attributes (measured: a second look takes 0.5 µs)."""
    if last - first > 1:
        return True
    kind, pair = residuals[first, 0], residuals[first, 2]
    if kind == LINEAR or kind == SHIFTED:
        bits, row = residuals[first, 1], residuals[first, 3]
        if by_extremes(kind, e, pair, bits, row, constants, numbers, instants) != CERTAIN:
            return True
    elif kind != RELATED or not relations[e, pair] & SEVERAL or not relations[e, pair] & residuals[first, 3]:
        return True
    return not restricts_neither(
        pair,
        access,
        access_from,
        access_to,
        side_dimension,
        low,
        high,
        sides_from,
        sides_to,
        True,
        compared,
        of_compared,
    )


@inlined
def mark_of(d: Any, term: Any) -> Any:
    return (np.int64(term) * 31 + np.int64(d) * 7919) & (MARKS - 1)


@inlined
def mark_terms(e: Any, least: Any, text_starts: Any, text_stops: Any, patterns: Any, seen: Any) -> None:
    """Marks the terms of event e, so that a pattern without one of its required terms is dropped at once."""
    texts, entry_offsets, terms = patterns[4], patterns[5], patterns[6]
    seen[:] = 0
    for d in range(least.shape[1]):
        for value in range(text_starts[e, d], text_stops[e, d]):
            for entry in range(entry_offsets[texts[value]], entry_offsets[texts[value] + 1]):
                mark = mark_of(d, terms[entry])
                seen[mark >> 6] |= np.uint64(1) << np.uint64(mark & 63)


@inlined
def tidy(
    e: Any, begin: Any, end: Any, position: Any, span_start: Any, span_stop: Any, closed: Any, stamp: Any, out: Any
) -> Any:
    """Keeps the matches of one event whose span contains its position, each subscription once; matches that Python must
    verify may repeat."""
    n = begin
    for i in range(begin, end):
        number = out[i] if out[i] >= 0 else ~out[i]
        tested = len(span_start) and (len(closed) == 0 or closed[number])
        if tested and not span_start[number] <= position < span_stop[number]:
            continue
        if len(stamp):
            if stamp[number] == e + 1:
                continue
            if out[i] >= 0:
                stamp[number] = e + 1
        out[n] = out[i]
        n += 1
    return n
