"""Very large clusters that every event must search: processed block by block for all events of a batch, so that a
block's bitmaps and sides stay in the processor's cache (measured on rein, 1 M filters: 4 times faster than event by
event).

Matches come as pairs in block order and are merged with those found event by event.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.kernels.compiled import inlined, kernel
from tidings.language.relations import GREATER, LESS, SAME
from tidings.matching.bits import trailing_zeros
from tidings.matching.boxes.box_table import LINEAR, RELATED
from tidings.matching.boxes.event_table import EXTREMES
from tidings.matching.boxes.event_table import SEVERAL as SEVERAL_RELATIONS
from tidings.matching.boxes.residuals import ASK, CHECK, NO, YES, inside, patterns_of, verdict_of
from tidings.matching.boxes.second_look import second_look
from tidings.matching.index.access import MIXED
from tidings.matching.index.bitmaps import Bitmaps
from tidings.matching.index.index import Index
from tidings.matching.index.kernel import CANDIDATES, OPEN_MATCHES, needs_second_look, tidy
from tidings.matching.index.slices import within

SEVERAL = -1  # instead of a row: the event has several ordinals there


def blocked(index: Index, bitmaps: Bitmaps, fewest_boxes: int) -> list[tuple[int, int]]:
    """(group, index among the bitmaps) of the clusters that are processed in blocks."""
    found = []
    for place, cluster in enumerate(bitmaps.cluster.tolist()):
        group = int(np.searchsorted(index.first_cluster, cluster, side="right")) - 1
        keyless = index.access_offsets[group] == index.access_offsets[group + 1]
        size = int(index.cluster_start[cluster + 1] - index.cluster_start[cluster])
        if keyless and size >= fewest_boxes:
            found.append((group, place))
    return found


@kernel
def find_rows(place: Any, bitmaps: Any, events: Any, first: Any, last: Any, rows: Any) -> None:
    """The first word of its bucket's row, for each event and dimension of a cluster, or SEVERAL."""
    start = bitmaps.first_dimension[place]
    for e in range(first, last):
        for j in range(start, bitmaps.first_dimension[place + 1]):
            ordinal = events.least[e, bitmaps.dimension[j]]
            if ordinal != events.greatest[e, bitmaps.dimension[j]]:
                rows[e - first, j - start] = SEVERAL
                continue
            row = 0
            if ordinal >= 0:
                cuts = bitmaps.edges[bitmaps.first_edge[j] : bitmaps.first_edge[j + 1]]
                row = 1 + np.searchsorted(cuts, ordinal, side="right")
            rows[e - first, j - start] = bitmaps.first_word[j] + row * bitmaps.words_each[place]


