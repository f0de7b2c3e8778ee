"""Rows of different lengths as one flat array and offsets: row i is `flat[offsets[i]:offsets[i + 1]]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


def offsets_of(lengths: Any) -> Integers:
    """Where each row begins, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def flattened(rows: Sequence[Sequence[Any]], dtype: Any) -> tuple[Integers, npt.NDArray[Any]]:
    """The offsets and the flat array."""
    return offsets_of([len(row) for row in rows]), np.array([item for row in rows for item in row], dtype)


def owners(offsets: Integers) -> Integers:
    """The row of each position in the flat array."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def places(first: Any, lengths: Any) -> Integers:
    """The positions first[i], first[i] + 1, … of each run, concatenated."""
    offsets = offsets_of(lengths)
    return np.repeat(first - offsets[:-1], lengths) + np.arange(offsets[-1])


def taken(offsets: Integers, rows: Any) -> tuple[Integers, Integers]:
    """For the given rows, in order: their positions in the flat array, and the new offsets."""
    lengths = np.diff(offsets)[rows]
    return places(offsets[:-1][rows], lengths), offsets_of(lengths)


def joined_offsets(parts: Sequence[Integers]) -> Integers:
    """The offsets of several ragged arrays, concatenated."""
    return offsets_of(np.concatenate([np.zeros(0, np.int64), *(np.diff(part) for part in parts)]))


def sums(values: Any, offsets: Integers) -> Integers:
    """The sum of each row, 0 for an empty one."""
    total = offsets_of(values)
    return total[offsets[1:]] - total[offsets[:-1]]
