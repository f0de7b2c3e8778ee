"""The index of weights: which of many texts, each with its own threshold, the texts of a batch are similar to.

Terms have one order, the rarest first. Of a filter's text and another one, let t be the first term that both have: as
neither has a common term before t, their cosine is at most the length of the one vector from t on times that of the
other. So a filter is listed under each of its terms with its weight there and its length after it, both divided by its
threshold, the greatest length from there on first; a text goes down each of its terms' lists until the product of
lengths falls below one. Terms that are frequent are light and come last, when little is left of a text: their lists,
the longest, are hardly entered. An entry alone says more: the product of both weights of t, plus that of both lengths
after it, must reach one. Only what passes is scored, term by term, and dropped as soon as the rest cannot be enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidings.kernels.compiled import kernel
from tidings.language.similarity import TOLERANCE, text_of_key
from tidings.matching.boxes.texts.batch_words import words_of_texts
from tidings.matching.boxes.texts.text_weights import Floats, Integers, Ordinals, TextWeights, weights_of
from tidings.matching.ragged import offsets_of, owners
from tidings.schema.statistics import Statistics

_ROUNDING = 1e-9  # of bounds, upwards: what rounding could hide is scored
_ROUNDING_OF_ENTRIES = 1e-6  # which have 24 bits


class Lists(NamedTuple):
    """The arrays that the kernel reads: entries by filter, and lists of filters by term."""

    least: Floats  # by filter: the threshold, less the tolerance
    offsets: Integers  # by filter
    terms: Ordinals
    weights: Floats
    list_offsets: Integers  # by term
    listed: Ordinals
    entries: Ordinals  # of an entry in a list: its place among those by filter
    heads: npt.NDArray[np.float32]  # of an entry: the weight of the term, divided by the threshold
    rests: npt.NDArray[np.float32]  # and the length after it
    always: Ordinals  # ordinals of filters that every text reaches


class Found(NamedTuple):
    """Text t is similar to the keys `ordinals[offsets[t]:offsets[t + 1]]`, ascending, after a 0; the last text, which
    stands for a missing value, has nothing. `scored` says for how many keys a score was begun."""

    offsets: Integers
    ordinals: Ordinals
    scored: int


class WeightIndex:
    """The texts and thresholds of some keys (`similar_key`) under one statistics; ordinal i + 1 is key i."""

    def __init__(self, keys: Sequence[str], language: str | None, statistics: Statistics) -> None:
        read = [text_of_key(key) for key in keys]
        least = np.array([least for _, least in read]) - TOLERANCE
        vectors = weights_of(
            words_of_texts(pa.array([text for text, _ in read], pa.large_string())), language, statistics
        )
        rows = owners(vectors.offsets)
        named = np.bincount(vectors.terms, minlength=len(vectors.names))
        order = np.lexsort((named, -vectors.rarity))
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        self._rank = dict(zip(vectors.names, rank.tolist(), strict=True))
        by_rank = np.lexsort((rank[vectors.terms], rows))
        terms, weights = rank[vectors.terms][by_rank], vectors.weights[by_rank]
        offsets = vectors.offsets[: len(keys) + 1]
        lengths = np.empty(len(terms))
        lengths_from(offsets, weights, lengths)
        wanted = least[rows]
        listed = np.flatnonzero((wanted > 0) & (lengths * (1 + _ROUNDING) >= wanted))
        listed = listed[np.lexsort((-lengths[listed] / wanted[listed], terms[listed]))]
        scale = (1 + _ROUNDING_OF_ENTRIES) / wanted[listed]
        rests = np.sqrt(np.maximum(lengths[listed] ** 2 - weights[listed] ** 2, 0))
        self.lists = Lists(
            least, offsets, terms, weights, offsets_of(np.bincount(terms[listed], minlength=len(order))),
            rows[listed].astype(np.int32), listed.astype(np.int32), (weights[listed] * scale).astype(np.float32),
            (rests * scale).astype(np.float32), (np.flatnonzero(least <= 0) + 1).astype(np.int32),
        )  # fmt: skip

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for array in self.lists)

    def ranks(self, names: Sequence[str]) -> Ordinals:
        """The numbers of terms, -1 where no key has them."""
        return np.array([self._rank.get(name, -1) for name in names], np.int32)

    def search(self, texts: TextWeights) -> Found:
        """Of a batch's texts, whose last one stands for a missing value."""
        ranks = self.ranks(texts.names)
        count, size = len(texts.offsets) - 1, len(self._rank)
        longest = int(np.diff(texts.offsets).max(initial=0))
        stamp, dense, after = np.zeros(len(self.lists.least), np.int32), np.zeros(size), np.zeros(size)
        found, tails = np.empty(longest, np.int32), np.empty(longest)
        offsets, scored = np.zeros(count + 1, np.int64), np.zeros(1, np.int64)
        room = 4 * count + 2 * len(self.lists.least) + len(self.lists.always)  # one text fits in any case
        out, done = np.empty(room, np.int32), 0
        while True:
            done = find_similar(
                done, texts.offsets, texts.terms, texts.weights, ranks, self.lists, stamp, dense, after, found, tails,
                scored, offsets, out,
            )  # fmt: skip
            if done == count:
                return Found(offsets, out[: offsets[count]], int(scored[0]))
            out = np.concatenate([out, np.empty(len(out), np.int32)])


