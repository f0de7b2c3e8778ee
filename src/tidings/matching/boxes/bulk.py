"""Turns millions of conjunctive filters into boxes without an object per filter: `PredicateTable` to `BoxTable`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tidings.language.ranges import INTERVALS
from tidings.matching.boxes.box import Axis, Role, boxes_of
from tidings.matching.boxes.box_table import HAS_ANY, IN_RANGES, BoxTable
from tidings.matching.boxes.dimension import OPEN, Dimension, are_points
from tidings.matching.boxes.merge import merge_tables
from tidings.matching.boxes.predicate_table import CONTAINS, OPERATORS, PredicateTable
from tidings.matching.ragged import owners
from tidings.schema.domain import Domain, Kind

EQUAL, UNEQUAL, LESS, AT_MOST, MORE, AT_LEAST = (OPERATORS.index(o) for o in ("=", "!=", "<", "<=", ">", ">="))
_DENSE = 1 << 22  # integers in a smaller range are ranked by a table, others by sorting

Integers = npt.NDArray[np.int64]


def _operators(end: int, bound: str) -> npt.NDArray[np.bool_]:
    """By operator: whether its interval begins (0) or ends (1) at the key, or after it. A table is much faster than a
    search. `contains` is an equality on its own axis."""
    named = (INTERVALS.get("=" if sign == "contains" else sign, (None, None)) for sign in OPERATORS)
    return np.array([ends[end] == bound for ends in named])


_LOW_AT, _LOW_AFTER = _operators(0, "at"), _operators(0, "after")
_HIGH_AT, _HIGH_AFTER = _operators(1, "at"), _operators(1, "after")
_GAP = np.array([sign == "!=" for sign in OPERATORS])
_CUT_AT, _CUT_AFTER = _LOW_AT | _HIGH_AT | _GAP, _LOW_AFTER | _HIGH_AFTER | _GAP


def box_table(table: PredicateTable, first_number: int = 0) -> BoxTable:
    """One box per filter; numbers ascend from `first_number`. A filter that can never match has no box."""
    tied = _tied(table)
    if not len(tied):
        return _Bulk(table, first_number).table()
    # Several predicates test one value here, and not as an interval: these few are parsed as filters.
    apart = np.setdiff1d(np.arange(len(table)), tied)
    rest = _Bulk(table.take(apart), 0).table()
    rest = replace(rest, number=(apart[rest.number] + first_number).astype(np.int32))
    boxes = [(n + first_number, box) for n in tied.tolist() for box in boxes_of(table.filter(n), table.catalog)]
    return merge_tables([rest, BoxTable.of(boxes, table.catalog)])


def _tied(table: PredicateTable) -> Integers:
    """The filters with several predicates on one attribute, one of which (`!=`, above in a hierarchy) is not an
    interval."""
    upward = np.array([_is_hierarchy(table, name) for name in table.attributes] or [False])[table.attribute]
    gap = (table.operator == UNEQUAL) | (upward & np.isin(table.operator, (MORE, AT_LEAST)))
    if not gap.any():
        return np.zeros(0, np.int64)
    owner = owners(table.offsets)
    compared = table.operator != CONTAINS
    place = owner * len(table.attributes) + table.attribute
    asked, count = np.unique(place[compared], return_counts=True)
    several = asked[count > 1]
    return np.unique(owner[gap & np.isin(place, several)])


def _is_hierarchy(table: PredicateTable, attribute: str) -> bool:
    domain = table.catalog.domain_of(attribute)
    return domain is not None and domain.kind is Kind.HIERARCHICAL


@dataclass(slots=True)
class _Residuals:
    box: list[Integers]
    rows: list[npt.NDArray[np.int32]]
    pool: list[npt.NDArray[np.int32]]
    used: int = 0


class _Bulk:
    def __init__(self, table: PredicateTable, first_number: int) -> None:
        self.source = table
        self.first_number = first_number
        self.box = owners(table.offsets)
        self.dimension = np.zeros(len(table.attribute), np.int16)
        self.low = np.zeros(len(table.attribute), np.int32)
        self.high = np.full(len(table.attribute), OPEN)
        self.dimensions: list[Dimension] = []
        self.residuals = _Residuals([], [], [])

    def table(self) -> BoxTable:
        for place, attribute in sorted(enumerate(self.source.attributes), key=lambda one: one[1]):
            of_attribute = self.source.attribute == place
            contains = of_attribute & (self.source.operator == CONTAINS)
            for role_rows, contained in ((contains, True), (of_attribute & ~contains, False)):
                rows = np.flatnonzero(role_rows)
                if len(rows):
                    self._axis(attribute, place, rows, contained)
        return self._assembled()

    def _axis(self, attribute: str, place: int, rows: Integers, contained: bool) -> None:
        domain = self.source.catalog.domain_of(attribute)
        assert domain is not None
        role: Role = "value" if not contained else "word" if domain.kind.wordy else "member"
        axis, kind = Axis(attribute, role), domain.stored_as
        self.dimension[rows] = len(self.dimensions)
        values, operators = self.source.value[rows], self.source.operator[rows]
        if domain.listed:
            at = values.astype(np.int32)
            self.dimensions.append(Dimension(axis, kind))
            if domain.kind is Kind.HIERARCHICAL and not contained:
                self._hierarchy(rows, operators, at, domain)
                return
            self._bounds(rows, operators, at, at + 1)
            return
        used, places = self._keys(domain, place, values)
        if contained:
            self.dimensions.append(Dimension(axis, kind, _listed(used)))
            self._bounds(rows, operators, places.astype(np.int32) + 1, places.astype(np.int32) + 2)
            return
        cuts, at, after = _cut(used, places, operators)
        only_points = kind.wordy and bool((operators == EQUAL).all())
        self.dimensions.append(Dimension(axis, kind, _listed(cuts), only_points and are_points(cuts.tolist())))
        self._bounds(rows, operators, at, after)

    def _keys(self, domain: Domain, place: int, values: npt.NDArray[np.float64]) -> tuple[npt.NDArray[Any], Integers]:
        """The distinct keys in order, and the index of each predicate's key."""
        if domain.kind is Kind.NUMERIC:
            return _ranked(values)
        if domain.kind is Kind.TIME:
            return _ranked(values.astype(np.int64))
        literals = self.source.vocabularies[place]
        order = sorted(range(len(literals)), key=literals.__getitem__)
        rank = np.empty(len(literals), np.int64)
        rank[order] = np.arange(len(literals))
        used, places = _ranked(rank[values.astype(np.int64)])
        words = np.empty(len(used), object)
        words[:] = [literals[order[one]] for one in used]
        return words, places

    def _bounds(
        self, rows: Integers, operators: npt.NDArray[np.int8], at: npt.NDArray[np.int32], after: npt.NDArray[np.int32]
    ) -> None:
        """`at` is the ordinal that begins with the value, `after` the one that begins right after it."""
        self.low[rows] = np.where(_LOW_AT[operators], at, np.where(_LOW_AFTER[operators], after, np.int32(0)))
        self.high[rows] = np.where(_HIGH_AFTER[operators], after, np.where(_HIGH_AT[operators], at, OPEN))
        unequal = np.flatnonzero(operators == UNEQUAL)
        if len(unequal):
            pool = np.stack(
                [np.zeros(len(unequal), np.int32), at[unequal], after[unequal], np.full(len(unequal), OPEN)], axis=1
            )
            self._residual(self.box[rows[unequal]], IN_RANGES, self.dimension[rows[unequal]], pool)

    def _residual(self, box: Integers, kind: int, dimension: npt.NDArray[Any], pool: npt.NDArray[np.int32]) -> None:
        width = pool.shape[1]
        start = self.residuals.used + np.arange(len(box)) * width
        made = np.zeros((len(box), 5), np.int32)
        made[:, 0], made[:, 2], made[:, 3], made[:, 4] = kind, dimension, start, start + width
        self.residuals.box.append(box)
        self.residuals.rows.append(made)
        self.residuals.pool.append(pool.astype(np.int32).ravel())
        self.residuals.used += pool.size

    def _hierarchy(
        self, rows: Integers, operators: npt.NDArray[np.int8], at: npt.NDArray[np.int32], domain: Domain
    ) -> None:
        """The descendants of a node are an interval; its ancestors are single nodes, hence a residual within their
        enclosing interval."""
        ends = np.array(domain.hierarchy.ends, np.int32)
        down = np.isin(operators, (LESS, AT_MOST))
        plain = np.isin(operators, (EQUAL, UNEQUAL))
        self._bounds(rows[plain], operators[plain], at[plain], at[plain] + 1)
        self.low[rows[down]] = at[down] + (operators[down] == LESS)
        self.high[rows[down]] = ends[at[down]]
        for row, operator, node in zip(
            rows[~down & ~plain], operators[~down & ~plain], at[~down & ~plain], strict=True
        ):
            name = domain.hierarchy.nodes[node]
            above = sorted([*domain.hierarchy.ancestors(name), *([node] if operator == AT_LEAST else [])])
            if not above:
                self.high[row] = 0  # a root has no ancestors
                continue
            self.low[row], self.high[row] = above[0], above[-1] + 1
            pool = np.array([[bound for number in above for bound in (number, number + 1)]], np.int32)
            self._residual(self.box[row : row + 1], IN_RANGES, self.dimension[row : row + 1], pool)

    def _assembled(self) -> BoxTable:
        box, dimension, low, high = self.box, self.dimension, self.low, self.high
        step = box.astype(np.int64) * len(self.dimensions) + dimension
        if len(step) > 1 and not (step[1:] > step[:-1]).all():
            box, dimension, low, high = self._merged(step)
        possible = np.ones(len(self.source), bool)
        possible[box[low >= high]] = False
        if not possible.all():
            keep = possible[box]
            box, dimension, low, high = box[keep], dimension[keep], low[keep], high[keep]
        new = np.cumsum(possible) - 1
        count = int(possible.sum())
        offsets = np.searchsorted(new[box], np.arange(count + 1)).astype(np.int64)
        residual_offsets, rows = self._sorted_residuals(possible, new, count)
        pool = np.concatenate(self.residuals.pool) if self.residuals.pool else np.zeros(0, np.int32)
        number = (np.flatnonzero(possible) + self.first_number).astype(np.int32)
        return BoxTable(tuple(self.dimensions), number, offsets, dimension, low, high, residual_offsets, rows, pool)

    def _merged(self, step: Integers) -> tuple[Integers, npt.NDArray[np.int16], Any, Any]:
        """Sides sorted by dimension; several on one dimension are intersected."""
        order = np.argsort(step, kind="stable")
        step = step[order]
        differs = step[1:] != step[:-1]
        if differs.all():  # the common case (le-subscribe, 3.2 M filters: saves a quarter of the time)
            return self.box[order], self.dimension[order], self.low[order], self.high[order]
        first = np.flatnonzero(np.concatenate([[True], differs]))
        low = np.maximum.reduceat(self.low[order], first)
        high = np.minimum.reduceat(self.high[order], first)
        box, dimension = self.box[order], self.dimension[order]
        later = np.ones(len(step), bool)
        later[first] = False
        asked = np.array([one.axis.role != "value" for one in self.dimensions])[dimension]
        if (later & asked).any():
            # `contains` may require several members at once: one is the side, the others are residuals.
            low[asked[first]], high[asked[first]] = (
                self.low[order][first][asked[first]],
                self.high[order][first][asked[first]],
            )
            more = later & asked
            self._residual(box[more], HAS_ANY, dimension[more], self.low[order][more][:, None])
        return box[first], dimension[first], low, high

    def _sorted_residuals(
        self, possible: npt.NDArray[np.bool_], new: Integers, count: int
    ) -> tuple[Integers, npt.NDArray[np.int32]]:
        if not self.residuals.rows:
            return np.zeros(count + 1, np.int64), np.zeros((0, 5), np.int32)
        box = np.concatenate(self.residuals.box)
        rows = np.concatenate(self.residuals.rows)
        keep = possible[box]
        box, rows = new[box[keep]], rows[keep]
        order = np.argsort(box, kind="stable")
        return np.searchsorted(box[order], np.arange(count + 1)).astype(np.int64), rows[order]


