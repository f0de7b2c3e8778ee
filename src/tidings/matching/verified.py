"""Verifies the matches that kernels left undecided: checks some candidates in Python, one event against one filter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tidings.events import EventBatch
from tidings.events.event import Bindings
from tidings.language import Filter
from tidings.language.cesql.noted_errors import noted_errors
from tidings.matching import choice
from tidings.matching.algorithm import Failed, Matches
from tidings.matching.ragged import offsets_of


def verified(
    found: Matches, verify: npt.NDArray[np.bool_], batch: EventBatch, filter_of: Callable[[int], Filter]
) -> Matches:
    """Drops the marked matches that the filter does not confirm, and duplicates of the others; says which of them ended
    in an error. Only marked matches become Python objects."""
    if not verify.any():
        return found
    events = found.events()
    keep = ~verify
    event = -1
    bindings: Bindings = {}
    failed: list[Failed] = []
    with noted_errors() as errors:
        for place in _undecided(found, verify, events).tolist():
            number = int(found.numbers[place])
            if event != events[place]:
                event = int(events[place])
                bindings = batch.bindings(event)
            before = len(errors)
            keep[place] = choice.matches(filter_of(number).conjunctions, bindings, batch.catalog)
            if len(errors) > before:
                failed.append(Failed(event, number, errors[before].detail))
    offsets = offsets_of(keep)[found.offsets]
    return Matches(offsets, found.numbers[keep], found.cost, tuple(failed))


def _undecided(found: Matches, verify: npt.NDArray[np.bool_], events: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The places of marked matches that no other match decides: each the first of its event and number, and none of
    those that match anyway."""
    width = int(found.numbers.max()) + 1
    marked = np.flatnonzero(verify)
    pairs, first = np.unique(events[marked] * width + found.numbers[marked], return_index=True)
    concerned = np.zeros(len(found.offsets) - 1, np.bool_)
    concerned[events[marked]] = True
    sure = np.flatnonzero(~verify & concerned[events])
    known = events[sure] * width + found.numbers[sure]
    at = np.minimum(np.searchsorted(pairs, known), len(pairs) - 1)
    open = np.ones(len(pairs), np.bool_)
    open[at[pairs[at] == known]] = False
    return np.sort(marked[first[open]])
