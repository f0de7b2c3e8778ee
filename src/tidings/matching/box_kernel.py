"""The kernel of the default algorithm: for each event, walk the groups and write the subscriptions that match.

Everything it reads is an array of `Index`, `Bitmaps` or `EventTable`. It stops when the output is full and says at which event,
so that the caller can give it more room and go on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.matching.access import ALL, BOTH, LOWER, MIXED, PREFIX, SUFFIX, UPPER, mix
from tidings.matching.compiling import kernel
from tidings.matching.residuals import ASK, NO, inside, verdict_of

CANDIDATES, TESTED, ASKED = 0, 1, 2  # places in `counts`


@kernel
def find_matches(
    index: Any, bitmaps: Any, events: Any, first: Any, last: Any, stamp: Any, spans: Any, closed: Any,
    accumulator: Any, counts: Any, asked: Any, out_offsets: Any, out: Any,
) -> Any:  # fmt: skip
    """Matches the events [first, last); returns the first event that did not fit into `out`.

    `stamp` is empty where each subscription has one box; `spans` is empty where all spans hold the whole batch, and where
    only some may not, `closed` marks them.
    """
    least, greatest = events.least, events.greatest
    n = 0
    out_offsets[first] = 0
    dimensions = min(least.shape[1], 64)
    for e in range(first, last):
        bound = np.uint64(0)
        for d in range(dimensions):
            if least[e, d] >= 0:
                bound |= np.uint64(1) << np.uint64(d)
        begin = n
        asked_before = counts[ASKED]
        for group in range(len(index.needs)):
            if index.needs[group] & ~bound:
                continue
            access_from, access_to = index.access_offsets[group], index.access_offsets[group + 1]
            combinations = 1
            for a in range(access_from, access_to):
                d = index.access[a]
                if least[e, d] != greatest[e, d]:
                    combinations *= events.set_stops[e, d] - events.set_starts[e, d]
                elif least[e, d] < 0:
                    combinations = 0
            for combination in range(combinations):
                cluster = find_cluster(index, events, e, group, combination)
                if cluster < 0:
                    continue
                size = index.cluster_start[cluster + 1] - index.cluster_start[cluster]
                if n + size > len(out):
                    counts[ASKED] = asked_before
                    return e
                n = take_cluster(index, bitmaps, events, e, group, cluster, accumulator, counts, asked, out, n)
        if len(spans) or len(stamp):
            n = tidy(e, begin, n, events.positions[e], spans, closed, stamp, out)
        out_offsets[e + 1] = n
    return last


@kernel
def find_cluster(index: Any, events: Any, e: Any, group: Any, combination: Any) -> Any:
    """The cluster of a group whose key is the event's (its n-th combination of values, where it has several); -1."""
    access_from, access_to = index.access_offsets[group], index.access_offsets[group + 1]
    if access_from == access_to:
        return index.first_cluster[group]
    h = mix(np.uint64(group + 1))
    rest = combination
    for a in range(access_from, access_to):
        d = index.access[a]
        ordinal = events.least[e, d]
        if ordinal != events.greatest[e, d]:
            many = events.set_stops[e, d] - events.set_starts[e, d]
            ordinal = events.sets[events.set_starts[e, d] + rest % many]
            rest //= many
        h = mix(h ^ np.uint64(ordinal + 1) * np.uint64(0x9E3779B97F4A7C15))
    last = np.uint64(len(index.clusters) - 1)
    mark = np.uint32(h >> np.uint64(32))
    slot = h & last
    while index.clusters[slot] != 0:
        if index.marks[slot] == mark:
            cluster = index.clusters[slot] - 1
            if index.first_cluster[group] <= cluster < index.first_cluster[group + 1]:
                key = index.first_key[group] + (cluster - index.first_cluster[group]) * (access_to - access_from)
                same = True
                rest = combination
                for a in range(access_from, access_to):
                    d = index.access[a]
                    ordinal = events.least[e, d]
                    if ordinal != events.greatest[e, d]:
                        many = events.set_stops[e, d] - events.set_starts[e, d]
                        ordinal = events.sets[events.set_starts[e, d] + rest % many]
                        rest //= many
                    if index.keys[key] != ordinal:
                        same = False
                        break
                    key += 1
                if same:
                    return np.int64(cluster)
        slot = (slot + np.uint64(1)) & last
    return np.int64(-1)


@kernel
def take_cluster(
    index: Any, bitmaps: Any, events: Any, e: Any, group: Any, cluster: Any, accumulator: Any, counts: Any,
    asked: Any, out: Any, n: Any,
) -> Any:  # fmt: skip
    """Writes those boxes of a cluster that the event satisfies; returns the new end of `out`."""
    start, stop = np.int64(index.cluster_start[cluster]), np.int64(index.cluster_start[cluster + 1])
    answer, width, how = index.answer[group], index.width[group], index.sorted_by[group]
    base = index.first_side[group]
    if how == LOWER or how == BOTH or how == UPPER:
        # Sorted by the first side's bound: only a run of the boxes can fit.
        d = index.side_dimension[base]
        left, right = start, stop
        ordinal = events.least[e, d] if how == UPPER else events.greatest[e, d]
        bounds = index.high if how == UPPER else index.low
        while left < right:
            middle = (left + right) >> 1
            if bounds[base + (middle - index.first_box[group]) * width] <= ordinal:
                left = middle + 1
            else:
                right = middle
        if how == UPPER:
            start = left
        else:
            stop = left
    if answer == ALL or answer == PREFIX or answer == SUFFIX:
        for i in range(start, stop):
            out[n + i - start] = index.number[i]
        return n + stop - start
    if len(bitmaps.cluster):
        place = np.searchsorted(bitmaps.cluster, cluster)
        if place < len(bitmaps.cluster) and bitmaps.cluster[place] == cluster:
            return take_bits(index, bitmaps, events, e, group, cluster, place, accumulator, counts, asked, out, n)
    counts[CANDIDATES] += stop - start
    for box in range(start, stop):
        n = take_box(index, events, e, group, box, counts, asked, out, n)
    return n


