"""Direct matching: events of a folder or a Kafka topic in, matches out, past the journal, for rates beyond it.

Each micro-batch is matched with the plan that is the newest when it begins; every subscription of that plan counts that
was not withdrawn. Matches come at least once: a batch that Spark runs again writes its matches again. There are no
duplicates found among events, no positions, no notifications."""

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
from tidings.pipeline.found import found
from tidings.pipeline.letter_box import LetterBox, LettersInFolder, LettersInStore
from tidings.pipeline.match_sinks import MatchSink, ParquetSink
from tidings.pipeline.opened import opened
from tidings.pipeline.plans import NoPlan, Plans
from tidings.pipeline.sources import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

Newest = Callable[[], Path]

_NOW = FOREVER - 1  # a position that only what was withdrawn does not reach
_FOUND_ROW = "event string, source string, subscriptions array<string>"


@dataclass(frozen=True, slots=True)
class NewestPlan:
    """The folder of the version that a planner published last."""

    plans: Path

    def __call__(self) -> Path:
        published = Plans(self.plans).newest()
        if published is None:
            raise NoPlan(str(self.plans), 0)
        return Plans(self.plans).path(published.version, 0).parent


class Direct:
    """One query of direct matching; Spark calls it with the rows of each batch."""

    def __init__(self, newest: Newest, source: Source, sink: MatchSink, letters: LetterBox) -> None:
        self._newest = newest
        self.source = source
        self.sink = sink
        self._letters = letters
        self._run = uuid.uuid4().hex[:12]  # batch numbers begin anew with a checkpoint, names of files must not

    def start(self, spark: SparkSession, checkpoint: Path, once: bool = False) -> StreamingQuery:
        self._newest()  # without a plan it need not start
        self.sink.prepare(spark)
        writer = (
            self.source.stream(spark)
            .writeStream.foreachBatch(self)
            .queryName(f"direct {self.source} to {self.sink}")
            .option("checkpointLocation", str(checkpoint.absolute()))
        )
        return (
            writer.trigger(availableNow=True) if once else writer.trigger(processingTime=self.source.trigger)
        ).start()

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        from pyspark.sql.functions import explode

        stage = DirectStage(self._newest(), self._newest, self.source, self._letters, f"{self._run}-{batch_id:09}")
        found = frame.mapInArrow(stage, _FOUND_ROW)
        self.sink.write(found.select("event", "source", explode("subscriptions").alias("subscription")))


def start_direct(
    spark: SparkSession,
    newest: Newest,
    source: Source,
    sink: MatchSink,
    checkpoint: Path,
    once: bool = False,
    refused: Path | None = None,
    store_url: str | None = None,
) -> StreamingQuery:
    """`newest` gives the folder of a plan, or of a version in shards; it is asked for each batch.

    Refused events go to the store, if there is one, else as JSON Lines to the folder `refused`: by default beside a
    Parquet sink's folder, else beside the checkpoint."""
    beside = sink.folder if isinstance(sink, ParquetSink) else checkpoint
    folder = refused or beside.with_name(f"{beside.name}.refused")
    letters = LettersInStore(store_url) if store_url is not None else LettersInFolder(folder.absolute())
    return Direct(newest, source, sink, letters).start(spark, checkpoint, once)


@dataclass(frozen=True, slots=True)
class DirectStage:
    """Called in each worker with the rows of the source.

    `newest` is asked again where the plan has been swept away since the batch began."""

    plan: Path
    newest: Newest
    source: Source
    letters: LetterBox
    batch: str

    def __call__(self, rows: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        number = context.partitionId() if context is not None else 0
        folders = plan_folders(self.plan if self.plan.is_dir() else self.newest())
        matchers = [opened(folder, most_kept=max(2, len(folders))) for folder in folders]
        with self.letters.open(f"{self.batch}-{number:05}") as box:
            for arrived in self.source.arrivals(rows, lambda: matchers[0].catalog, None):
                box.put(arrived.letters)
                if len(arrived.batch):
                    for matcher in matchers:
                        yield from found_rows(arrived.batch, matcher)


def plan_folders(folder: Path) -> list[Path]:
    """A plan, or the shards of one."""
    return sorted(folder.glob("shard-*")) or [folder]


def found_rows(batch: EventBatch, matcher: BoxMatcher) -> Iterator[Any]:
    """One row for each event that matched something, with the list of its subscriptions."""
    now = batch.at(pa.repeat(pa.scalar(_NOW, pa.int64()), len(batch)))
    for rows, lists in found(now, matcher):
        columns = [batch.ids.take(pa.array(rows)), batch.sources.take(pa.array(rows)), lists]
        yield pa.RecordBatch.from_arrays(columns, ["event", "source", "subscriptions"])
