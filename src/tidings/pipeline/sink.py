"""The sink: each batch becomes notifications in one transaction of the store, with the position that is done.

Spark may run a batch again, after a crash or with a checkpoint that was lost: what is at or below the committed
position is skipped, so it adds nothing. Batches are told apart by journal position, never by Spark's batch id, which
begins anew with the checkpoint."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from tidings.errors import PipelineError
from tidings.events import BrokenRule
from tidings.pipeline.opened import opened_store
from tidings.store import DeadLetter, Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class TornBatch(PipelineError):
    """Spark handed over a batch of which a part is missing: the stretches that did arrive, as (first, last, tasks)."""

    def __init__(self, stretches: tuple[tuple[int, int, int], ...], shards: int) -> None:
        super().__init__(stretches, shards)

    def __str__(self) -> str:
        stretches, shards = self.args
        return (
            f"a batch arrived in part: stretches (first, last, tasks) {list(stretches)} of {shards} shards each. "
            "Nothing of it was committed; start the pipeline again, and report this"
        )


@dataclass(frozen=True, slots=True)
class Batch:
    """What one batch did; `seconds` is how long matching and storing it took."""

    first: int
    last: int
    events: int
    notifications: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Total:
    """All batches since the pipeline started."""

    batches: int = 0
    events: int = 0
    notifications: int = 0
    seconds: float = 0.0

    def with_one_more(self, batch: Batch) -> Total:
        return Total(
            self.batches + 1,
            self.events + batch.events,
            self.notifications + batch.notifications,
            self.seconds + batch.seconds,
        )


class Sink:
    """Called by Spark with each batch, in the driver."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._batches: list[Batch] = []  # since they were last taken
        self.total = Total()
        self.problem: Exception | None = None  # Spark wraps what is raised here beyond recognition

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        begun = time.monotonic()
        try:
            rows = frame.toArrow()
            first, last, events = stretch_of(rows)
            self._bury(rows.filter(pc.is_valid(rows.column("problem"))))
            matched = rows.filter(pc.is_valid(rows.column("subscriptions"))).select(["position", "subscriptions"])
            added = self._store.commit_batch(first, last, matched)
        except Exception as problem:
            self.problem = problem
            raise
        batch = Batch(first, last, events, added, time.monotonic() - begun)
        self._batches.append(batch)
        self.total = self.total.with_one_more(batch)

    def taken(self) -> tuple[Batch, ...]:
        """The batches since this was last asked."""
        taken, self._batches = tuple(self._batches), []
        return taken

    def _bury(self, rows: Any) -> None:
        """An event of the journal that cannot be read stops nobody: the journal keeps it, and it is listed."""
        letters = [
            DeadLetter("journal", str(row["position"]), None, "", (BrokenRule("form", None, None, row["problem"]),))
            for row in rows.to_pylist()
        ]
        if letters:
            self._store.bury(letters)


@dataclass(frozen=True, slots=True)
class RemoteSink:
    """The sink under Spark Connect, which calls it in a process of the server's: it opens the store there. What it has
    done is known by the store alone."""

    store_url: str = field(repr=False)

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        Sink(opened_store(self.store_url))(frame, batch_id)


def stretch_of(rows: pa.Table) -> tuple[int, int, int]:
    """The first and the last position of a batch and how many events it has; raises TornBatch unless every stretch
    was matched by
    every shard."""
    ends = rows.filter(pc.is_valid(rows.column("first")))
    shards = pc.max(ends.column("shards")).as_py() or 1
    arrived: dict[tuple[int, int], int] = {}
    for first, last in zip(ends.column("first").to_pylist(), ends.column("position").to_pylist(), strict=True):
        arrived[first, last] = arrived.get((first, last), 0) + 1
    stretches = sorted(arrived)
    gaps = any(later[0] != earlier[1] + 1 for earlier, later in pairwise(stretches))
    if not stretches or gaps or any(tasks != shards for tasks in arrived.values()):
        raise TornBatch(tuple((*stretch, arrived[stretch]) for stretch in stretches), shards)
    return stretches[0][0], stretches[-1][1], (pc.sum(ends.column("events")).as_py() or 0) // shards
