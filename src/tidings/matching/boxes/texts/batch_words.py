"""The texts of a batch as word numbers: each distinct text is cut once, whatever dimensions and segments ask.

The kernel cuts ASCII text as `language.words` does; other texts are folded there first, and come here as words between
spaces."""

from __future__ import annotations

import os
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidings.events import EventBatch
from tidings.kernels.compiled import kernel
from tidings.language.words import words_of

Integers = npt.NDArray[np.int64]

_LOWER = np.arange(256, dtype=np.uint8)  # by byte: as it is compared; 0 between words
_LOWER[ord("A") : ord("Z") + 1] += 32
_LOWER[[code for code in range(128) if not chr(code).isalnum()]] = 0
_SEED = np.uint64(int.from_bytes(os.urandom(8), "little"))  # so that nobody can choose words that collide
_PRIME = np.uint64(0x100000001B3)


class BatchWords(NamedTuple):
    """Text t has the words `words[ends[t]:ends[t + 1]]`, numbers in the vocabulary; the last text is empty."""

    ends: Integers
    words: npt.NDArray[np.int32]
    vocabulary: list[str]


class TextColumn(NamedTuple):
    offsets: Integers | None  # of each event's values; None: one value an event, the last text if it is missing
    texts: Integers  # by value
    cut: BatchWords


_columns: WeakKeyDictionary[EventBatch, dict[str, TextColumn]] = WeakKeyDictionary()


def text_column(batch: EventBatch, attribute: str, offsets: Integers | None, flat: Any) -> TextColumn:
    """The column of the attribute, with these values, cut into words."""
    of_batch = _columns.setdefault(batch, {})
    if attribute not in of_batch:
        of_batch[attribute] = column_of_texts(offsets, flat)
    return of_batch[attribute]


def column_of_texts(offsets: Integers | None, flat: Any) -> TextColumn:
    encoded = flat.dictionary_encode()  # values repeat
    missing = len(encoded.dictionary)
    texts = encoded.indices.fill_null(missing).to_numpy(zero_copy_only=False).astype(np.int64)
    return TextColumn(offsets, texts, words_of_texts(encoded.dictionary))


def words_of_texts(texts: Any) -> BatchWords:
    count = len(texts)
    if not count:  # of any type, where no event has the attribute
        return BatchWords(np.zeros(2, np.int64), np.zeros(0, np.int32), [])
    plain = pc.string_is_ascii(texts)
    if pc.any(pc.invert(plain)).as_py():
        folded = [" ".join(words_of(text)) for text in texts.filter(pc.invert(plain)).to_pylist()]
        texts = pc.replace_with_mask(texts, pc.invert(plain), pa.array(folded, texts.type))
    texts = texts.cast(pa.large_string())
    _, starts, data = texts.buffers()
    if data is None:
        return BatchWords(np.zeros(count + 2, np.int64), np.zeros(0, np.int32), [])
    offsets = np.frombuffer(starts, np.int64, count + 1, 8 * texts.offset)
    letters = np.frombuffer(data, np.uint8)
    size = int(offsets[-1] - offsets[0])
    most = (size + count) // 2  # words: a text of n letters has at most half of n + 1
    # Memory that is never written costs nothing.
    ends, words = np.zeros(count + 2, np.int64), np.empty(most, np.int32)
    spelled, spelled_ends = np.empty(size + 1, np.uint8), np.zeros(most + 1, np.int64)
    hashes = np.empty(most, np.uint64)
    with np.errstate(over="ignore"):  # where kernels are not compiled
        known = cut_words(offsets, letters, _LOWER, _SEED, ends, words, spelled, spelled_ends, hashes)
    ends[count + 1] = ends[count]
    used = int(spelled_ends[known])
    vocabulary = pa.LargeStringArray.from_buffers(
        known, pa.py_buffer(spelled_ends[: known + 1]), pa.py_buffer(spelled[:used])
    )
    return BatchWords(ends, words[: ends[count]].copy(), vocabulary.to_pylist())


@kernel
def cut_words(
    offsets: Any, letters: Any, lower: Any, seed: Any, ends: Any, words: Any, spelled: Any, spelled_ends: Any,
    hashes: Any,
) -> Any:  # fmt: skip
    """Numbers the words of all texts in the order in which they first occur; returns how many there are."""
    slots = np.zeros(1 << 12, np.int32)  # a number plus one
    last = np.uint64(len(slots) - 1)
    known, n, used = 0, 0, 0
    for text in range(len(offsets) - 1):
        i, stop = offsets[text], offsets[text + 1]
        while i < stop:
            letter = lower[letters[i]]
            if letter == 0:
                i += 1
                continue
            begin, h = used, seed
            while letter != 0:
                spelled[used] = letter
                used += 1
                h = (h ^ np.uint64(letter)) * _PRIME
                i += 1
                letter = lower[letters[i]] if i < stop else np.uint8(0)
            h ^= h >> np.uint64(29)
            slot = h & last
            word = -1
            while slots[slot] != 0:
                other = slots[slot] - 1
                if hashes[other] == h and spelled_ends[other + 1] - spelled_ends[other] == used - begin:
                    word = other
                    for k in range(used - begin):
                        if spelled[spelled_ends[other] + k] != spelled[begin + k]:
                            word = -1
                            break
                    if word >= 0:
                        break
                slot = (slot + np.uint64(1)) & last
            if word >= 0:
                used = begin
            else:
                word = known
                known += 1
                slots[slot] = known
                hashes[word] = h
                spelled_ends[known] = used
                if 2 * known > len(slots):
                    slots = np.zeros(4 * len(slots), np.int32)
                    last = np.uint64(len(slots) - 1)
                    for other in range(known):
                        place = hashes[other] & last
                        while slots[place] != 0:
                            place = (place + np.uint64(1)) & last
                        slots[place] = other + 1
            words[n] = word
            n += 1
        ends[text + 1] = n
    return known
