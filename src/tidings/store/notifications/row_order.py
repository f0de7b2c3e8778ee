"""Rows of Arrow in the order of some columns: how far a key reaches among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def count_upto(rows: Any, key: Mapping[str, Any]) -> int:
    """How many of these rows are not after the key: a value for each of the columns that order them, or for the first
    ones."""
    start, stop = 0, len(rows)
    for name, value in key.items():
        column = rows.column(name).slice(start, stop - start)
        start, stop = start + _count(column, value, "left"), start + _count(column, value, "right")
    return stop


def _count(column: Any, value: Any, side: Literal["left", "right"]) -> int:
    if pa.types.is_integer(column.type):
        return int(np.searchsorted(column.to_numpy(), value, side))
    return int(pc.sum((pc.less if side == "left" else pc.less_equal)(column, value)).as_py() or 0)
