"""Texts as the terms that filters name: for each text its distinct terms, ascending, and where they occur."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.kernels.compiled import kernel
from tidings.matching.boxes.texts.batch_words import BatchWords
from tidings.matching.boxes.texts.terms import finder
from tidings.matching.ragged import flattened
from tidings.schema.catalog import Catalog

if TYPE_CHECKING:
    from tidings.matching.boxes.dimension import Dimension

Integers = npt.NDArray[np.int64]
Ordinals = npt.NDArray[np.int32]


class Entries(NamedTuple):
    """The entries of text t are `offsets[t]:offsets[t + 1]`: terms, and offsets of their places. A text without any has
    one entry for the ordinal 0, except the last, which stands for a missing value."""

    offsets: Integers
    terms: Ordinals
    place_offsets: Integers
    places: Ordinals


def entries_of(cut: BatchWords, dimension: Dimension, catalog: Catalog, with_places: bool) -> Entries:
    find = finder(dimension, catalog)
    term_offsets, terms = flattened([find(word) for word in cut.vocabulary], np.int32)
    texts = len(cut.ends) - 1
    count = int(np.diff(term_offsets)[cut.words].sum()) if len(cut.words) else 0
    offsets = np.zeros(texts + 1, np.int64)
    found = np.empty(count + texts, np.int32)
    place_offsets = np.zeros(count + texts + 1, np.int64)
    places = np.empty(count if with_places else 0, np.int32)
    tally = np.zeros(len(dimension.keys) + 1, np.int64)
    used = list_terms(
        cut.ends, cut.words, term_offsets, terms, with_places, tally, offsets, found, place_offsets, places
    )
    return Entries(offsets, found[:used], place_offsets[: used + 1], places)


@kernel
def list_terms(
    ends: Any, words: Any, term_offsets: Any, terms: Any, with_places: Any, tally: Any, offsets: Any, found: Any,
    place_offsets: Any, places: Any,
) -> Any:  # fmt: skip
    """Writes the entries of all texts; returns how many. `tally` is zero for every ordinal, and is so again."""
    n = 0
    placed = 0
    for text in range(len(ends) - 1):
        first = n
        for i in range(ends[text], ends[text + 1]):
            for j in range(term_offsets[words[i]], term_offsets[words[i] + 1]):
                if tally[terms[j]] == 0:
                    found[n] = terms[j]
                    n += 1
                tally[terms[j]] += 1
        found[first:n].sort()
        for entry in range(first, n):
            count = tally[found[entry]]
            tally[found[entry]] = placed if with_places else 0
            placed += count if with_places else 0
            place_offsets[entry + 1] = placed
        if with_places:
            for i in range(ends[text], ends[text + 1]):
                for j in range(term_offsets[words[i]], term_offsets[words[i] + 1]):
                    places[tally[terms[j]]] = i - ends[text]
                    tally[terms[j]] += 1
            for entry in range(first, n):
                tally[found[entry]] = 0
        if n == first and text < len(ends) - 2:
            found[n] = 0
            n += 1
            place_offsets[n] = placed
        offsets[text + 1] = n
    return n
