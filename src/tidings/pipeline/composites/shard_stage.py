"""Matches of leaves in, by shard; what was detected out, and the states that changed.

All shards see how far each task of the leaf stage came, so they agree on the position that the round reaches. What was
detected is staged beside Spark, as plain matches are; so are large changes. Keys do not know of each other: where very
many matches become ready at once, a shard takes its keys in groups, so that only some of the matches are in memory."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any
from zlib import crc32

import msgspec
import pyarrow as pa

from tidings.composite.detector import Detector, Found, Key, Match, Shard
from tidings.composite.references import bound, time_of
from tidings.composite.stored import (
    dump_entry,
    dump_key,
    dump_matches,
    joined_matches,
    key_bytes,
    load_entry,
    load_key,
    load_matches,
    load_spans,
)
from tidings.composite.trace import MOST_WAITING, NOT_EXPIRED, SECOND, awaited_part
from tidings.language.composites.parser import parse
from tidings.pipeline.composites.known import KnownComposites, known_composites
from tidings.pipeline.composites.leaf_stage import shard_of
from tidings.pipeline.composites.shard_done import ShardDone, ShardWriter
from tidings.pipeline.composites.uncollected import uncollected
from tidings.pipeline.spark.worker_cache import opened_store
from tidings.pipeline.stream.staging import Staging
from tidings.store import Store
from tidings.store.journal.entries import Constituent
from tidings.store.notifications.composite_batch import Changes, Detected, Early
from tidings.store.notifications.known_places import KnownPlaces
from tidings.store.notifications.progress import COMPOSITES
from tidings.store.notifications.waiting import EARLY, SHARDS, State

_NEVER = -(2**62)  # before all times
_GROUP = 32 << 20  # characters of the matches whose keys are taken together
SHARD_ROW = "shard int, body binary"
_SHARD = pa.schema([("shard", pa.int32()), ("body", pa.binary())])
Texts = dict[int, list[str]]  # matches by the span of their events


@dataclass(frozen=True, slots=True)
class ShardStage:
    """Called in each worker for each partition, which has all rows of some shards."""

    store: str = field(repr=False)  # a URL, which may hold a password
    lateness: int
    staging: Staging
    batch: str
    most_waiting: int = MOST_WAITING

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        rows: dict[int, list[dict[str, Any]]] = {}
        for row in chain.from_iterable(batch.to_pylist() for batch in batches):
            rows.setdefault(row["shard"], []).append(row)
        store, known = opened_store(self.store), known_composites(self.store)
        times: Times | None = None
        known.learn(max((row["last"] for row in chain.from_iterable(rows.values())), default=0))
        begun = time.monotonic()  # what a worker takes to learn says nothing about the batch
        for shard, of_shard in rows.items():
            writer = ShardWriter(self.staging, self.batch)
            done, times = answer(store, known, self.lateness, shard, of_shard, writer, times, self.most_waiting)
            done.seconds = max(row["seconds"] for row in of_shard), time.monotonic() - begun
            body = {"shard": shard, "body": msgspec.msgpack.encode(done)}
            yield pa.RecordBatch.from_pylist([body], schema=_SHARD)


def answer(
    store: Store, known: KnownComposites, lateness: int, shard: int, rows: list[dict[str, Any]], writer: ShardWriter,
    times: Times | None = None, most_waiting: int = MOST_WAITING,
) -> tuple[ShardDone, Times | None]:  # fmt: skip
    """Of a shard, to the rows of the leaf stage that are for it; `times` are those of another shard of the batch."""
    rows = sorted(rows, key=lambda row: row["first"])
    usable = list(_usable(rows))
    done = ShardDone(shard, [(row["first"], row["last"], row["done"]) for row in rows], usable[-1]["done"])
    done.events = sum(row["events"] for row in usable)
    done.late = [late for row in usable if row["late"] for late in msgspec.msgpack.decode(row["late"])]
    committed = store.committed(COMPOSITES)
    if done.reached > committed:
        known.learn(rows[-1]["last"])
        with uncollected():
            texts: Texts = {}
            for span, text in chain.from_iterable(load_spans(row["matches"]) for row in usable if row["matches"]):
                texts.setdefault(span, []).append(text)
            first = max(rows[0]["first"], committed + 1)
            times = times or Times(store, known, lateness, first, done.reached, most_waiting)
            times.advance(done, texts, writer)
    return done, times


def _usable(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Those that follow on each other without a gap, the last one maybe in part."""
    for row in rows:
        yield row
        if row["done"] < row["last"]:
            return


