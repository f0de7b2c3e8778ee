"""The composites as a worker knows them: which filters to match, and what to do with the matches.

A worker reads them from the store when it first needs them, and from then on only what has changed. Each is known by
the position where its span starts: an edited or resumed composite is another one. Spans are tested against positions,
so knowing more than a batch needs changes nothing."""

from __future__ import annotations

import gc
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from tidings.composite.detector import Match
from tidings.composite.leaf_plan import LeafPlan
from tidings.composite.program import Program
from tidings.events import EventBatch
from tidings.events.arrays import values_of
from tidings.events.event import Bindings
from tidings.language.composites.bound import BoundComposite
from tidings.matching.boxes.filter_batch import FilterBatch
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.pipeline.composites.uncollected import uncollected
from tidings.pipeline.spark.worker_cache import opened_store
from tidings.schema import Catalog, Instant
from tidings.schema.catalog import EVENT_TYPE
from tidings.store import Store
from tidings.store.notifications.progress import COMPOSITES
from tidings.store.notifications.waiting import CompositeSpan

_SOME, _MANY = 1_000, 10_000  # composites


class KnownComposites:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._incarnation = ""
        self._covers, self._committed = -1, 0
        self.spans: dict[str, CompositeSpan] = {}  # by the id that they have here: where they start
        self._starts: list[int] = []  # of these, and of some that were forgotten
        self._stops: dict[str, int] = {}  # of those that have one
        self._settled = self._unsettled = 0  # composites added until they last settled, and since then
        self.catalog = Catalog()
        self.matched = False  # whether this worker has matched anything yet

    def learn(self, upto: int) -> None:
        """All that the journal says up to a position, but for what ended before the committed one."""
        store, learnt = self._store, self._settled + self._unsettled
        incarnation, committed = store.incarnation(), store.committed(COMPOSITES)
        if incarnation != self._incarnation or committed < self._committed:
            self._covers = -1  # also where composites begin again: some that ended were forgotten
        self._incarnation, self._committed = incarnation, committed
        if self._covers < 0:
            self._begin()
            self._add(store.living_composites(committed, upto))
            self._covers = upto
        elif upto > self._covers:
            self._grow(store.catalog())
            self._add(store.opened_composites(self._covers, upto))
            for start, stop in store.closed_composites(self._covers, upto).items():
                if str(start) in self.spans:
                    self._stops[str(start)] = stop
            self._covers = upto
        if self._unsettled >= _SOME and self._settled + self._unsettled == learnt:
            self._settle()  # it has caught up
        for id in [id for id, stop in self._stops.items() if stop <= committed]:
            del self.spans[id], self._stops[id]
            self._plan.remove(id)

    @property
    def programs(self) -> Mapping[str, Program]:
        return self._plan.programs

    def opened(self, first: int, last: int) -> list[str]:
        """Those that start within these positions."""
        some = self._starts[bisect_left(self._starts, first) : bisect_right(self._starts, last)]
        return [id for id in map(str, some) if id in self.spans]

    def closed(self, first: int, last: int) -> dict[str, int]:
        """Those that end within these positions, and where."""
        return {id: stop for id, stop in self._stops.items() if first <= stop <= last}

    @property
    def matcher(self) -> BoxMatcher:
        """It finds the numbers of the filters that events match."""
        return self._matcher

    def asked(self, batch: EventBatch, times: Sequence[int]) -> list[Bindings]:
        """Of each event, which happened at this time, the values that composites ask for: by a key, or a `where`."""
        names = self._plan.asked
        columns = {
            name: values_of(batch.columns[name], domain)
            for name in names
            if name in batch.columns and (domain := self.catalog.domain_of(name)) is not None
        }
        if EVENT_TYPE in names:
            known = self.catalog.event_type_names
            columns[EVENT_TYPE] = [tuple(known[one] for one in types) for types in batch.event_types.to_pylist()]
        if "event.id" in names:
            columns["event.id"] = [(id,) for id in batch.ids.to_pylist()]
        if "event.source" in names:
            columns["event.source"] = [(source,) for source in batch.sources.to_pylist()]
        if "event.time" in names:
            columns["event.time"] = [(Instant(time),) for time in times]
        if not columns:
            return [{}] * len(batch)
        return [
            {name: one for name, one in zip(columns, of_row, strict=True) if one is not None}
            for of_row in zip(*columns.values(), strict=True)
        ]

    def matches(
        self, position: int, time: int, source: str, id: str, bound: Bindings, numbers: Sequence[int]
    ) -> list[Match]:
        found = self._plan.matches(time, source, id, bound, numbers)
        if not self._stops and self._starts and position >= self._starts[-1]:
            return found  # all that are known count
        return [match for match in found if self._counts(match.key.composite, position)]

    def _counts(self, id: str, position: int) -> bool:
        return self.spans[id].span.start <= position < self._stops.get(id, position + 1)

    def _begin(self) -> None:
        self.catalog = self._store.catalog()
        self.spans, self._starts, self._stops = {}, [], {}
        self._plan = LeafPlan(self.catalog)
        self._matcher = BoxMatcher(self.catalog, threads=1)

    def _grow(self, catalog: Catalog) -> None:
        if catalog.version != self.catalog.version:
            self.catalog = catalog
            self._matcher.adopt(catalog)
            self._plan.grow(catalog, lambda id: self._bound(self.spans[id]))

    def _add(self, spans: Iterable[CompositeSpan]) -> None:
        known = len(self._plan.filters)
        with uncollected():
            for one in spans:
                id = str(one.span.start)
                self.spans[id] = one
                self._starts.append(one.span.start)
                if one.span.stop is not None:
                    self._stops[id] = one.span.stop
                self._plan.add(id, *self._bound(one))
                self._unsettled += 1
            new = self._plan.filters[known:]
            if new:
                ids = [str(number) for number in range(known, known + len(new))]
                self._matcher.add_batch(ids, FilterBatch.of(new, self.catalog))
        if self._unsettled >= max(_MANY, self._settled // 4):
            self._settle()

    def _settle(self) -> None:
        """They stay, and each search for cycles would visit the objects of all of them; Spark asks for one after every
        task. Garbage would stay, too, so it goes first."""
        gc.collect()
        gc.freeze()
        self._settled, self._unsettled = self._settled + self._unsettled, 0

    def _bound(self, one: CompositeSpan) -> tuple[BoundComposite, int]:
        return opened_composite(one.span.filter, one.opened, self.catalog), one.opened


def opened_composite(text: str, opened: int, catalog: Catalog) -> BoundComposite:
    """Events from before its span take no part, so an earlier start means the span's own."""
    return BoundComposite.known(text, catalog).since(opened)


@cache
def known_composites(url: str) -> KnownComposites:
    """Those of a store, in this worker."""
    return KnownComposites(opened_store(url))
