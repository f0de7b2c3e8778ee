"""Adapts boxes to a grown catalog. Enumerations grow at their end, and boxes leave room for that. A new node in a
hierarchy renumbers others and widens subtrees, so boxes that test it are rebuilt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.errors import MatchingError
from tidings.matching.boxes.box import boxes_of
from tidings.matching.boxes.box_table import ON_AXIS, BoxTable
from tidings.matching.boxes.merge import merge_tables, table_of
from tidings.matching.index.segment import Segment
from tidings.matching.index.segments import Segments
from tidings.matching.plan.filters import Filters
from tidings.matching.ragged import owners
from tidings.matching.spans import Numbers
from tidings.schema.catalog import Catalog


class LoadedFilters(MatchingError):
    """A hierarchy was renumbered, but some boxes that test it were loaded as arrays, so their filters are unknown."""

    def __init__(self, count: int) -> None:
        super().__init__(count)

    def __str__(self) -> str:
        return f"{self.args[0]:,} filters were loaded as arrays; a hierarchy grew, so load them under the new catalog"


class Remade(NamedTuple):
    segment: Segment | None  # replaced by the boxes; None for boxes that had none before
    table: BoxTable


def renumbered(before: Catalog, after: Catalog) -> frozenset[str]:
    """The attributes whose categories were renumbered."""
    found = set()
    for attribute in before.attributes:
        domain, wider = before.domain_of(attribute.name), after.domain_of(attribute.name)
        if domain is not None and wider is not None and domain.hierarchy != wider.hierarchy:
            found.add(attribute.name)
    return frozenset(found)


def remade(segments: Segments, filters: Filters, attributes: frozenset[str], catalog: Catalog) -> list[Remade]:
    """Rebuilds the boxes of filters that may test the attributes, with the others of their segment. Leaves out
    unaffected segments."""
    rest = np.array(filters.mentioning(attributes), np.int32)
    made, loaded = [], 0
    for one in segments:
        ours = np.isin(one.segment.index.number, rest)
        if not ours.any() and not any(d.axis.attribute in attributes for d in one.segment.dimensions):
            continue
        table = table_of(one.segment)
        unknown = _asking(table, attributes) & ~ours
        if unknown.any() and segments.committed is not None:  # the text of filters no longer needed may be gone
            unknown &= segments.spans.stop[table.number] > segments.committed
        loaded += len(np.unique(table.number[unknown]))
        numbers = np.unique(table.number[ours])
        anew = _boxes(filters, numbers, catalog)
        made.append(Remade(one.segment, merge_tables([table.take(np.flatnonzero(~ours)), anew])))
        rest = np.setdiff1d(rest, numbers)
    if loaded:
        raise LoadedFilters(loaded)
    return [*made, Remade(None, _boxes(filters, rest, catalog))]  # their category had no descendants until now


def _boxes(filters: Filters, numbers: Numbers, catalog: Catalog) -> BoxTable:
    """The filters bound to the new catalog."""
    read = ((number, filters.of(number, catalog)) for number in numbers.tolist())
    return BoxTable.of(
        [(number, box) for number, filter in read if filter for box in boxes_of(filter, catalog)], catalog
    )


def _asking(table: BoxTable, attributes: frozenset[str]) -> npt.NDArray[np.bool_]:
    """Whether a side or a residual of each box tests the numbers of one of the attributes."""
    moved = np.array([dimension.axis.attribute in attributes for dimension in table.dimensions] or [False])
    boxes = np.zeros(len(table), bool)
    boxes[owners(table.offsets)[moved[table.dimension]]] = True
    rows = table.residuals
    on_axis = np.isin(rows[:, 0], ON_AXIS)
    asks = on_axis & moved[np.where(on_axis, rows[:, 2], 0)]
    boxes[owners(table.residual_offsets)[asks]] = True
    return boxes
