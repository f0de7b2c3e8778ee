"""Boxes and points drawn at random, straight in ordinals: what indexes are tried on without a language."""

import numpy as np
import numpy.typing as npt

from tidings.matching.boxes.box import Axis
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.dimension import OPEN, Dimension
from tidings.schema import Kind

Sides = dict[int, tuple[int, int]]  # by dimension the interval [low, high)


def table_of(boxes: list[Sides], columns: int) -> BoxTable:
    """A table without residuals; box i belongs to subscription i."""
    rows = [(d, low, high) for sides in boxes for d, (low, high) in sorted(sides.items())]
    flat = np.array(rows, np.int64).reshape(-1, 3)
    return BoxTable(
        tuple(Dimension(Axis(f"a{d}", "value"), Kind.NUMERIC) for d in range(columns)),
        np.arange(len(boxes), dtype=np.int32),
        np.cumsum([0, *map(len, boxes)]).astype(np.int64),
        flat[:, 0].astype(np.int16),
        flat[:, 1].astype(np.int32),
        flat[:, 2].astype(np.int32),
        np.zeros(len(boxes) + 1, np.int64),
        np.zeros((0, 5), np.int32),
        np.zeros(0, np.int32),
    )


def random_sides(random: np.random.Generator, columns: int, ordinals: int) -> Sides:
    """Every kind of side: one value, open below, above or at both ends, bounded; often no side at all."""
    sides: Sides = {}
    for d in np.flatnonzero(random.random(columns) < 0.5).tolist():
        low = int(random.integers(0, ordinals))
        high = int(random.integers(low + 1, ordinals + 2))
        kinds = ((low, low + 1), (0, high), (low, int(OPEN)), (0, int(OPEN)), (low, high))
        sides[d] = kinds[random.integers(len(kinds))]
    return sides


def random_boxes(seed: int, count: int, columns: int, ordinals: int) -> BoxTable:
    random = np.random.default_rng(seed)
    return table_of([random_sides(random, columns, ordinals) for _ in range(count)], columns)


def random_points(seed: int, count: int, columns: int, ordinals: int) -> npt.NDArray[np.int32]:
    """Ordinals up to beyond the greatest bound; a third are unbound."""
    random = np.random.default_rng(seed)
    drawn = random.integers(0, ordinals + 4, (count, columns))
    return np.where(random.random((count, columns)) < 1 / 3, -1, drawn).astype(np.int32)
