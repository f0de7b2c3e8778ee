"""Stretches of the journal in; matches of leaves out, by the shard that their keys fall into.

Every stretch gives a row for every shard, so that each shard hears of the time that has passed, and the sink can tell
that nothing is missing. A task that has found a great deal stops before the end of its stretch and says how far it
came."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any
from zlib import crc32

import msgspec
import numpy as np
import pyarrow as pa

from tidings.composite.detector import Key, Match
from tidings.composite.stored import dump_spans, key_bytes
from tidings.events import EventBatch
from tidings.matching.algorithm import Matches
from tidings.pipeline.composites.known import KnownComposites, known_composites
from tidings.pipeline.composites.uncollected import uncollected
from tidings.pipeline.spark.worker_cache import opened_store
from tidings.pipeline.stream.attempts import stretch_of
from tidings.pipeline.stream.match_parts import Limits, MatchParts
from tidings.pipeline.stream.payloads import read_payloads
from tidings.pipeline.stream.stretch import Stretch
from tidings.store import Store
from tidings.store.journal.stored_events import EventPage
from tidings.store.notifications.progress import COMPOSITES
from tidings.store.notifications.waiting import EARLY, SHARDS

_LIMITS = Limits(staged=50_000)  # matches of composites, each of which may become a state
LEAF_ROW = "shard int, first long, last long, done long, events long, seconds double, matches string, late binary"
_LEAF = pa.schema(
    [
        ("shard", pa.int32()),
        ("first", pa.int64()),
        ("last", pa.int64()),
        ("done", pa.int64()),  # how far the task came
        ("events", pa.int64()),
        ("seconds", pa.float64()),  # that the task took
        ("matches", pa.string()),
        ("late", pa.binary()),
    ]
)


def shard_of(key: Key) -> int:
    return crc32(key_bytes(key)) % SHARDS


@dataclass(frozen=True, slots=True)
class LeafStage:
    """Called in each worker for each partition; partitions hold stretches, or numbers of the `stretches` here.
    `lateness` is in microseconds."""

    store: str = field(repr=False)  # a URL, which may hold a password
    lateness: int
    limits: Limits = _LIMITS
    stretches: tuple[Stretch, ...] = ()

    def over(self, stretches: tuple[Stretch, ...], limits: Limits) -> LeafStage:
        return replace(self, stretches=stretches, limits=limits)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        store, known = opened_store(self.store), known_composites(self.store)
        for rows in batches:
            for row in rows.to_pylist():
                stretch = stretch_of(self, row)
                known.learn(stretch.last)
                found = StretchMatches(store, known, self.lateness, stretch.first, stretch.last, self.limits)
                yield pa.RecordBatch.from_pylist(found.rows(), schema=_LEAF)


class StretchMatches:
    """What the events of the positions [first, last] match, up to `done`: it stops where it has found a great deal.
    None of those that came too late."""

    def __init__(
        self, store: Store, known: KnownComposites, lateness: int, first: int, last: int, limits: Limits = _LIMITS
    ) -> None:
        self.first, self.last = first, last
        self.events = self._matches = 0
        self.late: list[tuple[int, int]] = []
        self.by_shard: list[dict[int, list[Match]]] = [{} for _ in range(SHARDS)]  # by the span of their events
        self._known, self._lateness, self._limits = known, lateness, limits
        self._parts, self._begun = MatchParts(limits), time.monotonic()
        place = store.place(COMPOSITES)
        self._passed = place.frontier
        # What was committed is not matched again. All of it: then the batch is run again in vain.
        self.done = min(max(first - 1, place.committed), last)
        with uncollected():
            while self.done < last and not self._enough():
                page = store.event_page(self.done, last, limits.rows, limits.bytes)
                self.done = self._take(page) if page.positions else page.upto
        self.seconds = time.monotonic() - self._begun

    def rows(self) -> list[dict[str, Any]]:
        about: dict[str, Any] = {"first": self.first, "last": self.last, "done": self.done, "seconds": self.seconds}
        rows = [
            about | {"shard": shard, "events": 0, "matches": dump_spans(found) if found else None, "late": None}
            for shard, found in enumerate(self.by_shard)
        ]
        rows[0] |= {"events": self.events, "late": msgspec.msgpack.encode(self.late)}
        return rows

    def _take(self, page: EventPage) -> int:
        """The position reached."""
        positions = pa.array(page.positions, pa.int64())
        batch, _ = read_payloads(page.payloads, positions, pa.array(page.accepted, pa.int64()), self._known.catalog)
        marks = dict(zip(page.positions, page.watermarks, strict=True))
        for first, last, found in self._parts.of(self._known.matcher, batch):
            if not self._known.matched:
                self._known.matched, self._begun = True, time.monotonic()  # the first match loads compiled code
            reached = self._take_part(batch.slice(first, last), found, marks)
            if self._enough():
                return reached
        return page.upto

    def _take_part(self, batch: EventBatch, found: Matches, marks: dict[int, int]) -> int:
        numbers = found.numbers.tolist()
        matching = {row: numbers[at:end] for row, (at, end) in enumerate(pairwise(found.offsets.tolist())) if end > at}
        some = batch.take(list(matching))
        times, accepted = some.times.cast("int64"), some.accepted
        occurred = [then if own is None else own for own, then in zip(*map(_list, (times, accepted)), strict=True)]
        asked = self._known.asked(some, occurred)
        rows = zip(
            *map(_list, (some.positions, some.sources, some.ids)), occurred, asked, matching.values(), strict=True
        )
        all_positions = batch.positions.to_numpy()
        for position, source, id, happened, bound, leaves in rows:
            late_by = self._late_by(happened, marks[position])
            if late_by > 0:
                self.late.append((position, late_by))
                continue
            span = happened // EARLY
            for match in self._known.matches(position, happened, source, id, bound, leaves):
                self.by_shard[shard_of(match.key)].setdefault(span, []).append(match)
                self._matches += 1
            if self._matches >= self._limits.staged:
                self.events += int(np.searchsorted(all_positions, position, "right"))
                return int(position)
        self.events += len(batch)
        return int(all_positions[-1])

    def _enough(self) -> bool:
        return self._matches >= self._limits.staged or time.monotonic() - self._begun > self._limits.seconds

    def _late_by(self, occurred: int, mark: int) -> int:
        """By how much it is older than the watermark before it. Where it raised the watermark itself, it is not. The
        frontier counts, too: the lateness may have been shorter before."""
        passed = mark - self._lateness if self._passed is None else max(mark - self._lateness, self._passed + 1)
        return passed - occurred


def _list(array: Any) -> list[Any]:
    found: list[Any] = array.to_pylist()
    return found