@kernel
def take_bits(
    index: Any, bitmaps: Any, events: Any, e: Any, group: Any, cluster: Any, place: Any, accumulator: Any,
    counts: Any, asked: Any, out: Any, n: Any,
) -> Any:  # fmt: skip
    """Intersects the rows of the event's buckets and tests what is left."""
    words = bitmaps.words_each[place]
    start = np.int64(index.cluster_start[cluster])
    rows = accumulator[:words]
    one = accumulator[words : 2 * words]
    rows[:] = ~np.uint64(0)
    for j in range(bitmaps.first_dimension[place], bitmaps.first_dimension[place + 1]):
        d = bitmaps.dimension[j]
        cuts = bitmaps.edges[bitmaps.first_edge[j] : bitmaps.first_edge[j + 1]]
        base = bitmaps.first_word[j]
        smallest, largest = events.least[e, d], events.greatest[e, d]
        if smallest == largest:
            row = 0 if smallest < 0 else 1 + np.searchsorted(cuts, smallest, side="right")
            source = bitmaps.words[base + row * words : base + (row + 1) * words]
            for w in range(words):
                rows[w] &= source[w]
            continue
        one[:] = 0
        for s in range(events.set_starts[e, d], events.set_stops[e, d]):
            row = 1 + np.searchsorted(cuts, events.sets[s], side="right")
            source = bitmaps.words[base + row * words : base + (row + 1) * words]
            for w in range(words):
                one[w] |= source[w]
        for w in range(words):
            rows[w] &= one[w]
    stop = np.int64(index.cluster_start[cluster + 1])
    for w in range(words):
        left = rows[w]
        while left:
            low_bit = left & (~left + np.uint64(1))
            left ^= low_bit
            box = start + w * 64 + trailing_zeros(low_bit)
            if box < stop:
                counts[CANDIDATES] += 1
                n = take_box(index, events, e, group, box, counts, asked, out, n)
    return n


@kernel
def trailing_zeros(bit: Any) -> Any:
    """The place of a single set bit."""
    place = 0
    if bit & np.uint64(0xFFFFFFFF00000000):
        place += 32
    if bit & np.uint64(0xFFFF0000FFFF0000):
        place += 16
    if bit & np.uint64(0xFF00FF00FF00FF00):
        place += 8
    if bit & np.uint64(0xF0F0F0F0F0F0F0F0):
        place += 4
    if bit & np.uint64(0xCCCCCCCCCCCCCCCC):
        place += 2
    if bit & np.uint64(0xAAAAAAAAAAAAAAAA):
        place += 1
    return place


@kernel
def take_box(
    index: Any, events: Any, e: Any, group: Any, box: Any, counts: Any, asked: Any, out: Any, n: Any
) -> Any:
    """Tests the sides and residuals of one box."""
    within = box - index.first_box[group]
    if index.answer[group] == MIXED:
        first = index.mixed_offsets[index.first_mixed[group] + within]
        last = index.mixed_offsets[index.first_mixed[group] + within + 1]
    else:
        first = index.first_side[group] + within * index.width[group]
        last = first + index.width[group]
    for side in range(first, last):
        counts[TESTED] += 1
        d = index.side_dimension[side]
        ordinal = events.least[e, d]
        if ordinal == events.greatest[e, d]:
            if ordinal < index.low[side] or ordinal >= index.high[side]:
                return n
        elif not inside(
            e, d, index.low[side], index.high[side], events.least, events.greatest, events.set_starts,
            events.set_stops, events.sets,
        ):  # fmt: skip
            return n
    if len(index.residual_offsets):
        verdict = verdict_of(
            e, index.residual_offsets[box], index.residual_offsets[box + 1], index.residuals, index.pool,
            events.least, events.greatest, events.set_starts, events.set_stops, events.sets, events.relations,
        )  # fmt: skip
        if verdict == NO:
            return n
        if verdict == ASK:
            if counts[ASKED] < len(asked):
                asked[counts[ASKED], 0] = e
                asked[counts[ASKED], 1] = index.number[box]
            counts[ASKED] += 1
            return n
    out[n] = index.number[box]
    return n + 1


@kernel
def tidy(
    e: Any, begin: Any, end: Any, position: Any, spans: Any, closed: Any, stamp: Any, out: Any
) -> Any:
    """Of one event's matches keeps those whose span holds its position, each subscription once."""
    n = begin
    for i in range(begin, end):
        number = out[i]
        if len(spans) and (len(closed) == 0 or closed[number]):
            if not spans[0, number] <= position < spans[1, number]:
                continue
        if len(stamp):
            if stamp[number] == e + 1:
                continue
            stamp[number] = e + 1
        out[n] = number
        n += 1
    return n