def _cut(
    values: npt.NDArray[Any], places: Integers, operators: npt.NDArray[np.int8]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The cuts of the axis, and for each predicate the ordinals that begin at its key and right after it."""
    needed = np.zeros((len(values), 2), bool)
    needed[places[_CUT_AT[operators]], 0] = True
    needed[places[_CUT_AFTER[operators]], 1] = True
    ordinals = np.cumsum(needed.ravel()).reshape(needed.shape).astype(np.int32)
    both = np.stack([values, _successor(values)], axis=1)
    return both.ravel()[needed.ravel()], ordinals[places, 0], ordinals[places, 1]


def _ranked(keys: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Integers]:
    """The distinct keys in order, and the index of each key."""
    if len(keys):
        low, high = keys.min(), keys.max()
        if high / 2 - low / 2 < _DENSE / 2 and (keys == np.floor(keys)).all():
            shifted = (keys - low).astype(np.int64)
            present = np.zeros(int(high - low) + 1, bool)
            present[shifted] = True
            return np.flatnonzero(present).astype(keys.dtype) + low, (np.cumsum(present) - 1)[shifted]
    return np.unique(keys, return_inverse=True)


def _successor(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.dtype == np.float64:
        with np.errstate(over="ignore"):  # the greatest number is followed by infinity, which no event has
            return np.asarray(np.nextafter(values, np.inf))
    if values.dtype != object:
        return values + 1
    after = np.empty(len(values), object)
    after[:] = [value + "\0" for value in values]  # numpy's own addition would strip the NUL again
    return after


def _listed(keys: npt.NDArray[Any]) -> Any:
    return keys.tolist() if keys.dtype == object else keys
