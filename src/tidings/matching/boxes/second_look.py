"""The second look at a candidate: an event with several values, and a box that demands several things of one choice of
them: comparisons of attributes, times from now, regions, several words in one text.

Each attribute first loses the values that the box's sides, ranges and regions exclude (`chosen_values`). A single
comparison is then decided by the least and the greatest of the others. Several are processed from the leaves inwards,
removing every value without a counterpart (arc consistency), with arithmetic or without. If they form a forest, this is
exact and takes n log n steps for the n values of these attributes. A cycle of three attributes is searched by
iterating over the values of one, in n² log n steps; longer cycles are refused when a filter is bound.
`matching/choice.py` is the plain twin.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.kernels.compiled import inlined, kernel
from tidings.language.relations import GREATER, LESS, SAME, UNRELATED
from tidings.matching.boxes.box_table import HAS_ALL, LINEAR, RELATED, SHIFTED
from tidings.matching.boxes.chosen_values import comparison, descends, first_that_fits, one_comparison_holds

_LEFT, _RIGHT, _PAIR, _BITS, _DONE, _COMPUTED = range(6)  # columns of an edge


@kernel
def second_look(
    e: Any, keys: Any, key_dimension: Any, dimension: Any, low: Any, high: Any, first: Any, last: Any, residuals: Any,
    pool: Any, constants: Any, choices: Any,
) -> Any:  # fmt: skip
    """Whether one choice of event e's values satisfies the box with these keys, sides and residuals [first, last)."""
    row = choices.row[e]
    starts, stops, attributes, of_attribute = choices.starts, choices.stops, choices.attributes, choices.dimension
    ordinals, numbers, instants = choices.ordinals, choices.numbers, choices.instants
    comparisons, edge = 0, -1
    for r in range(first, last):
        kind, pair = residuals[r, 0], residuals[r, 2]
        if kind == HAS_ALL and not words_hold(row, r, residuals, pool, choices):
            return False
        if kind != RELATED and kind < LINEAR:
            continue
        left = attributes[pair, 0]
        if left != attributes[pair, 1]:
            comparisons, edge = comparisons + 1, r
        elif kind != RELATED:
            value = first_that_fits(
                starts[row, left], 1, stops[row, left], left, keys, key_dimension, dimension, low, high, first, last,
                residuals, pool, constants, attributes, of_attribute, ordinals, numbers, instants,
            )  # fmt: skip
            if value < 0:
                return False
    if comparisons == 0:
        return True
    if comparisons == 1 and not choices.partial[residuals[edge, 2]]:
        return one_comparison_holds(
            edge, row, keys, key_dimension, dimension, low, high, first, last, residuals, pool, constants, choices
        )
    edges, degree = edges_of(first, last, residuals, choices)
    offset = np.zeros(len(degree) + 1, np.int64)
    for k in range(len(degree)):
        offset[k + 1] = offset[k] + (stops[row, k] - starts[row, k] if degree[k] else 0)
    alive = np.zeros(offset[len(degree)], np.bool_)
    for k in range(len(degree)):
        value = starts[row, k] - 1 if degree[k] else np.int64(-1)
        while value >= 0 or degree[k]:
            value = first_that_fits(
                value + 1, 1, stops[row, k], k, keys, key_dimension, dimension, low, high, first, last, residuals, pool,
                constants, attributes, of_attribute, ordinals, numbers, instants,
            )  # fmt: skip
            if value < 0:
                break
            alive[offset[k] + value - starts[row, k]] = True
        if degree[k] and not alive[offset[k] : offset[k + 1]].any():
            return False
    return consistent(row, edges, degree, offset, alive, first, last, residuals, constants, choices)


