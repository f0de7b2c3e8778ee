"""The paths of a segment that have tests, in the order in which a document's values find them.

A path is one entry, at the trie node of its first tested step; such nodes have numbers of their own, their places.
Those with the same key and place form a cell, and a text or a name leads to all its cells, of which the state of a
document's node says which count. Numbers are asked for by lists: one for each place, label and comparison, by rising
number."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.documents.index.keys import ALWAYS, EQUALS, EXISTS
from tidings.documents.index.trie import Numbers, Trie


class Columns(NamedTuple):
    """By path; only the first matters for those without tests."""

    rest: Numbers  # the operation for all tests and the steps after them, or -1
    left: Numbers  # the operation for what the key does not decide, or -1
    kind: npt.NDArray[np.int8]  # of the key
    column: Numbers  # the number of the key's text, else its label
    bound: npt.NDArray[np.float64]

    def chosen(self, rows: Any) -> Columns:
        return Columns(*(column[rows] for column in self))


class Entries(NamedTuple):
    slot: Numbers
    left: Numbers  # an index into `operations`, or -1
    bound: npt.NDArray[np.float64]
    operations: Numbers  # the distinct ones
    place_of: Numbers  # by trie node; -1: no tests there
    places: int
    of_text: Numbers  # by text: where its cells are, or -1
    of_label: Numbers  # by label plus one: where the cells of EXISTS are, or -1
    cell_offsets: Numbers
    cell_place: Numbers
    cell_entries: Numbers  # where the entries of each cell begin, and where the last ends
    list_offsets: Numbers  # by place
    list_label: Numbers  # plus one
    list_kind: npt.NDArray[np.int8]
    list_entries: Numbers
    always: Numbers  # by place: where the entries that have no key begin


def entries_of(columns: Columns, trie: Trie, texts: int, labels: int) -> Entries:
    """`texts` and `labels`: how many there are."""
    tested = np.flatnonzero(columns.rest >= 0).astype(np.int32)
    nodes = trie.last[tested]
    place: Any
    at, place = np.unique(nodes, return_inverse=True)
    place_of = np.full(len(trie.parent), -1, np.int32)
    place_of[at] = np.arange(len(at))
    _, left, kind, column, bound = columns.chosen(tested)
    looked_up, always = (kind == EQUALS) | (kind == EXISTS), kind == ALWAYS
    section = np.where(looked_up, 0, np.where(always, 2, 1))
    # Cells by kind, key and place; lists by place, label, kind and bound; the rest by place.
    major = np.where(section == 0, kind.astype(np.int64) << 40 | column + 1, place)
    minor = np.where(section == 0, place, (column.astype(np.int64) + 1) << 3 | kind)
    order = np.lexsort((left, bound, minor, major, section))
    tested, left, bound, kind, column = tested[order], left[order], bound[order], kind[order], column[order]
    place = place[order].astype(np.int32)
    first, second = np.cumsum(np.bincount(section, minlength=3))[:2]
    operations, dense = np.unique(left, return_inverse=True)
    none = int(len(operations) > 0 and operations[0] < 0)
    cells = _firsts(major[order][:first], minor[order][:first])
    keys = _firsts(major[order][cells], np.zeros(len(cells), np.int64))  # places among cells
    key_kind, key_column = kind[cells][keys], column[cells][keys]
    of_text, of_label = np.full(texts, -1, np.int32), np.full(labels + 1, -1, np.int32)
    of_text[key_column[key_kind == EQUALS]] = np.flatnonzero(key_kind == EQUALS)
    of_label[key_column[key_kind == EXISTS] + 1] = np.flatnonzero(key_kind == EXISTS)
    lists = _firsts(major[order][first:second], minor[order][first:second]) + first
    return Entries(
        tested,
        (dense - none).astype(np.int32),
        bound,
        operations[none:].astype(np.int32),
        place_of,
        len(at),
        of_text,
        of_label,
        np.append(keys, len(cells)).astype(np.int32),
        place[cells],
        np.append(cells, first).astype(np.int32),
        np.searchsorted(place[lists], np.arange(len(at) + 1)).astype(np.int32),
        column[lists] + np.int32(1),
        kind[lists],
        np.append(lists, second).astype(np.int32),
        (np.searchsorted(place[second:], np.arange(len(at) + 1)) + second).astype(np.int32),
    )


def _firsts(major: Any, minor: Any) -> npt.NDArray[np.int64]:
    """Where a new pair begins."""
    new = np.ones(len(major), np.bool_)
    new[1:] = (np.diff(major) != 0) | (np.diff(minor) != 0)
    return np.flatnonzero(new)
