"""Columns of times as UTC microseconds: ISO 8601 texts and Arrow timestamps of any unit.

Texts are read by Arrow's cast, which is fast and reads a part of what `Instant.parse` reads, with the same
result; a cast fails as a whole, so a column with odd texts is halved until they stand alone, and those are
parsed one by one.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidings.events.arrays import INSTANTS
from tidings.schema import Instant

_NAIVE = pa.timestamp("us")
_PARSED_ALONE = 32  # texts; fewer are not worth another cast
_ZONE = r"[T ].*(Z|[+-]\d\d(:?\d\d)?)$"
_FIRST = int(Instant.parse("0001-01-01"))
_LAST = int(Instant.parse("9999-12-31T23:59:59.999999"))
_DAY = 86_400_000_000  # Arrow also reads the year 0 and passes 9999 by a zone: near these ends texts are parsed
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def parse_texts(texts: Any) -> Any:
    """A string array as instants, null where the text is none."""
    if not len(texts):
        return pa.nulls(0, INSTANTS)
    made = _cast(texts, INSTANTS)
    if made is None:
        made = _cast(texts, _NAIVE)
    if made is not None:
        return made
    zoned = pc.fill_null(pc.match_substring_regex(texts, _ZONE), False)
    if zoned.true_count in (0, len(texts)):
        return _by_halves(texts, INSTANTS if zoned.true_count else _NAIVE)
    with_zone = _by_halves(texts.filter(zoned), INSTANTS)
    without = _by_halves(texts.filter(pc.invert(zoned)), _NAIVE)
    # Both parts back into their places: the n-th true row takes the n-th text with a zone.
    ranks = pc.cumulative_sum(zoned.cast(pa.int64()))
    rows = pc.cumulative_sum(pa.repeat(1, len(texts)))
    places = pc.if_else(zoned, pc.subtract(ranks, 1), pc.subtract(pc.add(rows, len(with_zone) - 1), ranks))
    return pa.concat_arrays([with_zone, without]).take(places)


def from_timestamps(stamps: Any) -> Any:
    """Arrow timestamps or dates as instants, finer units cut off; null outside the years 1 to 9999."""
    if not pa.types.is_timestamp(stamps.type):
        stamps = stamps.cast(pa.timestamp("s"))
    unit = stamps.type.unit
    ticks = stamps.cast(pa.int64())
    if unit == "ns":
        # Arrow's division rounds towards zero; before 1970 an instant must be rounded down.
        whole = pc.divide(ticks, 1_000)
        above = pc.greater(pc.multiply(whole, 1_000), ticks)
        return pc.subtract(whole, above.cast(pa.int64())).cast(INSTANTS)
    scale = 1_000_000 // _PER_SECOND[unit]
    possible = pc.and_(pc.greater_equal(ticks, _FIRST // scale), pc.less_equal(ticks, _LAST // scale))
    return pc.multiply(pc.if_else(possible, ticks, None), scale).cast(INSTANTS)


def _cast(texts: Any, form: Any) -> Any:
    try:
        made = texts.cast(form)
    except pa.ArrowInvalid:
        return None
    made = made.cast(INSTANTS)
    if len(made) > made.null_count:
        ends = pc.min_max(made.cast(pa.int64())).as_py()
        if ends["min"] < _FIRST + _DAY or ends["max"] > _LAST - _DAY:
            return None
    return made


def _by_halves(texts: Any, form: Any) -> Any:
    made = _cast(texts, form)
    if made is not None:
        return made
    if len(texts) <= _PARSED_ALONE:
        return pa.array([_parse(text) for text in texts.to_pylist()], pa.int64()).cast(INSTANTS)
    middle = len(texts) // 2
    return pa.concat_arrays([_by_halves(texts.slice(0, middle), form), _by_halves(texts.slice(middle), form)])


def _parse(text: str | None) -> int | None:
    try:
        return None if text is None else int(Instant.parse(text))
    except (ValueError, OverflowError):
        return None