@kernel
def edges_of(first: Any, last: Any, residuals: Any, choices: Any) -> Any:
    """The compared pairs of different attributes, each once, and with how many others each attribute is compared."""
    edges = np.zeros((last - first, 6), np.int64)
    degree = np.zeros(len(choices.dimension), np.int64)
    count = 0
    for r in range(first, last):
        kind, pair = residuals[r, 0], residuals[r, 2]
        if kind != RELATED and kind != LINEAR and kind != SHIFTED:
            continue
        left, right = choices.attributes[pair, 0], choices.attributes[pair, 1]
        if left == right:
            continue
        known = 0
        while known < count and not joins(edges[known], left, right):
            known += 1
        edges[known, _COMPUTED] |= known < count or kind != RELATED
        if known == count:
            edges[count, _LEFT], edges[count, _RIGHT], edges[count, _PAIR] = left, right, pair
            edges[count, _BITS] = residuals[r, 3]
            degree[left] += 1
            degree[right] += 1
            count += 1
    return edges[:count], degree


@inlined
def joins(edge: Any, one: Any, other: Any) -> Any:
    """Whether an edge is between these two attributes."""
    left, right = edge[_LEFT], edge[_RIGHT]
    return (left == one and right == other) or (left == other and right == one)


@kernel
def words_hold(row: Any, r: Any, residuals: Any, pool: Any, choices: Any) -> Any:
    """Whether one text has all the words of residual r; if negated, whether none has."""
    place = choices.words_place[residuals[r, 2]]
    if place < 0:  # no event of the batch has several texts there, so the first look was exact
        return True
    for text in range(choices.text_starts[row, place], choices.text_stops[row, place]):
        words = choices.words[choices.word_offsets[text] : choices.word_offsets[text + 1]]
        has_all = True
        for i in range(residuals[r, 3], residuals[r, 4]):
            at = np.searchsorted(words, pool[i])
            has_all &= at < len(words) and words[at] == pool[i]
        if has_all:
            return residuals[r, 1] == 0
    return residuals[r, 1] == 1


@kernel
def consistent(
    row: Any, edges: Any, degree: Any, offset: Any, alive: Any, first: Any, last: Any, residuals: Any, constants: Any,
    choices: Any,
) -> Any:  # fmt: skip
    """Whether a choice of the remaining values satisfies all edges."""
    left = len(edges)
    while left:
        leaf = -1
        for i in range(len(edges)):
            if not edges[i, _DONE] and (degree[edges[i, _LEFT]] == 1 or degree[edges[i, _RIGHT]] == 1):
                leaf = i
                break
        if leaf >= 0:
            kept = edges[leaf, _RIGHT] if degree[edges[leaf, _LEFT]] == 1 else edges[leaf, _LEFT]
            if edges[leaf, _COMPUTED]:
                keep_computed(row, edges[leaf], kept, offset, alive, first, last, residuals, constants, choices)
            else:
                keep_supported(row, edges[leaf], kept, offset, alive, choices)
            left -= settle_edge(edges[leaf], degree)
        else:
            ab, ac, bc, kept = find_triangle(edges, degree)
            assert ab >= 0  # longer cycles are refused when a filter is bound, and those with arithmetic
            keep_completed(row, edges[ab], edges[ac], edges[bc], kept, degree[kept] == 2, offset, alive, choices)
            left -= settle_edge(edges[ab], degree) + settle_edge(edges[ac], degree) + settle_edge(edges[bc], degree)
        if not alive[offset[kept] : offset[kept + 1]].any():
            return False
    return True


@kernel
def settle_edge(edge: Any, degree: Any) -> Any:
    edge[_DONE] = 1
    degree[edge[_LEFT]] -= 1
    degree[edge[_RIGHT]] -= 1
    return 1


@kernel
def find_triangle(edges: Any, degree: Any) -> Any:
    """Three edges a-b, a-c, b-c, of which only a may be compared with other attributes, too; then a."""
    for bc in range(len(edges)):
        b, c = edges[bc, _LEFT], edges[bc, _RIGHT]
        if edges[bc, _DONE] or degree[b] != 2 or degree[c] != 2:
            continue
        ab, ac = -1, -1
        for i in range(len(edges)):
            if i != bc and not edges[i, _DONE]:
                if edges[i, _LEFT] == b or edges[i, _RIGHT] == b:
                    ab = i
                if edges[i, _LEFT] == c or edges[i, _RIGHT] == c:
                    ac = i
        a = edges[ab, _LEFT] + edges[ab, _RIGHT] - b
        if a == edges[ac, _LEFT] + edges[ac, _RIGHT] - c:
            return ab, ac, bc, a
    return -1, -1, -1, -1