@kernel
def find_in_blocks(
    group: Any, place: Any, index: Any, bitmaps: Any, events: Any, choices: Any, first: Any, last: Any, rows: Any,
    single: Any,
    block_words: Any, block_from: Any, counts: Any, pairs: Any, found: Any,
) -> Any:  # fmt: skip
    """Appends (event, number) pairs after the first `found[0]`; returns the first block that did not fit."""
    widths, mixed = np.int64(index.width[group]), index.answer[group] == MIXED
    first_box, first_side, first_mixed = index.first_box[group], index.first_side[group], index.first_mixed[group]
    mixed_offsets, side_dimension, low, high = index.mixed_offsets, index.side_dimension, index.low, index.high
    number, residual_set, set_offsets = index.number, index.residual_set, index.set_offsets
    residuals, pool, bits = index.residuals, index.pool, bitmaps.words
    least, greatest, relations = events.least, events.greatest, events.relations
    constants, numbers, instants = index.constants, events.pair_numbers, events.pair_instants
    patterns = patterns_of(index.shape_starts, index.shape_steps, events)
    starts, stops, sets = events.set_starts, events.set_stops, events.sets
    dimension, first_edge, edges, first_word = bitmaps.dimension, bitmaps.first_edge, bitmaps.edges, bitmaps.first_word
    cluster, first_row = bitmaps.cluster[place], bitmaps.first_dimension[place]
    start, stop = np.int64(index.cluster_start[cluster]), np.int64(index.cluster_start[cluster + 1])
    words, dimensions = bitmaps.words_each[place], rows.shape[1]
    compared, of_compared = choices.attributes, choices.dimension
    left, union = np.empty(block_words, np.uint64), np.empty(block_words, np.uint64)
    asked_for = np.empty(dimensions, np.int64)
    n = found[0]
    for block in range(block_from, (words + block_words - 1) // block_words):
        width = min(block_words, words - block * block_words)
        begin, open_before, candidates_before = n, counts[OPEN_MATCHES], counts[CANDIDATES]
        # Boxes are sorted by their dimensions, so a whole block may not test some of them.
        asks = 0
        for j in range(dimensions):
            if not all_set(bits, first_word[first_row + j] + block * block_words, width):
                asked_for[asks] = j
                asks += 1
        for e in range(first, last):
            left[:] = ~np.uint64(0)
            ordinals = least[e]
            j = 0
            while j < asks:
                a = rows[e - first, asked_for[j]]
                if a < 0:
                    at = first_row + asked_for[j]
                    dim = dimension[at]
                    cuts = edges[first_edge[at] : first_edge[at + 1]]
                    union[:] = 0
                    for s in range(starts[e, dim], stops[e, dim]):
                        row = 1 + np.searchsorted(cuts, sets[s], side="right")
                        add_row(union, width, first_word[at] + row * words + block * block_words, bits)
                    for w in range(block_words):
                        left[w] &= union[w]
                    j += 1
                    continue
                b = rows[e - first, asked_for[j + 1]] if j + 1 < asks else a
                c = rows[e - first, asked_for[j + 2]] if j + 2 < asks else a
                d = rows[e - first, asked_for[j + 3]] if j + 3 < asks else a
                if min(b, c, d) >= 0:
                    keep_four(left, width, block * block_words, a, b, c, d, bits)
                    j += 4
                else:
                    keep_four(left, width, block * block_words, a, a, a, a, bits)
                    j += 1
            for w in range(width):
                word = left[w]
                while word:
                    box = start + (block * block_words + w) * 64 + trailing_zeros(word)
                    word &= word - np.uint64(1)
                    if box >= stop:
                        break
                    counts[CANDIDATES] += 1
                    if mixed:
                        side = mixed_offsets[first_mixed + box - first_box]
                        end = mixed_offsets[first_mixed + box - first_box + 1]
                    else:
                        side = first_side + (box - first_box) * widths
                        end = side + widths
                    sides_from = side
                    if single[e]:
                        # The bits guarantee that every dimension is bound, so one comparison per side is enough,
                        # without a branch.
                        fits = True
                        for i in range(np.uint64(side), np.uint64(end)):
                            fits &= within(ordinals[np.uint64(side_dimension[i])], low[i], high[i])
                        if fits:
                            side = end
                    while side < end and not single[e]:
                        dim = side_dimension[side]
                        ordinal = least[e, dim]
                        if ordinal == greatest[e, dim]:
                            if ordinal < 0 or not within(ordinal, low[side], high[side]):
                                break
                        elif low[side] > high[side]:
                            if ordinal >= high[side] and greatest[e, dim] < low[side]:
                                break
                        elif not inside(e, dim, low[side], high[side], least, greatest, starts, stops, sets):
                            break
                        side += 1
                    if side < end:
                        continue
                    verdict = YES
                    if len(residual_set) and residual_set[box]:
                        r, last_r = set_offsets[residual_set[box]], set_offsets[residual_set[box] + 1]
                        while r < last_r and verdict == YES:  # inline, as in `find_matches`
                            dim = residuals[r, 2]
                            several = (
                                relations[e, dim] & SEVERAL_RELATIONS if residuals[r, 0] in (RELATED, LINEAR) else 0
                            )
                            if residuals[r, 0] == RELATED and not relations[e, dim] & residuals[r, 3]:
                                verdict = NO
                            elif residuals[r, 0] == RELATED and not several:
                                pass
                            elif residuals[r, 0] == LINEAR and not several:
                                constant = residuals[r, 3]
                                one = numbers[e, EXTREMES * dim]
                                two = numbers[e, EXTREMES * dim + 1]
                                two = constants[constant, 0] * two + constants[constant, 1]
                                bit = SAME if one == two else LESS if one < two else GREATER
                                if relations[e, dim] == 0 or not bit & residuals[r, 1]:
                                    verdict = NO
                            else:
                                break
                            r += 1
                        if r < last_r and verdict == YES:
                            verdict = verdict_of(
                                e, r, last_r, residuals, pool, least, greatest, starts, stops, sets, relations,
                                constants, numbers, instants, patterns,
                            )  # fmt: skip
                        if verdict & ASK and needs_second_look(
                            e, set_offsets[residual_set[box]], last_r, residuals, constants, relations, numbers,
                            instants, side_dimension, 0, 0, side_dimension, low, high, sides_from, side, compared,
                            of_compared,
                        ):  # fmt: skip
                            if not second_look(
                                e, low[:0], side_dimension[:0], side_dimension[sides_from:side], low[sides_from:side],
                                high[sides_from:side], set_offsets[residual_set[box]], last_r, residuals, pool,
                                constants, choices,
                            ):  # fmt: skip
                                verdict = NO
                    if verdict == NO:
                        continue
                    if n == len(pairs):
                        found[0], counts[OPEN_MATCHES], counts[CANDIDATES] = begin, open_before, candidates_before
                        return block
                    pairs[n, 0] = e
                    pairs[n, 1] = ~number[box] if verdict & CHECK else number[box]
                    counts[OPEN_MATCHES] += verdict & CHECK != 0
                    n += 1
    found[0] = n
    return (words + block_words - 1) // block_words


@inlined
def keep_four(left: Any, width: Any, at: Any, a: Any, b: Any, c: Any, d: Any, bits: Any) -> None:
    """left &= four rows at once. Unsigned indices need no check for negative values, so the loop is vectorised."""
    first, second = np.uint64(a + at), np.uint64(b + at)
    third, fourth = np.uint64(c + at), np.uint64(d + at)
    for w in range(np.uint64(width)):
        left[w] &= bits[first + w] & bits[second + w] & bits[third + w] & bits[fourth + w]


@inlined
def all_set(bits: Any, at: Any, width: Any) -> Any:
    """Whether no box of a block tests a dimension: then the row for unbound events has every bit."""
    for w in range(width):
        if bits[at + w] != ~np.uint64(0):
            return False
    return True


@inlined
def add_row(union: Any, width: Any, at: Any, bits: Any) -> None:
    first = np.uint64(at)
    for w in range(np.uint64(width)):
        union[w] |= bits[first + w]


@kernel
def weave(
    first: Any, last: Any, offsets: Any, out: Any, pairs: Any, positions: Any, span_start: Any, span_stop: Any,
    closed: Any, stamp: Any, cursor: Any, woven_offsets: Any, woven: Any,
) -> None:  # fmt: skip
    """Merges the matches found event by event with those found in blocks; keeps those within their spans, each number
    once."""
    for i in range(len(pairs)):
        cursor[pairs[i, 0] - first + 1] += 1
    for e in range(last - first):
        cursor[e + 1] += cursor[e] + offsets[first + e + 1] - offsets[first + e]
    ends = cursor.copy()
    for e in range(last - first):
        for i in range(offsets[first + e], offsets[first + e + 1]):
            woven[ends[e]] = out[i]
            ends[e] += 1
    for i in range(len(pairs)):
        e = pairs[i, 0] - first
        woven[ends[e]] = pairs[i, 1]
        ends[e] += 1
    n = 0
    for e in range(last - first):
        begin = n
        for i in range(cursor[e], ends[e]):
            woven[n] = woven[i]
            n += 1
        if len(span_start) or len(stamp):
            n = tidy(first + e, begin, n, positions[first + e], span_start, span_stop, closed, stamp, woven)
        woven_offsets[e + 1] = n
