"""The answers of several segments as one, with what kernels left to the specification."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tidings.events import EventBatch
from tidings.language.tree import Node
from tidings.matching.algorithm import Cost, Matches
from tidings.matching.index.segment import Found
from tidings.matching.naive import matches
from tidings.matching.spans import Spans

Integers = npt.NDArray[np.int64]


def combined(batch: EventBatch, found: list[Found], spans: Spans, tree_of: Callable[[int], Node]) -> Matches:
    """`tree_of` gives the filter of a number."""
    cost = Cost()
    for one in found:
        cost += one.cost
    if not found:
        return Matches(np.zeros(len(batch) + 1, np.int64), np.zeros(0, np.int32), cost)
    if len(found) == 1 and not len(found[0].asked):
        return Matches(found[0].offsets, found[0].numbers, cost)
    owners = [np.repeat(np.arange(len(batch)), np.diff(one.offsets)) for one in found]
    agreed = _agreed(batch, found, owners, spans, tree_of)
    owner = np.concatenate([*owners, agreed[:, 0]])
    number = np.concatenate([*(one.numbers for one in found), agreed[:, 1].astype(np.int32)])
    order = np.argsort(owner, kind="stable")
    offsets = np.searchsorted(owner[order], np.arange(len(batch) + 1)).astype(np.int64)
    return Matches(offsets, number[order], cost)


def _agreed(
    batch: EventBatch, found: list[Found], owners: list[Integers], spans: Spans, tree_of: Callable[[int], Node]
) -> Integers:
    """Of the pairs that kernels could not decide those that the specification agrees to and that are new."""
    asked = {(event, number) for one in found for event, number in one.asked.tolist()}
    if not asked:
        return np.zeros((0, 2), np.int64)
    known = {
        pair for one, owner in zip(found, owners, strict=True)
        for pair in zip(owner.tolist(), one.numbers.tolist(), strict=True)
    }  # fmt: skip
    positions = batch.positions.to_pylist()
    bindings = {event: batch.event(event).bindings() for event in {event for event, _ in asked - known}}
    agreed = [
        (event, number)
        for event, number in sorted(asked - known)
        if spans.start[number] <= positions[event] < spans.stop[number]
        if matches(tree_of(number), bindings[event], batch.catalog)
    ]
    return np.array(agreed, np.int64).reshape(-1, 2)