@kernel
def keep_supported(row: Any, edge: Any, kept: Any, offset: Any, alive: Any, choices: Any) -> None:
    """Removes the values of `kept` without a counterpart at the other end of the edge."""
    other = edge[_LEFT] + edge[_RIGHT] - kept
    ranks, ends = sides_of(row, edge, other, choices)
    of_other = alive[offset[other] : offset[other + 1]]
    bits, partial = bits_of(edge, kept), choices.partial[edge[_PAIR]]
    starts = ranks[of_other]  # values ascend, and so do their ranks
    stops = np.sort(ends[of_other]) if partial else starts
    ranks, ends = sides_of(row, edge, kept, choices)
    for i in range(len(ranks)):
        if alive[offset[kept] + i]:
            alive[offset[kept] + i] = supported(ranks[i], ends[i], bits, partial, starts, stops)


@kernel
def keep_computed(
    row: Any, edge: Any, kept: Any, offset: Any, alive: Any, first: Any, last: Any, residuals: Any, constants: Any,
    choices: Any,
) -> None:  # fmt: skip
    """As `keep_supported`, where something is computed or several comparisons must hold of one pair: the counterparts
    of a value are an interval of the sorted values at the other end, which `!=` cuts a gap into."""
    other = edge[_LEFT] + edge[_RIGHT] - kept
    shift, ranks, numbers, instants = choices.shift, choices.ranks, choices.numbers, choices.instants
    places = np.flatnonzero(alive[offset[other] : offset[other + 1]]) + choices.starts[row, other]
    gaps = np.empty((last - first, 2), np.int64)
    for i in range(offset[kept + 1] - offset[kept]):
        if not alive[offset[kept] + i]:
            continue
        value = choices.starts[row, kept] + i
        start, stop, cuts = 0, len(places), 0
        for r in range(first, last):
            kind, pair = residuals[r, 0], residuals[r, 2]
            if kind != RELATED and kind != LINEAR and kind != SHIFTED:
                continue
            left, right = choices.attributes[pair, 0], choices.attributes[pair, 1]
            if not joins(edge, left, right):
                continue
            bits = residuals[r, 3] if kind == RELATED else residuals[r, 1]
            before = GREATER if left == kept and not descends(r, residuals, constants) else LESS
            after = LESS + GREATER - before
            low = steps_while(
                r, value, left == kept, before, before, places, residuals, constants, shift, ranks, numbers, instants
            )  # fmt: skip
            high = steps_while(
                r, value, left == kept, before, SAME, places, residuals, constants, shift, ranks, numbers, instants
            )  # fmt: skip
            if not bits & before:
                start = max(start, low if bits & SAME else high)
            if not bits & after:
                stop = min(stop, high if bits & SAME else low)
            if bits & before and bits & after and not bits & SAME:
                gaps[cuts, 0], gaps[cuts, 1] = low, high
                cuts += 1
        moved = True
        while moved:
            moved = False
            for gap in range(cuts):
                if gaps[gap, 0] <= start < gaps[gap, 1]:
                    start, moved = gaps[gap, 1], True
        alive[offset[kept] + i] = start < stop


