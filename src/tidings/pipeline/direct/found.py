"""Matches as they travel: a row for each event that matched something, with the list of its subscriptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidings.events import EventBatch
from tidings.matching.index.box_matcher import BoxMatcher

_MOST_MATCHES = 1_000_000  # in one array of lists: the texts of more may not fit Arrow's offsets


def found(batch: EventBatch, matcher: BoxMatcher) -> Iterator[tuple[npt.NDArray[np.int64], Any]]:
    """Rows of the batch, and for each of them the list of subscriptions that it matched; in several parts where there
    are many."""
    matches = matcher.match(batch)
    some = np.flatnonzero(np.diff(matches.offsets))
    first = 0
    while first < len(some):
        limit = matches.offsets[some[first]] + _MOST_MATCHES
        last = max(first + 1, int(np.searchsorted(matches.offsets[some + 1], limit, side="right")))
        rows = some[first:last]
        start, stop = int(matches.offsets[rows[0]]), int(matches.offsets[rows[-1] + 1])
        offsets = pa.array(np.append(matches.offsets[rows], stop) - start, pa.int32())
        yield rows, pa.ListArray.from_arrays(offsets, matcher.spans.ids_of(matches.numbers[start:stop]))
        first = last
