"""The values of a batch's nodes, looked up once for all paths: which texts that paths ask for, and which numbers.

`Texts` has the distinct pairs of a label and a text that EQUALS asks for."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.documents.index.evaluate import number
from tidings.documents.index.keys import EQUALS, EXISTS, SELF, Key
from tidings.documents.index.pool import Pool
from tidings.documents.names import SEED
from tidings.documents.tokenizer import Nodes
from tidings.kernels.compiled import bare_kernel


class TextTable(NamedTuple):
    """Open addressing: a slot holds a number plus one; 0 if free."""

    slots: npt.NDArray[np.int32]
    hash: npt.NDArray[np.int64]
    label: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    text: npt.NDArray[np.uint8]


class Wanted(NamedTuple):
    """By label plus one: the longest text that is asked for, or -1; and whether numbers are."""

    longest: npt.NDArray[np.int64]
    number: npt.NDArray[np.bool_]


class Values(NamedTuple):
    """By node: the number of its text for its own label and for SELF, or -1; its number, or NaN."""

    text: npt.NDArray[np.int32]
    own_text: npt.NDArray[np.int32]
    number: npt.NDArray[np.float64]


class Texts:
    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._numbers: dict[tuple[int, bytes], int] = {}
        self._longest: dict[int, int] = {}
        self._compared: set[int] = set()
        self._hash, self._label = Pool(np.int64), Pool(np.int32)
        self._offsets, self._text = Pool(np.int64), Pool(np.uint8)
        self._offsets.add(np.zeros(1, np.int64))
        self._slots = np.zeros(2, np.int32)

    def __len__(self) -> int:
        return len(self._numbers)

    def column(self, key: Key) -> int:
        """What stands for the key beside its kind: the number of its text, else its label."""
        if key.kind != EQUALS:
            if key.kind < EXISTS:
                self._compared.add(key.label)
            return key.label
        known = len(self._numbers)
        found = self._numbers.setdefault((key.label, key.text), known)
        if found == known:
            self._longest[key.label] = max(len(key.text), self._longest.get(key.label, -1))
        return found

    def labels_of(self, texts: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Of the texts with these numbers."""
        return np.asarray(np.array([label for label, _ in self._numbers], np.int64)[texts])

    def keep(
        self, texts: npt.NDArray[Any], compared: npt.NDArray[Any], labels: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Drops all other texts, and labels that are no longer compared with numbers. `labels`: by old label, the new
        one. Returns the same of texts."""
        before = list(self._numbers)
        self._begin()
        self._compared = set(labels[compared].tolist())
        numbers = np.full(len(before) + 1, -1, np.int64)
        for place in np.unique(texts).tolist():
            label, text = before[place]
            numbers[place] = self.column(Key(EQUALS, int(labels[label]), text))
        return numbers

    def values(self, nodes: Nodes, labels: Any, label_count: int) -> Values:
        """`labels` by name."""
        count = len(nodes.name)
        values = Values(np.full(count, -1, np.int32), np.full(count, -1, np.int32), np.full(count, np.nan))
        if self._numbers or self._compared:
            wanted = Wanted(np.full(label_count + 1, -1, np.int64), np.zeros(label_count + 1, np.bool_))
            for label, longest in self._longest.items():
                wanted.longest[label + 1] = longest
            wanted.number[[label + 1 for label in self._compared]] = True
            look_up(nodes, labels, wanted, self._built(), SEED, values)
        return values

    def _built(self) -> TextTable:
        """Only what was added since the last call is written, unless the slots get scarce."""
        known = len(self._label)
        if known < len(self._numbers):
            labels, texts = zip(*islice(self._numbers, known, None), strict=True)
            self._label.add(np.array(labels, np.int32))
            self._offsets.add(self._offsets.array[-1] + np.cumsum([len(text) for text in texts]))
            self._text.add(np.frombuffer(b"".join(texts), np.uint8))
            self._hash.add(np.empty(len(texts), np.int64))
            if 2 * len(self._numbers) > len(self._slots):
                self._slots = np.zeros(1 << (2 * len(self._numbers) + 1).bit_length(), np.int32)
                known = 0
        table = TextTable(self._slots, *(pool.array for pool in (self._hash, self._label, self._offsets, self._text)))
        fill(table, known, SEED)
        return table


@bare_kernel
def look_up(nodes: Any, labels: Any, wanted: Any, table: Any, seed: Any, values: Any) -> None:
    for node in range(len(nodes.name)):
        label = labels[nodes.name[node]]
        start, stop = nodes.start[node], nodes.stop[node]
        length = stop - start
        mine, own = length <= wanted.longest[label + 1], length <= wanted.longest[SELF + 1]
        if mine or own:
            hash = hash_of(nodes.text, start, stop, seed)
            if mine:
                values.text[node] = found(table, hash, label, nodes.text, start, stop)
            if own:
                values.own_text[node] = found(table, hash, SELF, nodes.text, start, stop)
        if wanted.number[label + 1] or wanted.number[SELF + 1]:
            values.number[node] = number(nodes.text, start, stop)


@bare_kernel
def hash_of(text: Any, start: Any, stop: Any, seed: Any) -> Any:
    """32 bits. Products stay within 63, so uncompiled code gives the same result."""
    hash = np.int64(seed)
    for i in range(start, stop):
        hash = ((hash ^ np.int64(text[i])) * 0x01000193) & 0xFFFFFFFF
    return hash


@bare_kernel
def home_of(hash: Any, label: Any, mask: Any) -> Any:
    mixed = ((hash ^ (label + 1)) * 0x2545F491) & 0x7FFFFFFFFFFFFFFF
    return (mixed ^ mixed >> 29) & mask


@bare_kernel
def found(table: Any, hash: Any, label: Any, text: Any, start: Any, stop: Any) -> Any:
    mask = len(table.slots) - 1
    slot = home_of(hash, label, mask)
    while table.slots[slot] != 0:
        known = table.slots[slot] - 1
        if table.hash[known] == hash and table.label[known] == label:
            first = table.offsets[known]
            if table.offsets[known + 1] - first == stop - start:
                place = start
                while place < stop and table.text[first + place - start] == text[place]:
                    place += 1
                if place == stop:
                    return np.int32(known)
        slot = (slot + 1) & mask
    return np.int32(-1)


@bare_kernel
def fill(table: Any, first: Any, seed: Any) -> None:
    """Puts the texts from the first one on into slots."""
    mask = len(table.slots) - 1
    for known in range(first, len(table.hash)):
        hash = hash_of(table.text, table.offsets[known], table.offsets[known + 1], seed)
        table.hash[known] = hash
        slot = home_of(hash, table.label[known], mask)
        while table.slots[slot] != 0:
            slot = (slot + 1) & mask
        table.slots[slot] = known + 1
