"""Numbers written as text, in CSV, where everything is: whole columns, and single cells."""

from __future__ import annotations

import re
from typing import Any

from tidings.schema.values import LARGEST_INTEGER

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MOST_DIGITS = 400  # Python reads longer integers slowly, or not at all
_LEFT_ALONE = 16  # cells; fewer are not worth another cast


def numeral(text: str) -> int | float | str:
    """The number that a cell means, or the cell where it means none."""
    stripped = text.strip()
    if len(stripped) <= _MOST_DIGITS:
        if _INTEGER.fullmatch(stripped):
            return int(stripped)
        if _DECIMAL.fullmatch(stripped):
            return float(stripped)
    return text


def float_column(texts: Any) -> tuple[Any, list[int]]:
    """A column of texts, or of lists of them, as floats, and the rows with a text not evidently a number.

    Integers that a float may not hold are among the latter: only `numeral` sees all their digits.
    """
    import pyarrow as pa  # a single cell can be read without it
    import pyarrow.compute as pc

    listed = pa.types.is_list(texts.type)
    flat = texts.flatten() if listed else texts
    floats = _by_halves(flat)
    evident = pc.and_(pc.is_finite(floats), pc.less(pc.abs(floats), LARGEST_INTEGER))
    odd = pc.and_(flat.is_valid(), pc.invert(pc.fill_null(evident, False)))
    places = pc.indices_nonzero(odd)
    if not listed:
        return floats, places.to_pylist()
    rows = pc.list_parent_indices(texts).take(places).to_pylist()
    return pa.ListArray.from_arrays(texts.offsets, floats, mask=texts.is_null()), rows


def _by_halves(texts: Any) -> Any:
    """A cast fails as a whole, so the column is halved until the odd cells stand almost alone."""
    import pyarrow as pa

    try:
        return texts.cast(pa.float64())
    except pa.ArrowInvalid:
        pass
    if len(texts) <= _LEFT_ALONE:
        values = [None if text is None else numeral(text) for text in texts.to_pylist()]
        return pa.array([float(v) if isinstance(v, (int, float)) else None for v in values], pa.float64())
    middle = len(texts) // 2
    return pa.concat_arrays([_by_halves(texts.slice(0, middle)), _by_halves(texts.slice(middle))])
