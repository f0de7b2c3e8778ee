"""The shared part of the papers' algorithms: turns filters into boxes, events into points and candidates into matches.

An algorithm defines how to store the boxes (`_build`) and how to find those that contain a point (`_find`). A point has
one ordinal per dimension. An event with several values becomes one point per combination; above a limit, all boxes are
scanned instead."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tidings.errors import MatchingError
from tidings.events import EventBatch
from tidings.kernels.compiled import kernel
from tidings.language import Filter, Subscription
from tidings.matching.algorithm import Algorithm, Cost, Matches
from tidings.matching.boxes.box import Box, boxes_of
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.event_table import EventTable
from tidings.matching.boxes.possible_relations import with_choices
from tidings.matching.boxes.residuals import inside, settle
from tidings.matching.ragged import flattened
from tidings.matching.verified import verified
from tidings.schema.catalog import Catalog

Ordinals = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]

MOST_POINTS = 64  # of one event; above this, the boxes are scanned
FULL = -1  # returned by a part of a kernel instead of a count if the output is full

# Takes the first point, the offsets, the output and the cost (candidates, predicates); returns the point it stopped at.
Run = Callable[[int, Integers, Ordinals, Integers], int]


class StandingLoad(MatchingError):
    """One of the papers' algorithms was loaded with arrays of boxes and then asked to change."""

    def __init__(self, count: int) -> None:
        super().__init__(count)

    def __str__(self) -> str:
        return (
            f"{self.args[0]:,} filters were loaded as arrays, which this algorithm keeps as they are; "
            "make a new matcher, or use the algorithm 'default', which takes more at any time"
        )


class IndexedMatcher(Algorithm):
    """Rebuilds its index on the first match after a change; the papers' structures assume static sets of filters."""

    first_room = 1 << 16  # initial room in the output, in box numbers

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        self._filters: list[Filter] = []
        self._boxes: list[tuple[int, Box]] = []
        self._table: BoxTable | None = None
        self._loaded = 0

    @abstractmethod
    def _build(self, table: BoxTable) -> None:
        """Builds the index of these boxes."""

    @abstractmethod
    def _find(self, points: Ordinals) -> tuple[Integers, Ordinals, Cost]:
        """For each point (a row of ordinals; -1: unbound) the boxes whose sides all contain it: offsets and box
        numbers."""

    def _all_found(self, points: Ordinals, run: Run) -> tuple[Integers, Ordinals, Cost]:
        """All boxes that a kernel finds. Doubles the output when it is full and resumes the kernel, which adds to the
        cost and sets the next offset only for finished points."""
        offsets, cost = np.zeros(len(points) + 1, np.int64), np.zeros(2, np.int64)
        out = np.empty(self.first_room, np.int32)
        done = run(0, offsets, out, cost)
        while done < len(points):
            out = np.concatenate([out, np.empty_like(out)])
            done = run(done, offsets, out, cost)
        return offsets, out[: offsets[-1]], Cost(int(cost[0]), int(cost[1]))

    def adopt(self, catalog: Catalog) -> None:
        self._refuse_change_after_load()
        super().adopt(catalog)
        self._boxes = [(n, box) for n, f in enumerate(self._filters) for box in boxes_of(f, catalog)]
        self._table = None

    def load(self, table: BoxTable, ids: list[str]) -> None:
        """Adds many filters at once, already boxes in arrays; only into an empty matcher."""
        for id in ids:
            self.spans.open(id, 0)
        self._build(table)
        self._table = table
        self._loaded = len(ids)

    def _refuse_change_after_load(self) -> None:
        if self._loaded:
            raise StandingLoad(self._loaded)

    def add(self, subscription: Subscription, at: int = 0) -> int:
        self._refuse_change_after_load()
        return super().add(subscription, at)

    def _insert(self, number: int, filter: Filter) -> None:
        boxes = boxes_of(filter, self.catalog)
        self._filters.append(filter)
        self._boxes.extend((number, box) for box in boxes)
        self._table = None

    def _match(self, batch: EventBatch) -> Matches:
        if self._table is None:
            made = BoxTable.of(self._boxes, self.catalog)
            self._build(made)
            self._table = made
        table = self._table
        events = EventTable.of(batch, table.dimensions, table.relations, len(table.constants) > 0)
        points, owners, too_many = _points(events)
        offsets, boxes, cost = self._find(points)
        if len(points) != len(events.least) or len(too_many):
            scanned = [_scan(table, events, event) for event in too_many]
            offsets, boxes = _by_event(offsets, boxes, owners, too_many, scanned, len(events.least))
        return self._settled(batch, events, offsets, boxes, cost)

    def _settled(
        self, batch: EventBatch, events: EventTable, offsets: Integers, boxes: Ordinals, cost: Cost
    ) -> Matches:
        """Checks residuals and spans, and reports each subscription once."""
        table = self._table
        assert table is not None
        if self._plain(table, events):
            return Matches(offsets, table.number[boxes], cost)
        choices = with_choices(events, batch, table.dimensions, table.relations, len(table.constants) > 0)
        # As in the default's index, so that one compiled second look serves both.
        arrays = table.dimension, table.low, table.high, table.residuals, table.pool, table.constants
        dimension, low, high, residuals, pool, constants = (_read_only(array) for array in arrays)
        out, verify = np.empty(len(boxes), np.int32), np.empty(len(boxes), np.bool_)
        out_offsets = np.zeros(len(events.least) + 1, np.int64)
        count = settle(
            offsets, boxes, table.number, table.offsets, dimension, low, high, table.residual_offsets,
            residuals, pool, constants, *flattened(table.shapes, np.int32), events, choices,
            self.spans.start, self.spans.stop, np.zeros(len(self.spans), np.int32), out_offsets, out, verify,
        )  # fmt: skip
        found = Matches(out_offsets, out[:count], cost)
        return verified(found, verify[:count], batch, lambda number: self._filters[number])

    def _plain(self, table: BoxTable, events: EventTable) -> bool:
        """Whether every box found is a match: no residuals, one box per subscription, and no span that begins or ends
        inside the batch."""
        if len(table.residuals) or not (table.number[1:] > table.number[:-1]).all() or not len(events.least):
            return False
        return bool(
            (self.spans.start <= events.positions.min()).all() and (self.spans.stop > events.positions.max()).all()
        )


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view = array.view()
    view.setflags(write=False)
    return view


