"""Matches of leaves in, by shard; what was detected out, and the states that changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import msgspec
import pyarrow as pa

from tidings.composite.detector import Detector, Found, Key, Match, Shard
from tidings.composite.references import time_of
from tidings.composite.stored import dump_entry, dump_key, dump_matches, load_entry, load_key, load_matches
from tidings.composite.trace import SECOND
from tidings.pipeline.composites.known import KnownComposites, known_composites
from tidings.pipeline.composites.leaf_stage import shard_of
from tidings.pipeline.spark.worker_cache import opened_store
from tidings.store import Store
from tidings.store.notifications.progress import COMPOSITES

_NEVER = -(2**62)  # before all times
SHARD_ROW = "shard int, body binary"
_SHARD = pa.schema([("shard", pa.int32()), ("body", pa.binary())])


class ShardDone(msgspec.Struct):
    """What a shard made of a batch. `found`: span, key, events, time; `states`: key, due, body; `early`: second, body;
    `stretches` are those it heard of."""

    shard: int
    stretches: list[tuple[int, int]]
    frontier: int | None = None
    events: int = 0
    found: list[Any] = []
    states: list[tuple[str, int | None, str]] = []
    gone: list[str] = []
    closed: list[int] = []
    early: list[tuple[int, str]] = []
    late: list[tuple[int, int]] = []
    dropped: dict[str, int] = {}


@dataclass(frozen=True, slots=True)
class ShardStage:
    """Called in each worker for each partition, which has all rows of some shards."""

    store: str = field(repr=False)  # a URL, which may hold a password
    lateness: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        rows: dict[int, list[dict[str, Any]]] = {}
        for row in chain.from_iterable(batch.to_pylist() for batch in batches):
            rows.setdefault(row["shard"], []).append(row)
        store, known = opened_store(self.store), known_composites(self.store)
        for shard, of_shard in rows.items():
            done = answer(store, known, self.lateness, shard, of_shard)
            body = {"shard": shard, "body": msgspec.msgpack.encode(done)}
            yield pa.RecordBatch.from_pylist([body], schema=_SHARD)


def answer(store: Store, known: KnownComposites, lateness: int, shard: int, rows: list[dict[str, Any]]) -> ShardDone:
    """Of a shard, to the rows of the leaf stage that are for it."""
    stretches = sorted((row["first"], row["last"]) for row in rows)
    done = ShardDone(shard, stretches)
    done.events = sum(row["events"] for row in rows)
    done.late = [late for row in rows if row["late"] for late in msgspec.msgpack.decode(row["late"])]
    first, last = stretches[0][0], stretches[-1][1]
    if last > store.committed(COMPOSITES):
        known.learn(last)
        matches = [match for row in rows if row["matches"] for match in load_matches(row["matches"])]
        Times(store, known, lateness, first, last).advance(done, matches)
    return done


class Times:
    """The time before and after the positions [first, last], and when composites ended among them."""

    def __init__(self, store: Store, known: KnownComposites, lateness: int, first: int, last: int) -> None:
        self._store, self._known, self._lateness = store, known, lateness
        self._first, self._last = first, last
        self.before = store.place(COMPOSITES).frontier
        self.frontier = self._frontier(last)

    def advance(self, done: ShardDone, matches: list[Match]) -> None:
        """Takes the matches of a shard, in any order."""
        known, frontier = self._known, self.frontier
        done.frontier = frontier
        detector = Detector(known.programs)
        early = self._early(done.shard)
        shard, loaded = self._load(done.shard, [*matches, *early])
        for match in early:
            shard.early.setdefault(time_of(match.event) // SECOND, []).append(match)
        for id in known.opened(self._first, self._last):
            if shard_of(Key(id)) == done.shard:
                detector.open(shard, id)
        closed = known.closed(self._first, self._last)
        ends = {id: (self._frontier(stop - 1) or _NEVER) + 1 for id, stop in closed.items()}
        found = detector.end(shard, (match for match in matches if match.key.composite in ends), ends)
        if frontier is not None:
            going_on = (match for match in matches if match.key.composite not in ends)
            found += detector.advance(shard, going_on, frontier + 1)[1]
        done.found = [self._named(one) for one in found]
        done.states = [(dump_key(key), entry.due, dump_entry(entry)) for key, entry in shard.entries.items()]
        done.gone = sorted(loaded - {key for key, _, _ in done.states})
        done.early = [(second, dump_matches(later)) for second, later in shard.early.items() if later]
        done.closed = [int(id) for id in closed]
        done.dropped = {known.spans[id].span.subscription: count for id, count in shard.dropped.items()}

    def _frontier(self, position: int) -> int | None:
        """Everything that happened up to there is known after a position."""
        mark = self._store.watermark_at(position)
        times = [self.before, None if mark is None else int(mark) - self._lateness - 1]
        return max((time for time in times if time is not None), default=None)

    def _early(self, shard: int) -> list[Match]:
        """The matches that waited for this time; not those of composites that have ended since."""
        if self.frontier is None:
            return []
        bodies = self._store.early_bodies(shard, self.frontier // SECOND)
        programs = self._known.programs
        return [match for body in bodies for match in load_matches(body) if match.key.composite in programs]

    def _load(self, number: int, matches: Iterable[Match]) -> tuple[Shard, set[str]]:
        """The states that this time changes, and those of keys that are matched."""
        shard = Shard()  # its frontier is not told: a composite may be due before that, when it opens
        if self.frontier is None:
            return shard, set()
        due = self._store.due_states(number, self.frontier)
        states = {one.key: one for one in due}
        wanted = {dump_key(match.key) for match in matches if time_of(match.event) <= self.frontier}
        states |= {one.key: one for one in self._store.states_of(wanted - states.keys())}
        for one in states.values():
            shard.entries[load_key(one.key)] = load_entry(one.body)
        for one in due:
            assert one.due is not None
            shard.due.setdefault(one.due // SECOND, {})[load_key(one.key)] = one.due
        return shard, set(states)

    def _named(self, one: Found) -> tuple[str, str, int, Any, Any, int]:
        span = self._known.spans[one.composite].span
        events = [tuple(event) for event in one.detection.events]
        return span.subscription, span.owner, span.start, one.detection.key, events, one.detection.time
