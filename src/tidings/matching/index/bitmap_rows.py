"""The part of the kernel that reads bitmaps: intersects their rows for one event and walks through the bits left."""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.kernels.compiled import inlined, kernel
from tidings.matching.bits import trailing_zeros


@inlined
def next_candidate(box: Any, start: Any, stop: Any, words: Any, accumulator: Any) -> Any:
    """The next box to test: this one, or with intersected bitmaps the next set bit."""
    if words == 0:
        return box
    w = (box - start) >> 6
    if w >= words:
        return stop
    left = accumulator[w] >> np.uint64((box - start) & 63)
    if left:
        return box + trailing_zeros(left)
    w += 1
    while w < words:
        if accumulator[w]:
            return start + w * 64 + trailing_zeros(accumulator[w])
        w += 1
    return stop


@kernel
def intersect_rows(
    accumulator: Any, words: Any, place: Any, first_dimension: Any, dimension: Any, first_edge: Any, edges: Any,
    first_word: Any, first_plain: Any, bit_words: Any, e: Any, least: Any, greatest: Any, starts: Any, stops: Any,
    sets: Any, number: Any, out: Any, n: Any,
) -> Any:  # fmt: skip
    """Writes the numbers of the boxes that surely match; leaves in `accumulator[:words]` those that may match in every
    dimension."""
    rows, union = accumulator[:words], accumulator[words : 2 * words]
    sure, union_sure = accumulator[2 * words : 3 * words], accumulator[3 * words : 4 * words]
    plain = first_plain[place]
    rows[:] = ~np.uint64(0)
    if plain >= 0:
        sure[:] = bit_words[plain : plain + words]
    for j in range(first_dimension[place], first_dimension[place + 1]):
        d = dimension[j]
        cuts = edges[first_edge[j] : first_edge[j + 1]]
        shift = (len(cuts) + 2) * words
        smallest = least[e, d]
        if smallest == greatest[e, d]:
            row = 0 if smallest < 0 else 1 + np.searchsorted(cuts, smallest, side="right")
            at = first_word[j] + row * words
            keep_common(rows, bit_words[at : at + words])
            if plain >= 0:
                keep_common(sure, bit_words[at + shift : at + shift + words])
            continue
        union[:] = 0
        union_sure[:] = 0
        for s in range(starts[e, d], stops[e, d]):
            at = first_word[j] + (1 + np.searchsorted(cuts, sets[s], side="right")) * words
            union |= bit_words[at : at + words]
            if plain >= 0:
                union_sure |= bit_words[at + shift : at + shift + words]
        keep_common(rows, union)
        keep_common(sure, union_sure)
    if plain < 0:
        return n
    for w in range(words):
        rows[w] &= ~sure[w]
        word = sure[w]
        while word:
            out[n] = number[w * 64 + trailing_zeros(word)]
            n += 1
            word &= word - np.uint64(1)
    return n


@inlined
def keep_common(rows: Any, source: Any) -> None:
    for w in range(len(rows)):
        rows[w] &= source[w]
