"""Stretches of the journal in; matches of leaves out, by the shard that their keys fall into.

Every stretch gives a row for every shard, so that each shard hears of the time that has passed, and the sink can tell
that nothing is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import msgspec
import pyarrow as pa

from tidings.composite.detector import Key, Match
from tidings.composite.stored import dump_seconds, key_bytes
from tidings.composite.trace import SECOND
from tidings.pipeline.composites.known import KnownComposites, known_composites
from tidings.pipeline.composites.uncollected import uncollected
from tidings.pipeline.spark.worker_cache import opened_store
from tidings.pipeline.stream.payloads import read_payloads
from tidings.store import Store
from tidings.store.notifications.progress import COMPOSITES
from tidings.store.notifications.waiting import SHARDS

LEAF_ROW = "shard int, first long, last long, events long, matches string, late binary"
_LEAF = pa.schema(
    [
        ("shard", pa.int32()),
        ("first", pa.int64()),
        ("last", pa.int64()),
        ("events", pa.int64()),
        ("matches", pa.string()),
        ("late", pa.binary()),
    ]
)


def shard_of(key: Key) -> int:
    return crc32(key_bytes(key)) % SHARDS


@dataclass(frozen=True, slots=True)
class LeafStage:
    """Called in each worker for each partition. `lateness` is in microseconds."""

    store: str = field(repr=False)  # a URL, which may hold a password
    lateness: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        store, known = opened_store(self.store), known_composites(self.store)
        for rows in batches:
            for row in rows.to_pylist():
                first, last = row["first"], row["last"]
                known.learn(last)
                found = StretchMatches(store, known, self.lateness, first, last)
                yield pa.RecordBatch.from_pylist(found.rows(), schema=_LEAF)


class StretchMatches:
    """What the events of the positions [first, last] match; none of those that came too late."""

    def __init__(self, store: Store, known: KnownComposites, lateness: int, first: int, last: int) -> None:
        self.first, self.last = first, last
        self.events = 0
        self.late: list[tuple[int, int]] = []
        self.by_shard: list[dict[int, list[Match]]] = [{} for _ in range(SHARDS)]  # by the second of their events
        self._known, self._lateness = known, lateness
        place = store.place(COMPOSITES)
        self._passed = place.frontier
        done = last if last <= place.committed else first - 1  # then the batch is run again in vain
        with uncollected():
            while done < last:
                page = store.event_page(done, last)
                if page.positions:
                    self._take(page)
                done = page.upto

    def rows(self) -> list[dict[str, Any]]:
        about: dict[str, Any] = {"first": self.first, "last": self.last}
        rows = [
            about | {"shard": shard, "events": 0, "matches": dump_seconds(found) if found else None, "late": None}
            for shard, found in enumerate(self.by_shard)
        ]
        rows[0] |= {"events": self.events, "late": msgspec.msgpack.encode(self.late)}
        return rows

    def _take(self, page: Any) -> None:
        positions = pa.array(page.positions, pa.int64())
        batch, _ = read_payloads(page.payloads, positions, pa.array(page.accepted, pa.int64()), self._known.catalog)
        self.events += len(batch)
        marks = dict(zip(page.positions, page.watermarks, strict=True))
        matching = self._known.matching(batch)
        some = batch.take(list(matching))
        times, accepted = some.times.cast("int64"), some.accepted
        occurred = [then if time is None else time for time, then in zip(*map(_list, (times, accepted)), strict=True)]
        asked = self._known.asked(some, occurred)
        rows = zip(
            *map(_list, (some.positions, some.sources, some.ids)), occurred, asked, matching.values(), strict=True
        )
        for position, source, id, time, bound, numbers in rows:
            late_by = self._late_by(time, marks[position])
            if late_by > 0:
                self.late.append((position, late_by))
                continue
            second = time // SECOND
            for match in self._known.matches(position, time, source, id, bound, numbers):
                self.by_shard[shard_of(match.key)].setdefault(second, []).append(match)

    def _late_by(self, occurred: int, mark: int) -> int:
        """By how much it is older than the watermark before it. Where it raised the watermark itself, it is not. The
        frontier counts, too: the lateness may have been shorter before."""
        passed = mark - self._lateness if self._passed is None else max(mark - self._lateness, self._passed + 1)
        return passed - occurred


def _list(array: Any) -> list[Any]:
    found: list[Any] = array.to_pylist()
    return found
