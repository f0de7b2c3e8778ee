"""The sink of the composites' query: what all shards made of a batch, round by round.

Batches are told apart by journal position. One that was committed before is skipped; the states in the store are those
of the committed position, so a batch that begins elsewhere is refused, and nothing of it is stored."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from tidings.composite.trace import MOST_WAITING
from tidings.pipeline.composites.leaf_stage import LEAF_ROW, LeafStage
from tidings.pipeline.composites.shard_done import ShardDone, changes_in, found_in
from tidings.pipeline.composites.shard_stage import SHARD_ROW, ShardStage
from tidings.pipeline.spark.worker_cache import opened_store
from tidings.pipeline.stream.attempts import BatchSize, frame_of, rounds
from tidings.pipeline.stream.rounds import TornBatch
from tidings.pipeline.stream.staging import Staging
from tidings.store import Store
from tidings.store.notifications.commits import Pace
from tidings.store.notifications.composite_batch import CompositeBatch
from tidings.store.notifications.crowded import Crowded
from tidings.store.notifications.progress import COMPOSITES, FIRST_BATCH
from tidings.store.notifications.waiting import SHARDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SMALLEST_BATCH, _LARGEST_BATCH = 200, 100_000  # positions
_storing: dict[str, float] = {}  # by the store's URL, how many seconds the last round took to store
_read = msgspec.msgpack.Decoder(ShardDone).decode


@dataclass(frozen=True, slots=True)
class CompositeSink:
    """Called by Spark with each batch, in the driver; under Spark Connect, in a process of the server's. `holder` has
    the pipeline's lease."""

    store_url: str = field(repr=False)
    lateness: int  # microseconds
    tasks: int
    holder: str
    staging: Staging
    most_waiting: int = MOST_WAITING

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        store, name, pace = opened_store(self.store_url), f"{COMPOSITES}-{uuid.uuid4().hex[:12]}", Pace()
        store.check_pipeline_lease(self.holder)
        size = BatchSize(store.place(COMPOSITES).batch_limit or FIRST_BATCH, _LARGEST_BATCH, _SMALLEST_BATCH)
        size.storing = _storing.get(self.store_url, 0.0)

        def run(frame: DataFrame, stage: LeafStage) -> CompositeRound:
            return self._run(frame, stage, name)

        try:
            for found in rounds(frame, LeafStage(self.store_url, self.lateness), run, size, self.tasks):
                begun = time.monotonic()
                store_round(store, found, self.staging, self.lateness, size.positions, pace)
                size.storing = _storing[self.store_url] = time.monotonic() - begun
                self.staging.sweep(name)
        finally:
            self.staging.sweep(name)

    def _run(self, frame: DataFrame, stage: LeafStage, name: str) -> CompositeRound:
        from pyspark.sql.functions import col

        matched = frame_of(frame, stage).mapInArrow(stage, LEAF_ROW)
        by_shard = matched.repartitionById(self.tasks, (col("shard") % self.tasks).cast("int"))
        shards = ShardStage(self.store_url, self.lateness, self.staging, name, self.most_waiting)
        rows = by_shard.mapInArrow(shards, SHARD_ROW).toArrow()
        return CompositeRound(map(_read, rows.column("body").to_pylist()))


class CompositeRound:
    """What all shards made of a round. Every shard must have answered, and for all stretches of the round, one after
    another; else it raises TornBatch."""

    plan, shards = 0, 1

    def __init__(self, done: Iterable[ShardDone]) -> None:
        self.done = list(done)
        self._stretches = self.done[0].stretches if self.done else []
        whole = sorted(one.shard for one in self.done) == list(range(SHARDS))
        alike = all(one.stretches == self._stretches and one.reached == self.done[0].reached for one in self.done)
        if not whole or not alike or any(two[0] != one[1] + 1 for one, two in pairwise(self._stretches)):
            raise TornBatch(tuple((first, last) for first, last, _ in self._stretches))
        self.first, self.last = self._stretches[0][0], self._stretches[-1][1]
        self.reached = self.done[0].reached
        self.seconds = sum(max(seconds) for seconds in zip(*(one.seconds for one in self.done), strict=True))

    @cached_property
    def shortest(self) -> int | None:
        return min((done - first + 1 for first, last, done in self._stretches if done < last), default=None)


def store_round(
    store: Store, found: CompositeRound, staging: Staging, lateness: int, batch_limit: int, pace: Pace
) -> int:  # fmt: skip
    """How many notifications were added. Raises Gap or OutsideBatch."""
    committed = store.committed(COMPOSITES)
    if found.reached <= committed:
        return 0
    batch = CompositeBatch(
        first=max(found.first, committed + 1),  # the tasks left out what was committed before
        last=found.reached,
        frontier=found.done[0].frontier,
        changes=changes_in(found.done, staging),
        closed=found.done[0].closed,
        late=[late for shard in found.done for late in shard.late],
        crowded=_crowded(found.done),
        batch_limit=batch_limit,
        lateness=lateness,
    )
    return store.commit_detections(batch, found_in(found.done, staging), pace)


def _crowded(done: list[ShardDone]) -> list[Crowded]:
    """One for each composite; each shard may have some of its keys."""
    found: dict[int, Crowded] = {}
    for one in (Crowded(*one) for shard in done for one in shard.dropped):
        found[one.span] = one._replace(dropped=one.dropped + found[one.span].dropped) if one.span in found else one
    return list(found.values())