class Times:
    """The time before and after the positions [first, last], and when composites ended among them."""

    def __init__(
        self, store: Store, known: KnownComposites, lateness: int, first: int, last: int, most_waiting: int
    ) -> None:  # fmt: skip
        self._store, self._known, self._lateness = store, known, lateness
        self._first, self._last = first, last
        self._detector = Detector(known.programs, most_waiting)
        self.before = store.place(COMPOSITES).frontier
        self.frontier = self._frontier(last)
        closed = known.closed(first, last)
        self._ends = {id: (self._frontier(stop - 1) or _NEVER) + 1 for id, stop in closed.items()}

    @cached_property
    def _places(self) -> KnownPlaces:
        return self._store.known_places(self._first, self._last)

    @cached_property
    def _opening(self) -> dict[int, list[Key]]:
        """By shard, the composites that begin without an event."""
        found: dict[int, list[Key]] = {}
        for id in self._known.opened(self._first, self._last):
            program = self._known.programs[id]
            if program.opens_early and not program.by:
                found.setdefault(shard_of(Key(id)), []).append(Key(id))
        return found

    def advance(self, done: ShardDone, texts: Texts, writer: ShardWriter) -> None:
        """Takes the matches of a shard, by the span of their events. Those that must wait are passed on unread."""
        done.frontier = self.frontier
        passed = _NEVER if self.frontier is None else self.frontier // EARLY
        ready = [text for span, some in texts.items() if span <= passed for text in some]
        later = {span: some for span, some in texts.items() if span > passed}
        size = sum(map(len, ready))
        if self.frontier is not None:
            size += self._store.early_size(done.shard, passed, self._last)
        groups = size // _GROUP + 1
        for group in range(groups):
            self._advance(done, ready, later, _Group(group, groups), writer)
        early = [Early(done.shard, span, joined_matches(some)) for span, some in later.items()]
        writer.change(Changes([], [], [], early))
        writer.close(done, lambda: self._places)
        done.closed = [int(id) for id in self._ends]

    def _advance(self, done: ShardDone, ready: list[str], later: Texts, group: _Group, writer: ShardWriter) -> None:
        """The keys of a group. What turns out to wait is added to `later`."""
        detector, ends = self._detector, self._ends
        matches = list(group.matches(chain(self._early(done.shard), ready), self._counts))
        shard, loaded, missing = self._load(done.shard, matches, group)
        for key in self._opening.get(done.shard, ()):
            if key in group:
                detector.open(shard, key.composite)
        if ends:
            for ended in detector.end(shard, [match for match in matches if match.key.composite in ends], ends):
                self._write(ended, writer)
            matches = [match for match in matches if match.key.composite not in ends]
        if self.frontier is not None:
            for found in detector.finds(shard, matches, self.frontier + 1):
                self._write(found, writer)
        del matches
        writer.change(self._changes(done.shard, shard, loaded, missing))
        waiting: dict[int, list[Match]] = {}
        for match in chain.from_iterable(shard.early.values()):
            waiting.setdefault(time_of(match.event) // EARLY, []).append(match)
        for span, some in waiting.items():
            later.setdefault(span, []).append(dump_matches(some))
        done.dropped += [self._crowded(id, count) for id, count in shard.dropped.items()]

    def _changes(self, number: int, shard: Shard, loaded: dict[Key, str], missing: dict[Key, str]) -> Changes:
        """Of the states that were loaded, and of those that were made."""
        states: list[State] = []
        added: list[State] = []
        for key, entry in shard.entries.items():
            # What may be forgotten at a time is not due: the store drops it unread.
            due = entry.due if entry.forget is None else None
            if key in missing:
                added.append(State(missing[key], number, due, dump_entry(entry), entry.forget))
            else:  # one that opens was not looked up
                text = loaded.pop(key, "") or dump_key(key)
                states.append(State(text, number, due, dump_entry(entry), entry.forget))
        return Changes(states, added, sorted(loaded.values()), [])

    def _frontier(self, position: int) -> int | None:
        """Everything that happened up to there is known after a position."""
        mark = self._store.watermark_at(position)
        times = [self.before, None if mark is None else int(mark) - self._lateness - 1]
        return max((time for time in times if time is not None), default=None)

    def _early(self, shard: int) -> Iterable[str]:
        """The matches that waited for this time."""
        return () if self.frontier is None else self._store.early_bodies(shard, self.frontier // EARLY, self._last)

    def _counts(self, key: Key) -> bool:
        """Not of a composite that has ended since, nor of one that began, or moved in, after these positions."""
        return key.composite in self._known.programs and int(key.composite) <= self._last

    def _load(
        self, number: int, matches: Iterable[Match], group: _Group
    ) -> tuple[Shard, dict[Key, str], dict[Key, str]]:  # fmt: skip
        """The states that this time changes, and those of keys that are matched; the texts of the keys that have one,
        and of those that were looked up and have none."""
        shard = Shard()  # its frontier is not told: a composite may be due before that, when it opens
        loaded: dict[Key, str] = {}
        if self.frontier is None:
            return shard, loaded, {}
        limit = bound(self.frontier + 1)
        wanted = {dump_key(match.key): match.key for match in matches if match.event < limit}
        for one in self._store.due_states(number, self.frontier):
            key = wanted.pop(one.key) if one.key in wanted else load_key(one.key)
            if key in group and self._counts(key):
                assert one.due is not None
                loaded[key] = one.key
                shard.entries[key] = load_entry(one.body)
                shard.due.setdefault(one.due // SECOND, {})[key] = one.due
        for one in self._store.states_of(wanted):
            key = wanted.pop(one.key)
            loaded[key] = one.key
            shard.entries[key] = load_entry(one.body)
        return shard, loaded, {key: text for text, key in wanted.items()}

    def _write(self, found: list[Found], writer: ShardWriter) -> None:
        if found:
            writer.find([self._named(one) for one in found], self._places)

    def _named(self, one: Found) -> Detected:
        span = self._known.spans[one.composite].span
        key, events, time, awaited = one.detection
        mark = one.known + self._lateness + 1
        expired = _awaited(span.filter, awaited) if awaited != NOT_EXPIRED else ""
        told = tuple(Constituent(*event) for event in events)
        return Detected(span.subscription, span.owner, span.start, key, told, time, mark, awaited, expired)

    def _crowded(self, id: str, count: int) -> tuple[int, str, str, int]:
        span = self._known.spans[id].span
        return span.start, span.subscription, span.owner, count


@dataclass(frozen=True, slots=True)
class _Group:
    """Some of the keys of a shard."""

    number: int
    groups: int

    def __contains__(self, key: Key) -> bool:
        return self.groups == 1 or crc32(key_bytes(key)) // SHARDS % self.groups == self.number

    def matches(self, texts: Iterable[str], counts: Any) -> Iterator[Match]:
        for text in texts:
            yield from (match for match in load_matches(text) if match.key in self and counts(match.key))


@lru_cache(maxsize=1000)
def _awaited(text: str, number: int) -> str:
    """What an expired partial match of a canonical text waited for."""
    return awaited_part(parse(text).tree, number)
