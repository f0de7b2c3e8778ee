"""Boxes partitioned by the event type they require, for `neon` and `typed_tree`: an event is tested only against its
own type's part and the common part.

Only `event_type contains T` assigns a box to a part; any other predicate on the type is an ordinary side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tidings.matching.boxes.box import Axis
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.dimension import Ordinals
from tidings.matching.ragged import owners
from tidings.schema.catalog import EVENT_TYPE

COMMON = 0  # the part of boxes that require no event type

_TYPE = Axis(EVENT_TYPE, "member")


@dataclass(frozen=True, eq=False)
class EventTypeParts:
    """Box b is in part `part[b]`; a point with the ordinal o in dimension `dimension` belongs to
    `part_of[o]`."""

    dimension: int  # -1 if no box requires an event type
    count: int
    part: Ordinals
    part_of: Ordinals
    left: npt.NDArray[np.bool_]  # the sides that the partition does not already decide

    @classmethod
    def of(cls, table: BoxTable) -> EventTypeParts:
        part = np.full(len(table), COMMON, np.int32)
        left = np.ones(len(table.low), np.bool_)
        axes = [dimension.axis for dimension in table.dimensions]
        if _TYPE not in axes:
            return cls(-1, 1, part, np.zeros(0, np.int32), left)
        place = axes.index(_TYPE)
        left = (table.dimension != place) | (table.high != table.low + 1)
        types, parts = np.unique(table.low[~left], return_inverse=True)
        part[owners(table.offsets)[~left]] = parts + 1
        part_of = np.full(int(types[-1]) + 1 if len(types) else 0, COMMON, np.int32)
        part_of[types] = np.arange(1, len(types) + 1)
        return cls(place, len(types) + 1, part, part_of, left)

    def of_points(self, points: Ordinals) -> Ordinals:
        """The part of each point's event type; COMMON if no box requires that type."""
        found = np.full(len(points), COMMON, np.int32)
        if self.dimension >= 0 and len(self.part_of):
            ordinals = points[:, self.dimension]
            known = (ordinals >= 0) & (ordinals < len(self.part_of))
            found[known] = self.part_of[ordinals[known]]
        return found
