"""Many boxes as flat arrays of ordinals: the input of every index and of merges.

Box b belongs to subscription `number[b]` and has the sides `offsets[b]:offsets[b + 1]`, each an interval [low, high)
of one dimension, and the residuals `residual_offsets[b]:residual_offsets[b + 1]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

import numpy as np
import numpy.typing as npt

from tidings.matching.boxes.box import (
    POINT_ROLES,
    Axis,
    Box,
    FitsPattern,
    Has,
    InRanges,
    InRegion,
    Linear,
    Related,
    Residual,
    Single,
    Unbound,
    Verify,
)
from tidings.matching.boxes.dimension import OPEN, Dimension, Ordinals
from tidings.matching.boxes.texts.pattern_shape import Shape
from tidings.matching.ragged import offsets_of, taken
from tidings.schema.catalog import Catalog
from tidings.schema.values import Span

# Kinds of residuals; `residuals.py` explains their columns.
IN_RANGES, HAS_ANY, HAS_ALL, RELATED, UNBOUND_AXIS, VERIFY, LINEAR, SHIFTED, CIRCLE, BOX, SINGLE = range(11)
PATTERN = -1  # instead of `negated`: twice its shape, and one more if it is negated
POINTING = (IN_RANGES, HAS_ANY, HAS_ALL, PATTERN)  # these, first in order, use a part of the pool
ON_AXIS = (*POINTING, UNBOUND_AXIS)  # these name a dimension first
WITH_CONSTANTS = (LINEAR, SHIFTED, CIRCLE, BOX)  # these name a row of constants
PAIRED = (RELATED, SINGLE, *WITH_CONSTANTS)  # these name a pair of attributes first
HALF = 1 << 32  # a span is two constants: so many times this, and the rest

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BoxTable:
    dimensions: tuple[Dimension, ...]
    number: Ordinals
    offsets: Integers
    dimension: npt.NDArray[np.int16]
    low: Ordinals
    high: Ordinals
    residual_offsets: Integers
    residuals: Ordinals  # rows of (kind, negated, first, start, stop)
    pool: Ordinals  # ranges and lists of ordinals that residuals refer to
    relations: tuple[tuple[str, str], ...] = field(default=())  # pairs of attributes that residuals compare
    constants: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 4)))  # that residuals refer to
    shapes: tuple[Shape, ...] = field(default=())  # of patterns

    def __len__(self) -> int:
        return len(self.number)

    def take(self, boxes: Integers) -> BoxTable:
        """Only these boxes, in this order."""
        rows, offsets = taken(self.offsets, boxes)
        residual_rows, residual_offsets = taken(self.residual_offsets, boxes)
        return BoxTable(
            self.dimensions, self.number[boxes], offsets, self.dimension[rows], self.low[rows], self.high[rows],
            residual_offsets, self.residuals[residual_rows], self.pool, self.relations, self.constants,
            self.shapes,
        )  # fmt: skip

    @classmethod
    def of(cls, boxes: Sequence[tuple[int, Box]], catalog: Catalog) -> BoxTable:
        """Builds the table from boxes in keys, each with its subscription's number."""
        return _Builder(catalog).table(boxes)