@inlined
def steps_while(
    r: Any, value: Any, is_left: Any, before: Any, most: Any, places: Any, residuals: Any, constants: Any, shift: Any,
    ranks: Any, numbers: Any, instants: Any,
) -> Any:  # fmt: skip
    """To how many values at the other end a value stands as `before`, or, with `most` SAME, is also equal: they come
    first."""
    start, stop = 0, len(places)
    while start < stop:
        middle = (start + stop) >> 1
        left, right = (value, places[middle]) if is_left else (places[middle], value)
        relation = comparison(r, left, right, residuals, constants, shift, ranks, numbers, instants)
        if relation == before or relation == most:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def keep_completed(
    row: Any, ab: Any, ac: Any, bc: Any, a: Any, alone: Any, offset: Any, alive: Any, choices: Any
) -> None:
    """Removes the values of a without a compatible pair of values of b and c; if a is compared with nothing else, one
    remaining value is enough."""
    b, c = ab[_LEFT] + ab[_RIGHT] - a, ac[_LEFT] + ac[_RIGHT] - a
    to_b, to_b_ends = sides_of(row, ab, a, choices)
    to_c, to_c_ends = sides_of(row, ac, a, choices)
    b_to_a, b_to_a_ends = sides_of(row, ab, b, choices)
    c_to_a, c_to_a_ends = sides_of(row, ac, c, choices)
    b_to_c, b_to_c_ends = sides_of(row, bc, b, choices)
    c_to_b, c_to_b_ends = sides_of(row, bc, c, choices)
    by_stop = np.argsort(c_to_b_ends)  # once: any subset stays in order
    starts, stops = np.empty(len(c_to_b), np.int64), np.empty(len(c_to_b), np.int64)
    fits = np.empty(len(c_to_b), np.bool_)
    partial = choices.partial[bc[_PAIR]]  # all three share a domain, or the order is total
    ba_bits, ca_bits, bc_bits = bits_of(ab, b), bits_of(ac, c), bits_of(bc, b)
    for i in range(len(to_b)):
        if not alive[offset[a] + i]:
            continue
        for j in range(len(c_to_a)):
            relation = relation_of(c_to_a[j], c_to_a_ends[j], to_c[i], to_c_ends[i], partial)
            fits[j] = alive[offset[c] + j] and relation & ca_bits
        n = 0
        for j in range(len(c_to_b)):
            starts[n] = c_to_b[j]
            n += fits[j]
        if partial:
            n = 0
            for j in by_stop:
                stops[n] = c_to_b_ends[j]
                n += fits[j]
        found = False
        for j in range(len(b_to_a)):
            relation = relation_of(b_to_a[j], b_to_a_ends[j], to_b[i], to_b_ends[i], partial)
            if alive[offset[b] + j] and relation & ba_bits:
                if supported(b_to_c[j], b_to_c_ends[j], bc_bits, partial, starts[:n], stops[:n]):
                    found = True
                    break
        alive[offset[a] + i] = found
        if found and alone:
            break


@kernel
def sides_of(row: Any, edge: Any, attribute: Any, choices: Any) -> Any:
    """The intervals [rank, end) of an attribute's values in the pair of an edge."""
    side = 0 if edge[_LEFT] == attribute else 1
    shift = choices.shift[edge[_PAIR], side]
    start, stop = choices.starts[row, attribute] + shift, choices.stops[row, attribute] + shift
    return choices.ranks[start:stop], choices.ends[start:stop]


@kernel
def bits_of(edge: Any, attribute: Any) -> Any:
    """The allowed relations of the attribute's values to those at the other end."""
    bits = edge[_BITS]
    if edge[_LEFT] == attribute:
        return bits
    return bits & (SAME | UNRELATED) | (GREATER if bits & LESS else 0) | (LESS if bits & GREATER else 0)


@kernel
def relation_of(rank: Any, end: Any, other: Any, other_end: Any, partial: Any) -> Any:
    """The relation of one value to another, as a bit."""
    if rank == other:
        return SAME
    if not partial:
        return LESS if rank < other else GREATER
    if other < rank < other_end:
        return LESS
    return GREATER if rank < other < end else UNRELATED


@kernel
def supported(rank: Any, end: Any, bits: Any, partial: Any, starts: Any, stops: Any) -> Any:
    """Whether a value has one of the relations to one of the others, given by their starts and their stops, both
    sorted."""
    n = len(starts)
    if n == 0:
        return False
    if not partial:
        if (bits & LESS and rank < starts[n - 1]) or (bits & GREATER and rank > starts[0]):
            return True
        if not bits & SAME:
            return False
        at = np.searchsorted(starts, rank)
        return at < n and starts[at] == rank
    # In pre-order, ancestors started before the value and have not ended; descendants lie inside it.
    before = np.searchsorted(starts, rank)
    same = np.searchsorted(starts, rank + 1) - before
    above = before - np.searchsorted(stops, rank + 1)
    below = np.searchsorted(starts, end) - before - same
    unrelated = n - same - above - below
    return (
        (bits & LESS and above > 0)
        or (bits & SAME and same > 0)
        or (bits & GREATER and below > 0)
        or (bits & UNRELATED and unrelated > 0)
    )
