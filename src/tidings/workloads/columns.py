"""Generated numbers to the Arrow columns of an `EventBatch`, without an object per event."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidings.events import EventBatch
from tidings.schema import Catalog
from tidings.workloads.draws import Ordinals

Present = npt.NDArray[np.bool_]


def numbers(values: Ordinals, present: Present) -> Any:
    """A numeric attribute."""
    return pa.array(values.astype(np.float64), mask=~present)


def texts(ordinals: Ordinals, present: Present, words: tuple[str, ...]) -> Any:
    """A string attribute, from places in a list of words."""
    return pa.array(words, pa.string()).take(pa.array(ordinals, mask=~present))


def listed(ordinals: Ordinals, present: Present, words: tuple[str, ...]) -> Any:
    """An enumerated attribute, from ordinals in its domain's vocabulary."""
    return pa.DictionaryArray.from_arrays(
        pa.array(ordinals.astype(np.int32), mask=~present), pa.array(words, pa.string())
    )


def names(letter: str, n: int, start: int = 0) -> Any:
    """Ids: e1, e2, … for rows that begin at 0."""
    digits = pa.array(np.arange(start + 1, start + n + 1)).cast(pa.string())
    return pc.binary_join_element_wise(letter, digits, "")


def batch(catalog: Catalog, event_type: Ordinals, columns: dict[str, Any], start: int = 0) -> EventBatch:
    """Events of one type each, by its ordinal; columns that no event binds are left out."""
    n = len(event_type)
    offsets = pa.array(np.arange(n + 1, dtype=np.int32))
    return EventBatch(
        catalog,
        ids=names("e", n, start),
        sources=pa.repeat(pa.scalar("", pa.string()), n),
        times=pa.nulls(n, pa.timestamp("us", tz="UTC")),
        contacts=pa.nulls(n, pa.string()),
        positions=pa.array(np.arange(start + 1, start + n + 1)),
        event_types=pa.ListArray.from_arrays(offsets, pa.array(event_type.astype(np.int32))),
        columns={name: column for name, column in columns.items() if column.null_count < n},
    )
