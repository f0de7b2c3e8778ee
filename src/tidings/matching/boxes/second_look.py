"""The second look at a candidate: an event with several values, and a box that compares attributes with each other or
requires several words in one value.

Each attribute first loses the values that the box's sides and ranges exclude. Comparisons between attributes are then
processed from the leaves inwards, removing every value without a counterpart (arc consistency). If they form a forest,
this is exact and takes n log n steps for the n values of these attributes. A cycle of three attributes is searched by
iterating over the values of one, in n² log n steps; longer cycles are refused when a filter is bound.
`matching/choice.py` is the plain twin.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.kernels.compiled import kernel
from tidings.language.relations import GREATER, LESS, SAME, UNRELATED
from tidings.matching.boxes.box_table import HAS_ALL, IN_RANGES, RELATED

_LEFT, _RIGHT, _PAIR, _BITS, _DONE = range(5)  # columns of an edge


@kernel
def second_look(
    e: Any, dimension: Any, low: Any, high: Any, sides: Any, first: Any, last: Any, residuals: Any, pool: Any,
    choices: Any,
) -> Any:  # fmt: skip
    """Whether one choice of event e's values satisfies the box with these sides (the first `sides` entries of the
    arrays) and the residuals [first, last)."""
    row = choices.row[e]
    edges = np.zeros((last - first, 5), np.int64)
    count = 0
    for r in range(first, last):
        if residuals[r, 0] == HAS_ALL and not words_hold(row, r, residuals, pool, choices):
            return False
        if residuals[r, 0] == RELATED:
            pair = residuals[r, 2]
            left, right = choices.attributes[pair, 0], choices.attributes[pair, 1]
            if left != right:
                edges[count, _LEFT], edges[count, _RIGHT] = left, right
                edges[count, _PAIR], edges[count, _BITS] = pair, residuals[r, 3]
                count += 1
    if count == 0:
        return True
    edges = edges[:count]
    attributes = len(choices.dimension)
    degree = np.zeros(attributes, np.int64)
    for i in range(count):
        degree[edges[i, _LEFT]] += 1
        degree[edges[i, _RIGHT]] += 1
    offset = np.zeros(attributes + 1, np.int64)
    for k in range(attributes):
        offset[k + 1] = offset[k] + (choices.stops[row, k] - choices.starts[row, k] if degree[k] else 0)
    alive = np.ones(offset[attributes], np.bool_)
    for k in range(attributes):
        if degree[k]:
            of_k = alive[offset[k] : offset[k + 1]]
            exclude(row, k, of_k, dimension, low, high, sides, first, last, residuals, pool, choices)
            if not of_k.any():
                return False
    return consistent(row, edges, degree, offset, alive, choices)


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
def exclude(
    row: Any, k: Any, alive: Any, dimension: Any, low: Any, high: Any, sides: Any, first: Any, last: Any,
    residuals: Any, pool: Any, choices: Any,
) -> None:  # fmt: skip
    """Removes the values of attribute k that a side or a list of ranges of the box excludes."""
    d = choices.dimension[k]
    ordinals = choices.ordinals[choices.starts[row, k] : choices.stops[row, k]]
    for s in range(sides):
        if d >= 0 and dimension[s] == d:
            for i in range(len(ordinals)):
                if low[s] <= high[s]:
                    alive[i] &= low[s] <= ordinals[i] < high[s]
                else:  # all but [high, low)
                    alive[i] &= ordinals[i] < high[s] or low[s] <= ordinals[i]
    for r in range(first, last):
        if residuals[r, 0] == IN_RANGES and residuals[r, 2] == d:
            for i in range(len(ordinals)):
                within = False
                for j in range(residuals[r, 3], residuals[r, 4], 2):
                    within |= pool[j] <= ordinals[i] < pool[j + 1]
                alive[i] &= within


@kernel
def consistent(row: Any, edges: Any, degree: Any, offset: Any, alive: Any, choices: Any) -> Any:
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
            keep_supported(row, edges[leaf], kept, offset, alive, choices)
            left -= settle_edge(edges[leaf], degree)
        else:
            ab, ac, bc, kept = find_triangle(edges, degree)
            assert ab >= 0  # longer cycles are refused when a filter is bound
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
