"""Matches of leaves in, by shard; what was detected out, and the states that changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any

import msgspec
import pyarrow as pa

from tidings.composite.detector import Detector, Found, Key, Match, Shard
from tidings.composite.references import bound
from tidings.composite.stored import (
    dump_entry,
    dump_key,
    dump_matches,
    joined_matches,
    load_entry,
    load_key,
    load_matches,
    load_seconds,
)
from tidings.composite.trace import MOST_WAITING, NOT_EXPIRED, SECOND, awaited_part
from tidings.language.composites.parser import parse
from tidings.pipeline.composites.known import KnownComposites, known_composites
from tidings.pipeline.composites.leaf_stage import shard_of
from tidings.pipeline.composites.uncollected import uncollected
from tidings.pipeline.spark.worker_cache import opened_store
from tidings.store import Store
from tidings.store.notifications.progress import COMPOSITES

_NEVER = -(2**62)  # before all times
SHARD_ROW = "shard int, body binary"
_SHARD = pa.schema([("shard", pa.int32()), ("body", pa.binary())])


class ShardDone(msgspec.Struct):
    """What a shard made of a batch. `found`: subscription, owner, span, key, events, time, the watermark at which it is
    known, and what an expired one waited for, as number and text; `states`: key, due, body, and when it may be
    forgotten, of keys that may have a state; `added`: of those that have none; `early`: second, body; `stretches` are
    those it heard of; `dropped`: span, subscription, owner, and how many instances found no room."""

    shard: int
    stretches: list[tuple[int, int]]
    frontier: int | None = None
    events: int = 0
    found: list[Any] = []
    states: list[tuple[str, int | None, str, int | None]] = []
    added: list[tuple[str, int | None, str, int | None]] = []
    gone: list[str] = []
    closed: list[int] = []
    early: list[tuple[int, str]] = []
    late: list[tuple[int, int]] = []
    dropped: list[tuple[int, str, str, int]] = []


@dataclass(frozen=True, slots=True)
class ShardStage:
    """Called in each worker for each partition, which has all rows of some shards."""

    store: str = field(repr=False)  # a URL, which may hold a password
    lateness: int
    most_waiting: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        rows: dict[int, list[dict[str, Any]]] = {}
        for row in chain.from_iterable(batch.to_pylist() for batch in batches):
            rows.setdefault(row["shard"], []).append(row)
        store, known = opened_store(self.store), known_composites(self.store)
        for shard, of_shard in rows.items():
            done = answer(store, known, self.lateness, shard, of_shard, self.most_waiting)
            body = {"shard": shard, "body": msgspec.msgpack.encode(done)}
            yield pa.RecordBatch.from_pylist([body], schema=_SHARD)


def answer(
    store: Store,
    known: KnownComposites,
    lateness: int,
    shard: int,
    rows: list[dict[str, Any]],
    most_waiting: int = MOST_WAITING,
) -> ShardDone:
    """Of a shard, to the rows of the leaf stage that are for it."""
    stretches = sorted((row["first"], row["last"]) for row in rows)
    done = ShardDone(shard, stretches)
    done.events = sum(row["events"] for row in rows)
    done.late = [late for row in rows if row["late"] for late in msgspec.msgpack.decode(row["late"])]
    first, last = stretches[0][0], stretches[-1][1]
    if last > store.committed(COMPOSITES):
        known.learn(last)
        with uncollected():
            texts: dict[int, list[str]] = {}
            for second, text in chain.from_iterable(load_seconds(row["matches"]) for row in rows if row["matches"]):
                texts.setdefault(second, []).append(text)
            Times(store, known, lateness, first, last).advance(done, texts, most_waiting)
    return done


class Times:
    """The time before and after the positions [first, last], and when composites ended among them."""

    def __init__(self, store: Store, known: KnownComposites, lateness: int, first: int, last: int) -> None:
        self._store, self._known, self._lateness = store, known, lateness
        self._first, self._last = first, last
        self.before = store.place(COMPOSITES).frontier
        self.frontier = self._frontier(last)

    def advance(self, done: ShardDone, texts: dict[int, list[str]], most_waiting: int) -> None:
        """Takes the matches of a shard, by the second of their events. Those that must wait are passed on unread."""
        known, frontier = self._known, self.frontier
        done.frontier = frontier
        passed = _NEVER if frontier is None else frontier // SECOND
        waiting = [(second, joined_matches(some)) for second, some in texts.items() if second > passed]
        matches = [
            match for second, some in texts.items() if second <= passed for text in some for match in load_matches(text)
        ]
        detector = Detector(known.programs, most_waiting)
        matches = self._early(done.shard) + matches
        shard, loaded, missing = self._load(done.shard, matches)
        for id in known.opened(self._first, self._last):
            if shard_of(Key(id)) == done.shard:
                detector.open(shard, id)
        closed = known.closed(self._first, self._last)
        ends = {id: (self._frontier(stop - 1) or _NEVER) + 1 for id, stop in closed.items()}
        found: list[Found] = []
        if ends:
            found = detector.end(shard, [match for match in matches if match.key.composite in ends], ends)
            matches = [match for match in matches if match.key.composite not in ends]
        if frontier is not None:
            found += detector.advance(shard, matches, frontier + 1)[1]
        done.found = [self._named(one) for one in found]
        for key, entry in shard.entries.items():
            # What may be forgotten at a time is not due: the store drops it unread.
            due = entry.due if entry.forget is None else None
            if key in missing:
                done.added.append((missing[key], due, dump_entry(entry), entry.forget))
            else:  # one that opens was not looked up
                done.states.append((loaded.pop(key, "") or dump_key(key), due, dump_entry(entry), entry.forget))
        done.gone = sorted(loaded.values())
        done.early = [(second, dump_matches(later)) for second, later in shard.early.items() if later] + waiting
        done.closed = [int(id) for id in closed]
        done.dropped = [self._crowded(id, count) for id, count in shard.dropped.items()]

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

    def _load(self, number: int, matches: Iterable[Match]) -> tuple[Shard, dict[Key, str], dict[Key, str]]:
        """The states that this time changes, and those of keys that are matched; the texts of the keys that have one,
        and of those that were looked up and have none."""
        shard = Shard()  # its frontier is not told: a composite may be due before that, when it opens
        loaded: dict[Key, str] = {}
        if self.frontier is None:
            return shard, loaded, {}
        limit = bound(self.frontier + 1)
        wanted = {dump_key(match.key): match.key for match in matches if match.event < limit}
        programs = self._known.programs  # without those that moved in after this batch
        for one in self._store.due_states(number, self.frontier):
            key = wanted.pop(one.key) if one.key in wanted else load_key(one.key)
            if key.composite in programs:
                assert one.due is not None
                loaded[key] = one.key
                shard.entries[key] = load_entry(one.body)
                shard.due.setdefault(one.due // SECOND, {})[key] = one.due
        for one in self._store.states_of(wanted):
            key = wanted.pop(one.key)
            loaded[key] = one.key
            shard.entries[key] = load_entry(one.body)
        return shard, loaded, {key: text for text, key in wanted.items()}

    def _named(self, one: Found) -> tuple[Any, ...]:
        span = self._known.spans[one.composite].span
        key, events, time, awaited = one.detection
        mark = one.known + self._lateness + 1
        expired = _awaited(span.filter, awaited) if awaited != NOT_EXPIRED else ""
        return span.subscription, span.owner, span.start, key, list(map(tuple, events)), time, mark, awaited, expired

    def _crowded(self, id: str, count: int) -> tuple[int, str, str, int]:
        span = self._known.spans[id].span
        return span.start, span.subscription, span.owner, count


@lru_cache(maxsize=1000)
def _awaited(text: str, number: int) -> str:
    """What an expired partial match of a canonical text waited for."""
    return awaited_part(parse(text).tree, number)
