"""A batch of events as ordinals: one row per event, one column per dimension, ready for kernels.

Most events have one value per attribute, so `least` and `greatest` are enough; if they differ, `sets` has the whole set
of ordinals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidings.events import EventBatch
from tidings.events.arrays import as_stored
from tidings.language.relations import ANY_RELATION, GREATER, LESS, SAME, UNRELATED
from tidings.matching.boxes.choices import comparable
from tidings.matching.boxes.dimension import OPEN, UNBOUND, Dimension, Ordinals, column_of, degrees_of, of_events
from tidings.matching.ragged import owners
from tidings.schema.domain import Kind

if TYPE_CHECKING:
    from tidings.matching.boxes.texts.batch_words import TextColumn
    from tidings.matching.boxes.texts.text_entries import Entries

EXTREMES = 4  # numbers of each pair: the left and the right value, or the least of each and then the greatest
SEVERAL = 16  # beside the relations: an attribute has several values, so there may be several relations

Integers = npt.NDArray[np.int64]


class EventTable(NamedTuple):
    """`least`/`greatest[e, d]`: -1 if event e does not bind dimension d. `relations[e, p]`: the relation between the
    attributes of pair p, as one bit; 0 if one is unbound; if one has several values, SEVERAL and all relations that are
    possible (`possible_relations`; before that, any)."""

    least: Ordinals
    greatest: Ordinals
    set_starts: Integers  # (events, dimensions) if anything has several ordinals, else empty
    set_stops: Integers
    sets: Ordinals
    relations: npt.NDArray[np.uint8]
    pair_numbers: npt.NDArray[np.float64]  # (events, EXTREMES * pairs) if a residual computes with them
    pair_instants: Integers  # the same memory, for times
    positions: Integers
    text_starts: Integers  # (events, dimensions) if a dimension is one of terms, else empty: each event's texts
    text_stops: Integers
    texts: Integers  # their numbers; see `text_entries.Entries`
    entry_offsets: Integers
    entry_terms: Ordinals
    place_offsets: Integers
    places: Ordinals

    @classmethod
    def of(
        cls, batch: EventBatch, dimensions: tuple[Dimension, ...], relations: tuple[tuple[str, str], ...] = (),
        computed: bool = False,
    ) -> EventTable:  # fmt: skip
        rows, columns = len(batch), len(dimensions)
        texts = {place: d.texts(batch) for place, d in enumerate(dimensions) if d.axis.role == "term"}
        encoded = [
            of_events(*found) if (found := texts.get(place)) else dimension.encode(batch)
            for place, dimension in enumerate(dimensions)
        ]
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
        return cls(
            least, greatest, starts, stops, sets, related, numbers, numbers.view(np.int64), positions,
            *(_texts(texts, rows, columns) if texts else no_texts()),
        )  # fmt: skip

    @property
    def undecided(self) -> npt.NDArray[np.bool_]:
        """Which events may need a second look."""
        undecided: npt.NDArray[np.bool_] = np.any(self.relations >= SEVERAL, axis=1)
        return undecided

    @property
    def single(self) -> bool:
        """Whether no event has several ordinals anywhere."""
        return not len(self.sets)


def no_texts() -> tuple[Any, ...]:
    """The fields from `text_starts` on of a batch in which no patterns are tested."""
    integers, ordinals = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return np.zeros((0, 0), np.int64), np.zeros((0, 0), np.int64), integers, integers, ordinals, integers, ordinals


def _texts(found: dict[int, tuple[TextColumn, Entries] | None], rows: int, columns: int) -> tuple[Any, ...]:
    """The fields from `text_starts` on, one dimension of terms after the other."""
    starts, stops = np.zeros((rows, columns), np.int64), np.zeros((rows, columns), np.int64)
    parts: list[list[Any]] = [[np.zeros(0, np.int64)], [], [np.zeros(0, np.int32)], [], [np.zeros(0, np.int32)]]
    values = texts = entries = places = 0
    for place, one in found.items():
        if one is None:
            continue
        column, listed = one
        missing = len(listed.offsets) - 2
        if column.offsets is None:
            starts[:, place] = values + np.arange(rows)
            stops[:, place] = starts[:, place] + (column.texts != missing)
        else:
            starts[:, place], stops[:, place] = values + column.offsets[:-1], values + column.offsets[1:]
        shifted = column.texts + texts, listed.offsets[:-1] + entries, listed.terms
        for part, array in zip(parts, (*shifted, listed.place_offsets[:-1] + places, listed.places), strict=True):
            part.append(array)
        values += len(column.texts)
        texts += missing + 1
        entries += len(listed.terms)
        places += len(listed.places)
    parts[1].append(np.array([entries], np.int64))
    parts[3].append(np.array([places], np.int64))
    return starts, stops, *map(np.concatenate, parts)


def _distinct(offsets: Integers, ordinals: Ordinals) -> tuple[Integers, Ordinals]:
    """Each row's distinct ordinals, ascending: values that no filter distinguishes are one."""
    ascends = ordinals[1:] > ordinals[:-1]
    between = offsets[(offsets > 0) & (offsets < len(ordinals))]
    ascends[between - 1] = True
    if ascends.all():
        return offsets, ordinals
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
    found = np.where(many_first | many_second, SEVERAL | ANY_RELATION, found)
    return np.where(bound_first & bound_second, found, 0).astype(np.uint8)


def _numbers(batch: EventBatch, relations: tuple[tuple[str, str], ...]) -> npt.NDArray[np.float64]:
    """The values of each pair of numbers or times, of several the first (`possible_relations` writes their extremes);
    of a place, which is paired with itself, its degrees."""
    numbers = np.zeros((len(batch), EXTREMES * len(relations)))
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
                    into[:, EXTREMES * place + side] = _single(column)[0]
            case Kind.PLACE:
                texts = _single(columns[0])[0]
                if texts.dtype == object:  # else no event has a value
                    numbers[:, EXTREMES * place : EXTREMES * place + 2] = degrees_of(pa.array(texts, pa.string()))
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
