"""Composites over events that are all there, in a file or in a journal: time runs to the last event, or as far as is
asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tidings.composite.detector import Detector, Found, Match, Shard
from tidings.composite.leaf_plan import LeafPlan
from tidings.composite.trace import MOST_WAITING, Detection, awaited_part
from tidings.composite.waiting import Wait, longest, waits
from tidings.events import Event, EventBatch
from tidings.language.composites.bound import BoundComposite
from tidings.matching.algorithms import DEFAULT, make_matcher
from tidings.matching.boxes.filter_batch import FilterBatch
from tidings.schema.catalog import Catalog


class _Taken(NamedTuple):
    time: int
    event: Event
    numbers: list[int]


class FileDetections:
    """Takes batches of events in any order, then gives what was detected in all of them. `untimed` counts the events
    without a time, which take no part; `dropped`, by composite, the instances for which there was no room."""

    def __init__(self, composites: Mapping[str, BoundComposite], catalog: Catalog) -> None:
        self._composites = composites
        self._plan = self._planned(0, catalog)
        self._matcher = make_matcher(DEFAULT, catalog)
        filters = self._plan.filters
        self._matcher.add_batch([str(number) for number in range(len(filters))], FilterBatch.of(filters, catalog))
        self._taken: list[_Taken] = []
        self._first: int | None = None
        self._last: int | None = None
        self.untimed = 0
        self.dropped: dict[str, int] = {}

    def _planned(self, start: int, catalog: Catalog) -> LeafPlan:
        plan = LeafPlan(catalog)
        for id, bound in self._composites.items():
            # Where it says an earlier start, time events may come before the first event, but not for years.
            plan.add(id, bound.since(start - longest(bound.composite.tree)), start)
        return plan

    def take(self, batch: EventBatch, times: Sequence[int | None] | None = None) -> None:
        """`times`: when the events happened, where another time than their own counts."""
        if times is None:
            times = [None if time is None else int(time) for time in batch.times.cast("int64").to_pylist()]
        known = [time for time in times if time is not None]
        self.untimed += len(times) - len(known)
        if known:
            self._first = min(known) if self._first is None else min(self._first, *known)
            self._last = max(known) if self._last is None else max(self._last, *known)
        matches = self._matcher.match(batch)
        rows = [row for row, time in enumerate(times) if time is not None and len(matches.of(row))]
        for row, event in zip(rows, batch.take(rows), strict=True):
            time = times[row]
            assert time is not None
            self._taken.append(_Taken(time, event, matches.of(row).tolist()))

    @property
    def last(self) -> int | None:
        """The time of the last event; None where there was none."""
        return self._last

    def detections(self, until: int | None = None, most_waiting: int = MOST_WAITING) -> list[Found]:
        """In the order of their times, then of the composites' ids, then of their events."""
        if self._first is None or self._last is None:
            return []
        _, _, all_found = self._run(self._first, self._last if until is None else until, most_waiting)
        return sorted(
            all_found, key=lambda one: (one.detection.time, one.composite, one.detection.events, one.detection.awaited)
        )

    def awaited(self, id: str, detection: Detection) -> str:
        """What an expired partial match of one of the composites waited for, '' of a detection."""
        return awaited_part(self._composites[id].composite.tree, detection.awaited)

    def waits(self, id: str, start: int, until: int) -> list[Wait]:
        """What one of the composites, which began at `start`, waits for at the time `until`."""
        plan, shard, _ = self._run(start, until, MOST_WAITING)
        states = (entry.states for key, entry in shard.entries.items() if key.composite == id)
        return waits(self._composites[id].composite, plan.programs[id], states)

    def _run(self, start: int, until: int, most_waiting: int) -> tuple[LeafPlan, Shard, list[Found]]:
        plan = self._planned(start, self._plan.catalog)
        detector, shard = Detector(plan.programs, most_waiting), Shard()
        for id in plan.programs:
            detector.open(shard, id)
        shard, found = detector.finish(shard, self._matches(plan, until), until)
        self.dropped = shard.dropped
        return plan, shard, found

    def _matches(self, plan: LeafPlan, until: int) -> Iterator[Match]:
        for time, event, numbers in self._taken:
            if time <= until:
                yield from plan.matches(time, event.source, event.id, event.bindings(), numbers)
