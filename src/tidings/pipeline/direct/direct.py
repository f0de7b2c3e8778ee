"""Direct matching: events of a folder or a Kafka topic in, matches out, past the journal, for rates beyond it.

Each task of a micro-batch takes the newest plan when it begins; every subscription of that plan counts that was not
withdrawn. The pipeline takes out what has expired, four times a second. Matches are written by Spark's own sinks:
exactly once to Parquet, at least once to Kafka. There are no positions and no notifications, and repeated events are
not noticed."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tidings.events import EventBatch
from tidings.matching.algorithm import FOREVER
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.plan.saved_files import UnusablePlan
from tidings.pipeline.direct.found import found
from tidings.pipeline.direct.letter_box import LetterBox, LettersInFolder, LettersInStore
from tidings.pipeline.direct.match_sinks import MatchSink, ParquetSink
from tidings.pipeline.ingest.sources import Source
from tidings.pipeline.plans.plans import NoPlan, WorkerPlans
from tidings.pipeline.spark.worker_cache import opened

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import StreamingQuery

Folders = Callable[[], list[Path]]  # of a plan's shards, on the machine where it is asked

_NOW = FOREVER - 1  # a position that only what was withdrawn does not reach
_FOUND_ROW = "event string, source string, subscriptions array<string>"


@dataclass(frozen=True, slots=True)
class NewestPlan:
    """The folders of the version that a planner published last."""

    plans: WorkerPlans

    def __call__(self) -> list[Path]:
        published = self.plans.newest()
        if published is None:
            raise NoPlan(str(self.plans), 0)
        shards = published.shards
        return [folder for shard in range(shards) for folder in self.plans.usable(published.version, shard, shards)]


def start_direct(
    spark: SparkSession,
    newest: Folders,
    source: Source,
    sink: MatchSink,
    checkpoint: Path | str,
    once: bool = False,
    refused: Path | None = None,
    store_url: str | None = None,
) -> StreamingQuery:
    """`newest` gives the folders of a plan's shards; it is asked in each worker.

    Refused events go to the store, if there is one, else as JSON Lines to the folder `refused`: by default beside a
    Parquet sink's folder, else beside the checkpoint."""
    from pyspark.sql.functions import explode

    newest()  # without a plan it need not start
    sink.prepare(spark, checkpoint)
    beside = sink.folder if isinstance(sink, ParquetSink) else Path(checkpoint)
    folder = refused or beside.with_name(f"{beside.name}.refused")
    letters = LettersInStore(store_url) if store_url is not None else LettersInFolder(folder.absolute())
    # Batch numbers restart with a checkpoint, names of files must not.
    stage = DirectStage(newest, source, letters, uuid.uuid4().hex[:12])
    found = source.stream(spark).mapInArrow(stage, _FOUND_ROW)
    writer = (
        sink.writer(found.select("event", "source", explode("subscriptions").alias("subscription")))
        .queryName(f"direct {source} to {sink}")
        .option("checkpointLocation", str(checkpoint))
    )
    return (writer.trigger(availableNow=True) if once else writer.trigger(processingTime=source.trigger)).start()


@dataclass(frozen=True, slots=True)
class DirectStage:
    """Called in each worker with the rows of the source; `run` tells this query's files of refused events from those of
    others."""

    newest: Folders
    source: Source
    letters: LetterBox
    run: str

    def __call__(self, rows: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        batch = context.getLocalProperty("streaming.sql.batchId") if context is not None else None
        number = context.partitionId() if context is not None else 0
        matchers = self._matchers()
        with self.letters.open(f"{self.run}-{int(batch or 0):09}-{number:05}") as box:
            for arrived in self.source.arrivals(rows, lambda: matchers[0].catalog, None):
                box.put(arrived.letters)
                if len(arrived.batch):
                    for matcher in matchers:
                        yield from found_rows(arrived.batch, matcher)

    def _matchers(self) -> list[BoxMatcher]:
        """Those of the newest plan; one that is swept away between the look and the opening has a successor."""
        while True:
            folders = self.newest()
            try:
                return [opened(folder, most_kept=max(2, len(folders))) for folder in folders]
            except UnusablePlan:
                if all(folder.is_dir() for folder in folders):
                    raise


def plan_folders(folder: Path) -> list[Path]:
    """A plan, or the shards of one."""
    return sorted(folder.glob("shard-*")) or [folder]


def found_rows(batch: EventBatch, matcher: BoxMatcher) -> Iterator[Any]:
    """One row for each event that matched something, with the list of its subscriptions."""
    now = batch.at(pa.repeat(pa.scalar(_NOW, pa.int64()), len(batch)))
    for rows, lists in found(now, matcher):
        columns = [batch.ids.take(pa.array(rows)), batch.sources.take(pa.array(rows)), lists]
        yield pa.RecordBatch.from_arrays(columns, ["event", "source", "subscriptions"])
