"""The sink of the composites' query: what all shards made of a batch, in one transaction.

Batches are told apart by journal position. One that was committed before is skipped; the states in the store are those
of the committed position, so a batch that begins elsewhere is refused, and nothing of it is stored."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec

from tidings.composite.trace import MOST_WAITING
from tidings.pipeline.composites.leaf_stage import LEAF_ROW, LeafStage
from tidings.pipeline.composites.shard_stage import SHARD_ROW, ShardDone, ShardStage
from tidings.pipeline.spark.worker_cache import opened_store
from tidings.pipeline.stream.rounds import TornBatch
from tidings.store import Store
from tidings.store.journal.entries import Constituent
from tidings.store.notifications.crowded import Crowded
from tidings.store.notifications.detections import CompositeBatch, Detected, Early
from tidings.store.notifications.progress import COMPOSITES, FIRST_BATCH
from tidings.store.notifications.waiting import SHARDS, State

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_QUICK, _SLOW = 1.0, 2.5  # seconds: after a batch that took less, or more, the next is larger, or smaller
_SMALLEST, _LARGEST = 200, 100_000  # positions of a batch
_read = msgspec.msgpack.Decoder(ShardDone).decode


@dataclass(frozen=True, slots=True)
class CompositeSink:
    """Called by Spark with each batch, in the driver; under Spark Connect, in a process of the server's. `holder` has
    the pipeline's lease."""

    store_url: str = field(repr=False)
    lateness: int  # microseconds
    tasks: int
    holder: str
    most_waiting: int = MOST_WAITING

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        from pyspark.sql.functions import col

        begun = time.monotonic()
        store = opened_store(self.store_url)
        store.check_pipeline_lease(self.holder)
        matched = frame.mapInArrow(LeafStage(self.store_url, self.lateness), LEAF_ROW)
        by_shard = matched.repartitionById(self.tasks, (col("shard") % self.tasks).cast("int"))
        rows = by_shard.mapInArrow(ShardStage(self.store_url, self.lateness, self.most_waiting), SHARD_ROW).toArrow()
        store_batch(store, [_read(body) for body in rows.column("body").to_pylist()], begun)


def store_batch(store: Store, done: list[ShardDone], begun: float) -> int:
    """How many notifications were added. Raises TornBatch, Gap or OutsideBatch."""
    first, last = _bounds(done)
    place = store.place(COMPOSITES)
    if last <= place.committed:
        return 0
    limit = _next_limit(place.batch_limit or FIRST_BATCH, last - first + 1, time.monotonic() - begun)
    return store.commit_detections(
        CompositeBatch(
            first=first,
            last=last,
            frontier=done[0].frontier,
            found=[_detected(*one) for shard in done for one in shard.found],
            states=[State(key, one.shard, due, body, forget) for one in done for key, due, body, forget in one.states],
            added=[State(key, one.shard, due, body, forget) for one in done for key, due, body, forget in one.added],
            gone=[key for shard in done for key in shard.gone],
            closed=done[0].closed,
            early=[Early(shard.shard, second, body) for shard in done for second, body in shard.early],
            late=[(position, late_by) for shard in done for position, late_by in shard.late],
            crowded=_crowded(done),
            batch_limit=limit,
        )
    )


def _bounds(done: list[ShardDone]) -> tuple[int, int]:
    """Every shard must have answered, and for all stretches of the batch, one after another."""
    stretches = done[0].stretches if done else []
    whole = sorted(one.shard for one in done) == list(range(SHARDS))
    if not whole or any(one.stretches != stretches for one in done):
        raise TornBatch(tuple(stretches))
    if any(two[0] != one[1] + 1 for one, two in pairwise(stretches)):
        raise TornBatch(tuple(stretches))
    return stretches[0][0], stretches[-1][1]


def _detected(subscription: str, owner: str, span: int, key: Any, events: Any, *about: Any) -> Detected:
    return Detected(subscription, owner, span, tuple(key), tuple(Constituent(*one) for one in events), *about)


def _crowded(done: list[ShardDone]) -> list[Crowded]:
    """One for each composite; each shard may have some of its keys."""
    found: dict[int, Crowded] = {}
    for one in (Crowded(*one) for shard in done for one in shard.dropped):
        found[one.span] = one._replace(dropped=one.dropped + found[one.span].dropped) if one.span in found else one
    return list(found.values())


def _next_limit(limit: int, length: int, seconds: float) -> int:
    if seconds > _SLOW:
        return max(_SMALLEST, int(length * _SLOW / seconds))
    if seconds < _QUICK and 2 * length > limit:
        return min(2 * limit, _LARGEST)
    return limit