def _points(events: EventTable) -> tuple[Ordinals, Integers, list[int]]:
    """The points, the event of each, and the events that would become too many points."""
    if events.single:
        return events.least, np.arange(len(events.least)), []
    points: list[Ordinals] = []
    owners: list[int] = []
    too_many: list[int] = []
    several = (events.least != events.greatest).any(axis=1)
    for event in range(len(events.least)):
        row = events.least[event]
        if not several[event]:
            points.append(row[None, :])
            owners.append(event)
            continue
        places = np.flatnonzero(row != events.greatest[event])
        sets = [np.unique(events.sets[events.set_starts[event, d] : events.set_stops[event, d]]) for d in places]
        if np.prod([float(len(one)) for one in sets]) > MOST_POINTS:
            too_many.append(event)
            continue
        grid = np.array(np.meshgrid(*sets, indexing="ij"), np.int32).reshape(len(places), -1).T
        expanded = np.repeat(row[None, :], len(grid), axis=0)
        expanded[:, places] = grid
        points.append(expanded)
        owners.extend([event] * len(grid))
    empty = np.zeros((0, events.least.shape[1]), np.int32)
    return np.concatenate([empty, *points]), np.array(owners, np.int64), too_many


def _by_event(
    offsets: Integers, boxes: Ordinals, owners: Integers, too_many: list[int], scanned: list[Ordinals], events: int
) -> tuple[Integers, Ordinals]:
    """Converts results per point to results per event, each box once."""
    found = np.repeat(owners, np.diff(offsets))
    found = np.concatenate([found, np.repeat(np.array(too_many, np.int64), [len(one) for one in scanned])])
    all_boxes = np.concatenate([boxes, *scanned]).astype(np.int64)
    pairs = np.unique(np.stack([found, all_boxes], axis=1), axis=0)
    return np.searchsorted(pairs[:, 0], np.arange(events + 1)).astype(np.int64), pairs[:, 1].astype(np.int32)


def _scan(table: BoxTable, events: EventTable, event: int) -> Ordinals:
    """All boxes whose sides match the event, by a full scan."""
    out = np.empty(len(table), np.int32)
    count = scan_boxes(
        event, table.offsets, table.dimension, table.low, table.high, events.least, events.greatest,
        events.set_starts, events.set_stops, events.sets, out,
    )  # fmt: skip
    return out[:count]


@kernel
def scan_boxes(
    e: Any, offsets: Any, dimension: Any, low: Any, high: Any, least: Any, greatest: Any, starts: Any, stops: Any,
    sets: Any, out: Any,
) -> Any:  # fmt: skip
    """Writes the boxes that event e satisfies to `out`; returns how many."""
    n = 0
    for box in range(len(offsets) - 1):
        fits = True
        for i in range(offsets[box], offsets[box + 1]):
            if not inside(e, dimension[i], low[i], high[i], least, greatest, starts, stops, sets):
                fits = False
                break
        if fits:
            out[n] = box
            n += 1
    return n
