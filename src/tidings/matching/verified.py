"""Verifies the matches that kernels left undecided: checks some candidates in Python, one event against one filter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tidings.events import EventBatch
from tidings.language import Filter
from tidings.language.cesql.noted_errors import noted_errors
from tidings.matching import choice
from tidings.matching.algorithm import Failed, Matches
from tidings.matching.ragged import offsets_of


def verified(
    found: Matches, verify: npt.NDArray[np.bool_], batch: EventBatch, filter_of: Callable[[int], Filter]
) -> Matches:
    """Drops the marked matches that the filter does not confirm, and duplicates of the others; says which of them ended
    in an error. Touches only the events with a marked match."""
    if not verify.any():
        return found
    events = found.events()
    keep = ~verify
    known: dict[int, set[int]] = {}
    bindings: dict[int, Any] = {}
    failed: list[Failed] = []
    with noted_errors() as errors:
        for place in np.flatnonzero(verify).tolist():
            event, number = int(events[place]), int(found.numbers[place])
            if event not in known:
                start, stop = found.offsets[event], found.offsets[event + 1]
                known[event] = set(found.numbers[start:stop][~verify[start:stop]].tolist())
                bindings[event] = batch.bindings(event)
            if number in known[event]:
                continue
            known[event].add(number)  # confirmed or not, no need to check again
            before = len(errors)
            keep[place] = choice.matches(filter_of(number).conjunctions, bindings[event], batch.catalog)
            if len(errors) > before:
                failed.append(Failed(event, number, errors[before].detail))
    offsets = offsets_of(keep)[found.offsets]
    return Matches(offsets, found.numbers[keep], found.cost, tuple(failed))
