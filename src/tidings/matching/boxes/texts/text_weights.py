"""Texts as vectors: the terms of each with their weights, for similarity. The array twin of `language.similarity`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.kernels.compiled import kernel
from tidings.language.stems import stem
from tidings.matching.boxes.texts.batch_words import BatchWords
from tidings.schema.statistics import Statistics

Integers = npt.NDArray[np.int64]
Ordinals = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


class TextWeights(NamedTuple):
    """Text t has the terms `terms[offsets[t]:offsets[t + 1]]`, numbers in `names`, in any order; their weights make a
    vector of length one."""

    offsets: Integers
    terms: Ordinals
    weights: Floats
    names: list[str]
    rarity: Floats  # by term


def weights_of(cut: BatchWords, language: str | None, statistics: Statistics) -> TextWeights:
    names, term_of = cut.vocabulary, np.arange(len(cut.vocabulary), dtype=np.int32)
    if language is not None:
        numbers: dict[str, int] = {}
        stems = (stem(word, language) for word in cut.vocabulary)
        term_of = np.array([numbers.setdefault(one, len(numbers)) for one in stems], np.int32)
        names = list(numbers)
    having = np.array([statistics.frequencies.get(name, 0) for name in names], np.float64)
    rarity = np.log(1 + (1 + statistics.texts) / (1 + having))
    offsets = np.zeros(len(cut.ends), np.int64)
    terms, weights = np.empty(len(cut.words), np.int32), np.empty(len(cut.words))
    used = weigh(cut.ends, cut.words, term_of, rarity, np.zeros(len(names), np.int64), offsets, terms, weights)
    return TextWeights(offsets, terms[:used], weights[:used], names, rarity)


@kernel
def weigh(
    ends: Any, words: Any, term_of: Any, rarity: Any, tally: Any, offsets: Any, terms: Any, weights: Any
) -> Any:  # fmt: skip
    """Writes the distinct terms of all texts and their weights; returns how many. `tally` is zero, and is so again."""
    n = 0
    for text in range(len(ends) - 1):
        first = n
        for i in range(ends[text], ends[text + 1]):
            term = term_of[words[i]]
            if tally[term] == 0:
                terms[n] = term
                n += 1
            tally[term] += 1
        length = 0.0
        for i in range(first, n):
            weights[i] = (1 + np.log(tally[terms[i]])) * rarity[terms[i]]
            length += weights[i] * weights[i]
            tally[terms[i]] = 0
        length = np.sqrt(length)
        for i in range(first, n):
            weights[i] /= length
        offsets[text + 1] = n
    return n
