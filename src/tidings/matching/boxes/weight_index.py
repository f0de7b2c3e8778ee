"""The index of weights: which of many texts, each with its own threshold, the texts of a batch are similar to.

Terms have one order, the rarest first. Of a filter's text and another one, let t be the first term that both have: as
neither has a common term before t, their cosine is at most the length of the one vector from t on times that of the
other. So a filter is listed under each of its terms with its length from there on, divided by its threshold, the
greatest first; a text goes down each of its terms' lists until the product falls below one. Terms that are frequent are
light and come last, when little is left of a text: their lists, the longest, are hardly entered. What is found is
scored term by term, and dropped as soon as the rest cannot be enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidings.kernels.compiled import kernel
from tidings.language.similarity import TOLERANCE, text_of_key
from tidings.matching.boxes.batch_words import words_of_texts
from tidings.matching.boxes.text_weights import Floats, Integers, Ordinals, TextWeights, weights_of
from tidings.matching.ragged import offsets_of, owners
from tidings.schema.statistics import Statistics

_ROUNDING = 1e-9  # of bounds, upwards: what rounding could hide is scored


class Lists(NamedTuple):
    """The arrays that the kernel reads: entries by filter, and lists of filters by term."""

    least: Floats  # by filter: the threshold, less the tolerance
    offsets: Integers  # by filter
    terms: Ordinals
    weights: Floats
    list_offsets: Integers  # by term
    listed: Ordinals
    reach: npt.NDArray[np.float32]
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
        with np.errstate(divide="ignore"):
            reach = np.where(least[rows] > 0, lengths / np.maximum(least[rows], 0), np.inf) * (1 + _ROUNDING)
        reachable = np.flatnonzero(reach >= 1)
        reachable = reachable[np.lexsort((-reach[reachable], terms[reachable]))]
        rounded = np.nextafter(reach[reachable].astype(np.float32), np.float32(np.inf))
        self.lists = Lists(
            least, offsets, terms, weights, offsets_of(np.bincount(terms[reachable], minlength=len(order))),
            rows[reachable].astype(np.int32), rounded, (np.flatnonzero(least <= 0) + 1).astype(np.int32),
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
            length = tails[i]
            for place in range(lists.list_offsets[found[i]], lists.list_offsets[found[i] + 1]):
                if lists.reach[place] * length < 1.0:
                    break
                filter = lists.listed[place]
                if stamp[filter] == text + 1:
                    continue
                stamp[filter] = text + 1
                scored[0] += 1
                if reaches(filter, length * length, lists, dense, after):
                    out[used] = filter + 1
                    used += 1
        for i in range(n):
            dense[found[i]] = 0.0
        out[begin:used].sort()
        offsets[text + 1] = used
    return last + 1


@kernel
def reaches(filter: Any, room: Any, lists: Any, dense: Any, after: Any) -> Any:
    """Whether the text in `dense` reaches the filter's threshold. `room` is the squared length of what the text has
    from its first common term on."""
    least = lists.least[filter]
    if least <= 0:  # listed already
        return False
    score, rest = 0.0, 1.0
    for i in range(lists.offsets[filter], lists.offsets[filter + 1]):
        weight, other = lists.weights[i], dense[lists.terms[i]]
        rest -= weight * weight
        if other != 0.0:
            score += weight * other
            room = after[lists.terms[i]]
        missing = least - score
        if missing > 0 and missing * missing > rest * room + _ROUNDING**2:
            return False
    return score >= least
