"""Which relations an event's values allow between two attributes, if one of them has several: no allowed relation in
common with a filter's comparison means no match, without a second look."""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.events import EventBatch
from tidings.kernels.compiled import kernel
from tidings.language.relations import ANY_RELATION, GREATER, LESS, SAME, UNRELATED
from tidings.matching.boxes.choices import Choices, Pairs, choices_of
from tidings.matching.boxes.dimension import Dimension
from tidings.matching.boxes.event_table import EXTREMES, SEVERAL, EventTable
from tidings.matching.boxes.second_look import supported


def with_choices(
    events: EventTable, batch: EventBatch, dimensions: tuple[Dimension, ...], pairs: Pairs, computed: bool
) -> Choices:
    """The choices of events with several values, whose possible relations are written to the table."""
    choices = choices_of(batch, events.undecided, dimensions, pairs, computed)
    if len(choices.starts):
        mark_possible(events.relations, events.pair_instants, choices)
    return choices


@kernel
def mark_possible(relations: Any, extremes: Any, choices: Any) -> None:
    for e in range(len(choices.row)):
        if choices.row[e] < 0:
            continue
        for pair in range(len(choices.attributes)):
            if relations[e, pair] & SEVERAL:
                relations[e, pair] = SEVERAL | possible(choices.row[e], pair, choices)
                if extremes.shape[1] and len(choices.instants):
                    for side in range(2):
                        k = choices.attributes[pair, side]
                        start, stop = choices.starts[choices.row[e], k], choices.stops[choices.row[e], k]
                        extremes[e, EXTREMES * pair + side] = choices.instants[start, 0]  # numbers too, bit by bit
                        extremes[e, EXTREMES * pair + 2 + side] = choices.instants[stop - 1, 0]


@kernel
def possible(row: Any, pair: Any, choices: Any) -> Any:
    """The relations between some value of the pair's left attribute and some of its right one."""
    left, right = choices.attributes[pair, 0], choices.attributes[pair, 1]
    if left == right:  # what it demands of one value is for the second look
        return ANY_RELATION
    one, other = choices.shift[pair, 0], choices.shift[pair, 1]
    start, stop = choices.starts[row, left] + one, choices.stops[row, left] + one
    starts = choices.ranks[choices.starts[row, right] + other : choices.stops[row, right] + other]
    stops, wanted = starts, LESS | SAME | GREATER
    if choices.partial[pair]:
        stops = np.sort(choices.ends[choices.starts[row, right] + other : choices.stops[row, right] + other])
        wanted |= UNRELATED
    found = 0
    for i in range(start, stop):
        for bit in (LESS, SAME, GREATER, UNRELATED):
            if wanted & ~found & bit:
                if supported(choices.ranks[i], choices.ends[i], bit, choices.partial[pair], starts, stops):
                    found |= bit
        if found == wanted:
            break
    return found