class _Builder:
    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.keys: dict[Axis, list[Any]] = {}
        self.only_points: dict[Axis, bool] = {}

    def table(self, boxes: Sequence[tuple[int, Box]]) -> BoxTable:
        self._collect(boxes)
        dimensions = tuple(
            Dimension.of(axis, self.catalog, keys, self.only_points[axis]) for axis, keys in sorted(self.keys.items())
        )
        self.place = {dimension.axis: place for place, dimension in enumerate(dimensions)}
        self.dimensions = dimensions
        sides = [sorted(((self.place[s.axis], s) for s in box.sides), key=lambda one: one[0]) for _, box in boxes]
        flat = [one for of_box in sides for one in of_box]
        low, high = self._intervals(flat)
        self.pool: list[int] = []
        self.relations: dict[tuple[str, str], int] = {}
        self.constants: dict[tuple[float, ...], int] = {}
        self.shapes: dict[Shape, int] = {}
        residuals = [[self._residual(residual) for residual in box.residuals] for _, box in boxes]
        rows = [row for of_box in residuals for row in of_box]
        return BoxTable(
            dimensions,
            np.array([number for number, _ in boxes], np.int32),
            offsets_of([len(of_box) for of_box in sides]),
            np.array([place for place, _ in flat], np.int16),
            low,
            high,
            offsets_of([len(of_box) for of_box in residuals]),
            np.array(rows, np.int32).reshape(len(rows), 5),
            np.array(self.pool, np.int32),
            tuple(self.relations),
            np.array(list(self.constants), np.float64).reshape(-1, 4),
            tuple(self.shapes),
        )

    def _collect(self, boxes: Sequence[tuple[int, Box]]) -> None:
        """Every key that an axis must distinguish."""
        for _, box in boxes:
            for side in box.sides:
                keys = self._axis(side.axis)
                keys.extend(key for key in (side.low, side.high) if key is not None)
                if side.axis.role not in POINT_ROLES and not _is_string_point(side.low, side.high):
                    self.only_points[side.axis] &= side.low is None and side.high is None
            for residual in box.residuals:
                match residual:
                    case InRanges(axis, ranges):
                        self._axis(axis).extend(key for one in ranges for key in one if key is not None)
                        self.only_points[axis] = False
                    case Has(axis, _, wanted):
                        self._axis(axis).extend(wanted)
                    case FitsPattern(axis, terms):
                        self._axis(axis).extend(terms)
                    case Unbound(attribute):
                        self._axis(Axis(attribute, "value"))
                    case Related() | Linear() | InRegion() | Single() | Verify():
                        pass
                    case _:
                        assert_never(residual)

    def _axis(self, axis: Axis) -> list[Any]:
        self.only_points.setdefault(axis, True)
        return self.keys.setdefault(axis, [])

    def _intervals(self, flat: list[tuple[int, Any]]) -> tuple[Ordinals, Ordinals]:
        """The sides as ordinals, dimension by dimension."""
        low = np.zeros(len(flat), np.int32)
        high = np.full(len(flat), OPEN)
        places = np.array([place for place, _ in flat], np.int64)
        by_place = np.argsort(places, kind="stable")
        ends = np.searchsorted(places[by_place], np.arange(len(self.dimensions) + 1))
        for place, dimension in enumerate(self.dimensions):
            rows = by_place[ends[place] : ends[place + 1]]
            chosen = [flat[row][1] for row in rows.tolist()]
            lower = [i for i, side in enumerate(chosen) if side.low is not None]
            low[rows[lower]] = dimension.bounds([chosen[i].low for i in lower])
            if dimension.axis.role in POINT_ROLES:
                high[rows[lower]] = low[rows[lower]] + 1
                continue
            upper = [i for i, side in enumerate(chosen) if side.high is not None]
            high[rows[upper]] = dimension.bounds([chosen[i].high for i in upper])
        return low, high

    def _residual(self, residual: Residual) -> tuple[int, int, int, int, int]:
        match residual:
            case InRanges(axis, ranges):
                start = len(self.pool)
                dimension = self.dimensions[self.place[axis]]
                for low, high in ranges:
                    first = 0 if low is None else int(dimension.bounds([low])[0])
                    last = int(OPEN) if high is None else int(dimension.bounds([high])[0])
                    self.pool += [first, last]
                return IN_RANGES, 0, self.place[axis], start, len(self.pool)
            case Has(axis, quantifier, keys, negated):
                start = len(self.pool)
                self.pool += self.dimensions[self.place[axis]].bounds(keys).tolist()
                kind = HAS_ANY if quantifier == "any" else HAS_ALL
                return kind, int(negated), self.place[axis], start, len(self.pool)
            case FitsPattern(axis, terms, shape, negated):
                start = len(self.pool)
                self.pool += self.dimensions[self.place[axis]].bounds(terms).tolist()
                number = self.shapes.setdefault(shape, len(self.shapes))
                return PATTERN, 2 * number + negated, self.place[axis], start, len(self.pool)
            case Related(left, right, bits):
                return RELATED, 0, self._pair(left, right), bits, 0
            case Linear(left, right, bits, scale, offset):
                if isinstance(offset, Span):
                    return SHIFTED, bits, self._pair(left, right), self._constant(*divmod(int(offset), HALF)), 0
                return LINEAR, bits, self._pair(left, right), self._constant(scale, offset), 0
            case InRegion(attribute, shape, numbers, negated):
                kind = CIRCLE if shape == "circle" else BOX
                return kind, int(negated), self._pair(attribute, attribute), self._constant(*numbers), 0
            case Single(attribute):
                return SINGLE, 0, self._pair(attribute, attribute), 0, 0
            case Unbound(attribute):
                return UNBOUND_AXIS, 0, self.place[Axis(attribute, "value")], 0, 0
            case Verify():
                return VERIFY, 0, 0, 0, 0
            case _:
                assert_never(residual)

    def _pair(self, left: str, right: str) -> int:
        return self.relations.setdefault((left, right), len(self.relations))

    def _constant(self, *numbers: float) -> int:
        row = (*map(float, numbers), 0.0, 0.0, 0.0)[:4]
        return self.constants.setdefault(row, len(self.constants))


def _is_string_point(low: Any, high: Any) -> bool:
    return isinstance(low, str) and high == low + "\0"
