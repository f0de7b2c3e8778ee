"""Batches of the composites' query without Spark: the same stages and the same sink, called one after another."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from tidings.pipeline.composites.known import KnownComposites
from tidings.pipeline.composites.leaf_stage import StretchMatches
from tidings.pipeline.composites.shard_stage import ShardDone, answer
from tidings.pipeline.composites.sink import store_batch
from tidings.store import Store
from tidings.store.notifications.progress import COMPOSITES
from tidings.store.notifications.waiting import SHARDS


def run_batch(
    store: Store, known: KnownComposites, lateness: int, first: int, last: int, stretches: int = 1, room: int = 10_000
) -> int:
    """How many notifications it stored. Lateness is in microseconds; `room` instances may wait."""
    return store_batch(store, answers(store, known, lateness, first, last, stretches, room), 0.0)


def answers(
    store: Store, known: KnownComposites, lateness: int, first: int, last: int, stretches: int = 1, room: int = 10_000
) -> list[ShardDone]:
    """What the shards say of a batch, before anything of it is stored."""
    length = last - first + 1
    cuts = sorted({first + length * piece // stretches for piece in range(stretches + 1)})
    rows = []
    for one, other in pairwise(cuts):
        known.learn(other - 1)
        rows += StretchMatches(store, known, lateness, one, other - 1).rows()
    return [
        answer(store, known, lateness, shard, [row for row in rows if row["shard"] == shard], room)
        for shard in range(SHARDS)
    ]


def run_all(store: Store, lateness: int, cuts: Iterable[int] = (), stretches: int = 1, room: int = 10_000) -> int:
    """To the end of the journal, in batches that end at these positions, each by a worker that knows nothing yet."""
    added, tail = 0, store.tail()
    if not store.begin_composites():
        return 0
    for last in sorted({*cuts, tail}):
        first = store.committed(COMPOSITES) + 1
        if first <= last <= tail:
            added += run_batch(store, KnownComposites(store), lateness, first, last, stretches, room)
    return added