@kernel
def lengths_from(offsets: Any, weights: Any, lengths: Any) -> None:
    """The length of each vector's part from each entry on."""
    for row in range(len(offsets) - 1):
        rest = 0.0
        for i in range(offsets[row + 1] - 1, offsets[row] - 1, -1):
            rest += weights[i] * weights[i]
            lengths[i] = np.sqrt(rest)


@kernel
def find_similar(
    first: Any, text_offsets: Any, text_terms: Any, text_weights: Any, ranks: Any, lists: Any, stamp: Any, dense: Any,
    after: Any, found: Any, tails: Any, scored: Any, offsets: Any, out: Any,
) -> Any:  # fmt: skip
    """Writes the ordinals of the texts from `first` on; returns the first text for which there may be no room."""
    used = offsets[first]
    last = len(text_offsets) - 2
    for text in range(first, last + 1):
        if text == last:  # a missing value
            offsets[text + 1] = used
            continue
        if used + len(lists.least) + 1 > len(out):
            return text
        begin = used
        out[used] = 0
        used += 1
        for ordinal in lists.always:
            out[used] = ordinal
            used += 1
        n = 0
        for i in range(text_offsets[text], text_offsets[text + 1]):
            term = ranks[text_terms[i]]
            if term >= 0:
                dense[term] = text_weights[i]
                found[n] = term
                n += 1
        found[:n].sort()
        rest = 0.0
        for i in range(n - 1, -1, -1):
            term = found[i]
            after[term] = rest
            rest += dense[term] * dense[term]
            tails[i] = np.sqrt(rest)
        for i in range(n):
            square, weight = tails[i] * tails[i], dense[found[i]]
            later = tails[i + 1] if i + 1 < n else 0.0
            for place in range(lists.list_offsets[found[i]], lists.list_offsets[found[i] + 1]):
                head, rest = lists.heads[place], lists.rests[place]
                if (head * head + rest * rest) * square < 1.0:
                    break
                filter = lists.listed[place]
                if stamp[filter] == text + 1:
                    continue
                stamp[filter] = text + 1
                if head * weight + rest * later < 1.0:
                    continue
                scored[0] += 1
                if reaches(filter, lists.entries[place], weight, rest, later * later, lists, dense, after):
                    out[used] = filter + 1
                    used += 1
        for i in range(n):
            dense[found[i]] = 0.0
        out[begin:used].sort()
        offsets[text + 1] = used
    return last + 1


@kernel
def reaches(filter: Any, entry: Any, other: Any, rest: Any, room: Any, lists: Any, dense: Any, after: Any) -> Any:
    """Whether the text in `dense` reaches the filter's threshold. At the filter's `entry` is their first common term,
    which has the weight `other` in the text; `rest` is the filter's length after it by its threshold, `room` the
    squared length of what the text has after it."""
    least = lists.least[filter]
    score, left = lists.weights[entry] * other, (rest * least) ** 2
    for i in range(entry + 1, lists.offsets[filter + 1]):
        weight, other = lists.weights[i], dense[lists.terms[i]]
        left -= weight * weight
        if other != 0.0:
            score += weight * other
            room = after[lists.terms[i]]
        missing = least - score
        if missing > 0 and missing * missing > max(left, 0.0) * room + _ROUNDING:
            return False
    return score >= least
