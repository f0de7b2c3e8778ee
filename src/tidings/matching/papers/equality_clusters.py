"""Boxes clustered by their equality sides: section 3 of Le Subscribe, "Equality-preferred approach".

Boxes with equalities on the same dimensions share a schema; those that also share the values form a cluster. For each
schema that the event binds, hashing the event's values finds the cluster (the paper's eqsubmatch). A box's other sides,
its *rest*, are stored next to it.

Used by equality-preferred, which counts the rest, and by quarantine, which tests it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.kernels.compiled import kernel
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.hash_table import grouped, mixed
from tidings.matching.papers.indexed import Integers, Ordinals
from tidings.matching.papers.sides import by_selectivity, equalities
from tidings.matching.ragged import offsets_of, owners, taken

NONE = -1  # no cluster


class EqualityClusters(NamedTuple):
    """Schemas are sorted by their first (least) dimension. Members are the boxes with equalities, by cluster."""

    by_dimension: Integers  # the schemas by_dimension[d]:by_dimension[d + 1] have d as their first dimension
    schema_offsets: Integers
    schema_dimensions: Ordinals
    table: Integers  # open addressing; see `hash_table.py`
    schemas: Integers  # by cluster
    starts: Integers  # cluster c has the members starts[c]:starts[c + 1]
    boxes: Ordinals  # by member
    value_offsets: Integers  # by member: its equalities' values
    values: Ordinals
    rest_offsets: Integers  # by member: its other sides
    rest_dimension: npt.NDArray[np.int16]
    rest_low: Ordinals
    rest_high: Ordinals


def equality_clusters(table: BoxTable) -> EqualityClusters:
    """Clusters the boxes that have an equality."""
    equal = equalities(table)
    owner = owners(table.offsets)
    rows = np.flatnonzero(equal)
    rows = rows[np.argsort((owner[rows] << 16) + table.dimension[rows])]  # sorted dimensions per schema
    boxes, counts = np.unique(owner[rows], return_counts=True)
    offsets = offsets_of(counts)
    schemas, first_rows = _schemas(offsets, table.dimension[rows].astype(np.int64))
    dimensions, schema_offsets = taken(offsets, first_rows)

    slots, cluster, first = grouped(schemas, offsets, table.low[rows])
    order = np.argsort(cluster, kind="stable")
    ordered, value_offsets = taken(offsets, order)
    starts = np.searchsorted(cluster[order], np.arange(len(first) + 1)).astype(np.int64)

    rest_counts = np.diff(table.offsets)[boxes] - counts
    member = np.zeros(len(table), bool)
    member[boxes] = True
    ordered_sides = by_selectivity(table)
    rest_rows = ordered_sides[(~equal & member[owner])[ordered_sides]]
    rest, rest_offsets = taken(offsets_of(rest_counts), order)
    rest = rest_rows[rest]
    first_dimensions = table.dimension[rows[offsets[first_rows]]]
    return EqualityClusters(
        np.searchsorted(first_dimensions, np.arange(len(table.dimensions) + 1)).astype(np.int64),
        schema_offsets,
        table.dimension[rows[dimensions]].astype(np.int32),
        slots,
        schemas[order[starts[:-1]]],
        starts,
        boxes[order].astype(np.int32),
        value_offsets,
        table.low[rows[ordered]],
        rest_offsets,
        table.dimension[rest],
        table.low[rest],
        table.high[rest],
    )


def _schemas(offsets: Integers, dimensions: Integers) -> tuple[Integers, Integers]:
    """The schema of each row of dimensions, and an example row of each schema; schemas are sorted by first
    dimension."""
    _, schema, first = grouped(np.zeros(len(offsets) - 1, np.int64), offsets, dimensions)
    order = np.argsort(dimensions[offsets[first]], kind="stable")
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(len(first))
    return rank[schema], first[order]


@kernel
def cluster_of(clusters: Any, schema: Any, point: Any) -> Any:
    """The cluster with this schema and the point's values, or NONE."""
    start, stop = clusters.schema_offsets[schema], clusters.schema_offsets[schema + 1]
    hash = mixed(1, schema)
    for i in range(start, stop):
        value = point[clusters.schema_dimensions[i]]
        if value < 0:
            return NONE
        hash = mixed(hash, value)
    table = clusters.table
    slot = hash & (len(table) - 1)
    while table[slot] != 0:
        if table[slot] >> 32 == hash & 0x7FFFFFFF:
            cluster = (table[slot] & 0xFFFFFFFF) - 1
            if clusters.schemas[cluster] == schema:
                at = clusters.value_offsets[clusters.starts[cluster]] - start
                for i in range(start, stop):
                    if clusters.values[at + i] != point[clusters.schema_dimensions[i]]:
                        break
                else:
                    return cluster
        slot = (slot + 1) & (len(table) - 1)
    return NONE
