"""A segment as one memory-mapped Arrow file: a single row, in which each array of the index is a list.

One file per segment, because plans are saved up to ten times a second: each file costs a disk sync when written, a link
in every later plan, and a mapping in every reader."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidings.matching.boxes.box import Axis
from tidings.matching.boxes.dimension import Dimension
from tidings.matching.index.bitmaps import Bitmaps
from tidings.matching.index.index import Index
from tidings.matching.index.segment import Segment
from tidings.matching.index.thresholds import DEFAULTS, Thresholds
from tidings.schema.domain import Kind


def rows_of(segment: Segment) -> Any:
    """The segment as a record batch of one row."""
    cells = {f"index.{name}": _cell(array.ravel()) for name, array in segment.index._asdict().items()}
    cells |= {f"bitmaps.{name}": _cell(array) for name, array in segment.bitmaps._asdict().items()}
    for place, dimension in enumerate(segment.dimensions):
        if not dimension.given:
            kind = pa.large_string() if isinstance(dimension.keys, list) else None
            cells[f"keys.{place}"] = _cell(dimension.keys, kind)
    described = {
        "dimensions": [
            {
                "attribute": dimension.axis.attribute,
                "role": dimension.axis.role,
                "kind": str(dimension.kind),
                "only_points": dimension.only_points,
            }
            for dimension in segment.dimensions
        ],
        "relations": segment.relations,
        "numbers": [segment.first_number, segment.last_number],
        "repeats": segment.repeats,
    }
    rows = pa.RecordBatch.from_arrays(list(cells.values()), names=list(cells))
    return rows.replace_schema_metadata({"segment": json.dumps(described)})


def segment_of(rows: Any, thresholds: Thresholds = DEFAULTS) -> Segment:
    """The segment in the file's own pages, shared by all readers. Raises KeyError, ValueError or TypeError if the row
    does not have the expected form."""
    described = json.loads((rows.schema.metadata or {})[b"segment"])
    dimensions = []
    for place, one in enumerate(described["dimensions"]):
        axis, kind = Axis(one["attribute"], one["role"]), Kind(one["kind"])
        keys: Any = ()
        if f"keys.{place}" in rows.schema.names:
            values = rows.column(f"keys.{place}").values
            keys = values.to_pylist() if pa.types.is_large_string(values.type) else _array(values)
        dimensions.append(Dimension(axis, kind, keys, one["only_points"]))
    index = {name: _array(rows.column(f"index.{name}").values) for name in Index._fields}
    index["residuals"] = index["residuals"].reshape(-1, 5)
    index["linear"] = index["linear"].reshape(-1, 2)
    index["constants"] = index["constants"].reshape(-1, 4)
    first, last = described["numbers"]
    return Segment(
        tuple(dimensions),
        tuple((left, right) for left, right in described["relations"]),
        Index(**index),
        Bitmaps(*(_array(rows.column(f"bitmaps.{name}").values) for name in Bitmaps._fields)),
        first,
        last,
        described["repeats"],
        thresholds,
    )


def _cell(values: Any, kind: Any = None) -> Any:
    """One list of all the values; numpy arrays are not copied."""
    array = pa.array(values, kind)
    return pa.LargeListArray.from_arrays(pa.array([0, len(array)], pa.int64()), array)


def _array(values: Any) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = np.asarray(values.to_numpy())
    return array
