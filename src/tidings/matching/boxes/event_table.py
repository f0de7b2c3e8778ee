"""A batch of events as ordinals: one row per event, one column per dimension, ready for kernels.

Most events have one value per attribute, so `least` and `greatest` are enough; if they differ, `sets` has the whole set
of ordinals.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidings.events import EventBatch
from tidings.events.arrays import as_stored
from tidings.language.relations import GREATER, LESS, SAME, UNRELATED
from tidings.matching.boxes.choices import comparable
from tidings.matching.boxes.dimension import OPEN, UNBOUND, Dimension, Ordinals, column_of, degrees_of
from tidings.matching.ragged import owners
from tidings.schema.domain import Kind

SEVERAL = 16  # instead of a relation: an attribute has several values, so there may be several relations

Integers = npt.NDArray[np.int64]


class EventTable(NamedTuple):
    """`least`/`greatest[e, d]`: -1 if event e does not bind dimension d. `relations[e, p]`: the relation between the
    attributes of pair p, as one bit; 0 if unbound; or SEVERAL."""

    least: Ordinals
    greatest: Ordinals
    set_starts: Integers  # (events, dimensions) if anything has several ordinals, else empty
    set_stops: Integers
    sets: Ordinals
    relations: npt.NDArray[np.uint8]
    pair_numbers: npt.NDArray[
        np.float64
    ]  # (events, 2 * pairs) if a residual computes with them: the values of each pair
    pair_instants: Integers  # the same memory, for times
    positions: Integers

    @classmethod
    def of(
        cls, batch: EventBatch, dimensions: tuple[Dimension, ...], relations: tuple[tuple[str, str], ...] = (),
        computed: bool = False,
    ) -> EventTable:  # fmt: skip
        rows, columns = len(batch), len(dimensions)
        encoded = [dimension.encode(batch) for dimension in dimensions]
        least = np.empty((rows, columns), np.int32)
        plain = all(offsets is None for offsets, _ in encoded)
        greatest = least if plain else np.empty((rows, columns), np.int32)
        several: list[tuple[int, Integers, Ordinals]] = []
        for place, (offsets, ordinals) in enumerate(encoded):
            if offsets is None:
                least[:, place] = greatest[:, place] = ordinals
                continue
            least[:, place] = _reduce(np.minimum, offsets, ordinals, OPEN)
            greatest[:, place] = _reduce(np.maximum, offsets, ordinals, UNBOUND)
            if (least[:, place] != greatest[:, place]).any():
                several.append((place, *_distinct(offsets, ordinals)))
        shape = (rows, columns) if several else (0, 0)
        starts, stops = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        parts: list[Ordinals] = []
        used = 0
        for place, offsets, ordinals in several:
            starts[:, place], stops[:, place] = offsets[:-1] + used, offsets[1:] + used
            parts.append(ordinals)
            used += len(ordinals)
        sets = np.concatenate(parts) if parts else np.zeros(0, np.int32)
        related = np.zeros((rows, len(relations)), np.uint8)
        for place, (left, right) in enumerate(relations):
            related[:, place] = _relation(batch, left, right)
        positions = batch.positions.to_numpy(zero_copy_only=False)
        numbers = _numbers(batch, relations) if computed else np.zeros((0, 0))
        return cls(least, greatest, starts, stops, sets, related, numbers, numbers.view(np.int64), positions)

    @property
    def undecided(self) -> npt.NDArray[np.bool_]:
        """Which events may need a second look."""
        undecided: npt.NDArray[np.bool_] = (self.relations == SEVERAL).any(axis=1)
        return undecided

    @property
    def single(self) -> bool:
        """Whether no event has several ordinals anywhere."""
        return not len(self.sets)


def _distinct(offsets: Integers, ordinals: Ordinals) -> tuple[Integers, Ordinals]:
    """Each row's distinct ordinals, ascending: values that no filter distinguishes are one."""
    rows = owners(offsets)
    pairs = np.unique((rows << 32) | ordinals)
    starts = np.searchsorted(pairs >> 32, np.arange(len(offsets))).astype(np.int64)
    return starts, (pairs & 0xFFFFFFFF).astype(np.int32)


def _reduce(function: np.ufunc, offsets: Integers, ordinals: Ordinals, nothing: np.int32) -> Ordinals:
    """The least or greatest ordinal of each row; -1 for an empty one."""
    reduced: Ordinals = function.reduceat(np.append(ordinals, nothing), offsets[:-1]) if len(offsets) > 1 else ordinals
    return np.where(offsets[1:] > offsets[:-1], reduced, UNBOUND).astype(np.int32)


def _relation(batch: EventBatch, left: str, right: str) -> npt.NDArray[np.uint8]:
    """The relation of the first attribute's value to the second's, for every event."""
    columns = column_of(batch, left), column_of(batch, right)
    if columns[0] is None or columns[1] is None:
        return np.zeros(len(batch), np.uint8)
    (first, bound_first, many_first), (second, bound_second, many_second) = map(_single, columns)
    domain = batch.catalog.domain_of(left)
    assert domain is not None
    if domain.kind is Kind.HIERARCHICAL:
        ends = np.array(domain.hierarchy.ends, np.int64)
        a, b = first.astype(np.int64), second.astype(np.int64)
        below = (b < a) & (a < ends[b])
        above = (a < b) & (b < ends[a])
        found = np.where(a == b, SAME, np.where(below, LESS, np.where(above, GREATER, UNRELATED)))
    else:
        found = np.where(first == second, SAME, np.where(first < second, LESS, GREATER))
    found = np.where(bound_first & bound_second, found, 0)
    return np.where(many_first | many_second, SEVERAL, found).astype(np.uint8)


def _numbers(batch: EventBatch, relations: tuple[tuple[str, str], ...]) -> npt.NDArray[np.float64]:
    """The values of each pair of numbers or times; of a place, which is paired with itself, its degrees."""
    numbers = np.zeros((len(batch), 2 * len(relations)))
    instants = numbers.view(np.int64)
    for place, pair in enumerate(relations):
        domain = batch.catalog.domain_of(pair[0])
        columns = [column_of(batch, name) for name in pair]
        if domain is None or columns[0] is None or columns[1] is None:
            continue
        match domain.kind:
            case Kind.NUMERIC | Kind.TIME:
                for side, column in enumerate(columns):
                    into = numbers if domain.kind is Kind.NUMERIC else instants
                    into[:, 2 * place + side] = _single(column)[0]
            case Kind.PLACE:
                texts = _single(columns[0])[0]
                if texts.dtype == object:  # else no event has a value
                    numbers[:, 2 * place : 2 * place + 2] = degrees_of(pa.array(texts, pa.string()))
    return numbers


def _single(column: pa.Array) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """The first value of each row in comparable form, whether there is one, whether there are several."""
    column = as_stored(column)
    if not pa.types.is_list(column.type):
        bound = column.is_valid().to_numpy(zero_copy_only=False)
        return comparable(column), bound, np.zeros(len(column), bool)
    lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    flat = comparable(column.flatten())
    if not len(flat):
        return np.zeros(len(column)), lengths > 0, lengths > 1
    first = np.minimum(np.cumsum(lengths) - lengths, len(flat) - 1)
    return flat[first], lengths > 0, lengths > 1
