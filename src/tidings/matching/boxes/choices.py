"""The values that an event can choose from, one by one, for candidates that need a second look.

An `EventTable` knows which ordinals occur per event and dimension, but not which belong to one value. If a filter
compares attributes with each other, or requires several words in one value, and an event has several values there,
kernels need the values themselves. Only such events are in these arrays; most batches have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidings.events import EventBatch
from tidings.events.arrays import as_lists, as_stored
from tidings.matching.boxes.box import Axis, Role
from tidings.matching.boxes.dimension import Dimension, column_of, degrees_of
from tidings.matching.ragged import offsets_of, owners
from tidings.schema.domain import Kind

Integers = npt.NDArray[np.int64]
Ordinals = npt.NDArray[np.int32]
Pairs = Sequence[tuple[str, str]]

# The axes on which a side or a list of ranges demands something of the one value that is chosen.
_OF_ONE_VALUE: tuple[Role, ...] = ("value", "ahead", "backwards", "latitude", "longitude")
ROLES = len(_OF_ONE_VALUE)


class Choices(NamedTuple):
    """Dimensions of the arrays: event (E), row (R: an event with several values), compared attribute (K), pair of them
    (P), value (V), dimension (D) and dimension of words (W). A pair may name one attribute twice.

    The values of attribute k in row r are `starts[r, k]:stops[r, k]`, ascending. As a member of pair p, on side s,
    value i is the interval [ranks, ends) at `i + shift[p, s]`: a pre-order number with its subtree, else a rank among
    all values of both sides.
    """

    row: Ordinals  # E: -1 if every relevant attribute has one value
    attributes: Ordinals  # (P, 2)
    partial: npt.NDArray[np.bool_]  # P: whether the order is a hierarchy's
    dimension: Ordinals  # (K, ROLES): the dimensions of the attribute's ordinals; -1 if none
    starts: Integers  # (R, K)
    stops: Integers
    ordinals: Ordinals  # (V, ROLES)
    numbers: npt.NDArray[np.float64]  # (V, 2) if a residual computes: a number, or a place's degrees
    instants: Integers  # the same memory, for times
    shift: Integers  # (P, 2)
    ranks: Integers
    ends: Integers
    words_place: Ordinals  # D: index in W; -1 if none
    text_starts: Integers  # (R, W): texts with their words
    text_stops: Integers
    word_offsets: Integers
    words: Ordinals


def no_choices(events: int, dimensions: int) -> Choices:
    none = np.zeros(0, np.int64)
    table, few, by_role = np.zeros((0, 0), np.int64), np.zeros(0, np.int32), np.zeros((0, ROLES), np.int32)
    return Choices(
        np.full(events, -1, np.int32), np.zeros((0, 2), np.int32), np.zeros(0, np.bool_), by_role, table, table,
        by_role, np.zeros((0, 2)), np.zeros((0, 2), np.int64), np.zeros((0, 2), np.int64), none, none,
        np.full(dimensions, -1, np.int32), table, table, none, few,
    )  # fmt: skip


def choices_of(
    batch: EventBatch, undecided: npt.NDArray[np.bool_], dimensions: tuple[Dimension, ...], pairs: Pairs,
    computed: bool = False,
) -> Choices:  # fmt: skip
    """The choices of events with several values in an attribute of the pairs; with numbers if residuals compute."""
    if not undecided.any():
        return no_choices(len(batch), len(dimensions))
    row = np.where(undecided, np.cumsum(undecided) - 1, -1).astype(np.int32)
    made = _Maker(batch.filter(undecided), dimensions, pairs, computed)
    return Choices(row, *made.values(), *made.texts())


class _Maker:
    def __init__(
        self, batch: EventBatch, dimensions: tuple[Dimension, ...], pairs: Pairs, computed: bool
    ) -> None:  # fmt: skip
        self.batch, self.dimensions, self.pairs, self.computed = batch, dimensions, pairs, computed
        self.names = names_of(pairs)
        self.place = {dimension.axis: place for place, dimension in enumerate(dimensions)}

    def values(self) -> tuple[Any, ...]:
        """The fields from `attributes` to `ends`."""
        columns = [_flat(self.batch, name) for name in self.names]
        starts = np.zeros((len(self.batch), len(self.names)), np.int64)
        stops = np.zeros_like(starts)
        attributes, dimension = compared(self.dimensions, self.pairs)
        orders, bases, used = [], [], 0
        ordinals, numbers = [np.zeros((0, ROLES), np.int32)], [np.zeros((0, 2))]
        for k, (offsets, flat) in enumerate(columns):
            order = _order(offsets, flat)
            starts[:, k], stops[:, k] = offsets[:-1] + used, offsets[1:] + used
            orders.append(order)
            bases.append(used)
            ordinals.append(self._ordinals(dimension[k].tolist(), offsets, flat)[order])
            if self.computed:
                numbers.append(self._numbers(self.names[k], flat)[order])
            used += len(flat)
        shift = np.zeros((len(self.pairs), 2), np.int64)
        partial = np.zeros(len(self.pairs), np.bool_)
        ranks, ends, ranked = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
        for p, sides in enumerate(attributes.tolist()):
            partial[p], rank, end = self._ranked(self.pairs[p][0], [columns[k][1] for k in sides])
            for s, k in enumerate(sides):
                shift[p, s] = ranked - bases[k]
                ranks.append(rank[s][orders[k]])
                ends.append(end[s][orders[k]])
                ranked += len(orders[k])
        computed = np.concatenate(numbers)
        return (
            attributes, partial, dimension, starts, stops, np.concatenate(ordinals), computed, computed.view(np.int64),
            shift, np.concatenate(ranks), np.concatenate(ends),
        )  # fmt: skip

    def _ordinals(self, places: list[int], offsets: Integers, flat: Any) -> Ordinals:
        """Those of each value on the axes of its attribute."""
        found = np.zeros((len(flat), ROLES), np.int32)
        for role, place in enumerate(places):
            if place >= 0 and len(flat):
                dimension = self.dimensions[place]
                ahead = dimension.axis.role == "ahead"
                found[:, role] = (
                    dimension.ahead(self.batch, owners(offsets), flat) if ahead else dimension.ordinals(flat)
                )
        return found

    def _numbers(self, attribute: str, flat: Any) -> npt.NDArray[np.float64]:
        """What residuals compute with, for each value."""
        numbers = np.zeros((len(flat), 2))
        domain = self.batch.catalog.domain_of(attribute)
        assert domain is not None
        match domain.kind:
            case Kind.NUMERIC:
                numbers[:, 0] = comparable(flat)
            case Kind.TIME:
                numbers.view(np.int64)[:, 0] = comparable(flat)
            case Kind.PLACE if len(flat):
                numbers[:] = degrees_of(flat)
            case _:
                pass  # nothing is computed with others
        return numbers

    def _ranked(self, attribute: str, sides: list[Any]) -> tuple[bool, list[Integers], list[Integers]]:
        """Whether the order is partial; the values of both sides as intervals [rank, end) of one order."""
        domain = self.batch.catalog.domain_of(attribute)
        assert domain is not None
        keys = [comparable(flat) for flat in sides]
        if domain.kind is Kind.HIERARCHICAL:
            ends = np.array(domain.hierarchy.ends, np.int64)
            ranks = [key.astype(np.int64) for key in keys]
            return True, ranks, [ends[rank] for rank in ranks]
        _, inverse = np.unique(np.concatenate(keys), return_inverse=True)
        ranks = [inverse[: len(keys[0])], inverse[len(keys[0]) :]]
        return False, ranks, [rank + 1 for rank in ranks]

    def texts(self) -> tuple[Any, ...]:
        """The fields from `words_place` on: for attributes paired with themselves, which is how boxes mark those that
        require several words in one value."""
        marked = [name for name, other in self.pairs if name == other]
        axes = [axis for name in marked if (axis := Axis(name, "word")) in self.place]
        words_place = np.full(len(self.dimensions), -1, np.int32)
        starts = np.zeros((len(self.batch), len(axes)), np.int64)
        stops = np.zeros_like(starts)
        word_offsets, words = [np.zeros(1, np.int64)], [np.zeros(0, np.int32)]
        texts = found = 0
        for w, axis in enumerate(axes):
            words_place[self.place[axis]] = w
            offsets, flat = _flat(self.batch, axis.attribute)
            starts[:, w], stops[:, w] = offsets[:-1] + texts, offsets[1:] + texts
            ends, ordinals = self.dimensions[self.place[axis]].words(flat, self.batch.catalog)
            word_offsets.append(ends[1:] + found)
            words.append(ordinals)
            texts, found = texts + len(flat), found + len(ordinals)
        return words_place, starts, stops, np.concatenate(word_offsets), np.concatenate(words)


def names_of(pairs: Pairs) -> list[str]:
    """The compared attributes, by number."""
    return list(dict.fromkeys(name for pair in pairs for name in pair))


def compared(dimensions: tuple[Dimension, ...], pairs: Pairs) -> tuple[Ordinals, Ordinals]:
    """The fields `attributes` and `dimension`, which no event changes."""
    names = names_of(pairs)
    place = {dimension.axis: place for place, dimension in enumerate(dimensions)}
    attributes = [[names.index(name) for name in pair] for pair in pairs]
    dimension = [[place.get(Axis(name, role), -1) for role in _OF_ONE_VALUE] for name in names]
    return np.array(attributes, np.int32).reshape(-1, 2), np.array(dimension, np.int32).reshape(-1, ROLES)


def _flat(batch: EventBatch, attribute: str) -> tuple[Integers, Any]:
    """A column as offsets by row and all values."""
    column = column_of(batch, attribute)
    if column is None:
        return np.zeros(len(batch) + 1, np.int64), pa.array([], pa.float64())
    listed = as_lists(as_stored(column))
    lengths = listed.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return offsets_of(lengths), listed.flatten()


def _order(offsets: Integers, flat: Any) -> Integers:
    """The positions of the values, row by row, ascending in each."""
    row = owners(offsets)
    _, rank = np.unique(comparable(flat), return_inverse=True)
    return np.lexsort((rank, row))


def comparable(flat: Any) -> npt.NDArray[Any]:
    """Values in a form that numpy can compare; missing ones are arbitrary."""
    if pa.types.is_timestamp(flat.type):
        flat = flat.cast(pa.int64())
    filled = flat.fill_null("" if pa.types.is_string(flat.type) else 0)
    compared: npt.NDArray[Any] = filled.to_numpy(zero_copy_only=False)
    return compared
