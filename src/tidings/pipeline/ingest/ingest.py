"""Ingest: a query that appends the events of a folder or a Kafka topic to the journal, with all its guarantees.

Workers read, sift and append chunk by chunk, so that no file is too large; the journal's own lock puts them into one
order. What is refused is buried in the store with every broken rule and never stops the stream. A batch that Spark runs
again, or a checkpoint that is lost, adds nothing twice: an event is known by its source and id, a dead letter by its
origin and place.

Refused: to append in the driver. Spark hands it a task's whole answer at once, so one large file would end the query
for good (spark.driver.maxResultSize)."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from tidings.events import BrokenRule, Event, RefusedEvent, write_event
from tidings.pipeline.ingest.arrivals import Arrived, written
from tidings.pipeline.ingest.kafka_source import packages_for
from tidings.pipeline.ingest.sources import Source, parse_source
from tidings.store import ClockJumped, DeadLetter, Duplicate, Outcome, PublishValid, Refused, Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

__all__ = ["Ingest", "Source", "Taken", "packages_for", "parse_source", "start_ingest"]

_UNTIL_NEXT_TRY = 1.0  # seconds
_log = logging.getLogger(__name__)
_MOST = 10_000  # events, or letters, in one transaction
_TAKEN_ROW = "events long, duplicates long, refused long"
_COUNTS = ("events", "duplicates", "refused")


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of what arrived: events appended, duplicates left out, refused ones buried."""

    events: int = 0
    duplicates: int = 0
    refused: int = 0

    def __add__(self, other: Taken) -> Taken:
        return Taken(self.events + other.events, self.duplicates + other.duplicates, self.refused + other.refused)


class Ingest:
    """One ingest query; Spark calls it with what the workers say of each batch."""

    def __init__(self, store_url: str, source: Source) -> None:
        self.source = source
        self.total = Taken()
        self._stage = IntakeStage(store_url, source)

    def start(self, spark: SparkSession, checkpoint: Path | str, once: bool = False) -> StreamingQuery:
        """Goes on until it is stopped or, once, until all that is there now is taken."""
        writer = (
            self.source.stream(spark)
            .mapInArrow(self._stage, _TAKEN_ROW)
            .writeStream.foreachBatch(self)
            .queryName(f"ingest {self.source}")
            .option("checkpointLocation", str(checkpoint))
        )
        return (
            writer.trigger(availableNow=True) if once else writer.trigger(processingTime=self.source.trigger)
        ).start()

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        rows = frame.toArrow()
        self.total += Taken(*(pc.sum(rows.column(name)).as_py() or 0 for name in _COUNTS))


def start_ingest(
    spark: SparkSession, store_url: str, source: Source, checkpoint: Path | str, once: bool = False
) -> StreamingQuery:
    return Ingest(store_url, source).start(spark, checkpoint, once)


@dataclass(frozen=True, slots=True)
class IntakeStage:
    """Called in each worker with the rows of the source; gives one row of counts."""

    store_url: str = field(repr=False)
    source: Source

    def __call__(self, rows: Iterator[Any]) -> Iterator[Any]:
        with Store.open(self.store_url) as store:
            intake = Intake(store)
            for arrived in self.source.arrivals(rows, store.catalog, store.clock.now):
                intake.take(arrived)
            intake.finish()
        yield pa.RecordBatch.from_pylist([{name: getattr(intake.taken, name) for name in _COUNTS}])


class Intake:
    """Appends what arrives, many small files in one transaction and a large one in several."""

    def __init__(self, store: Store) -> None:
        self.taken = Taken()
        self._store = store
        self._events: list[tuple[Event, str, int]] = []  # with origin and place
        self._letters: list[DeadLetter] = []

    def take(self, arrived: Arrived) -> None:
        places = zip(arrived.batch, arrived.places, strict=True)
        self._events += ((event, arrived.origin, place) for event, place in places)
        self._letters += arrived.letters
        if max(len(self._events), len(self._letters)) >= _MOST:
            self.finish()

    def _append(self, drafts: list[PublishValid]) -> list[Outcome]:
        """Waits while the clock is wrong: the source keeps what has not arrived yet, and a task that fails may not be
        tried again often enough."""
        while True:
            try:
                return self._store.append(drafts)
            except ClockJumped as problem:
                _log.warning("ingest waits: %s", problem)
                time.sleep(_UNTIL_NEXT_TRY)

    def finish(self) -> None:
        """Appends and buries what waits."""
        outcomes = self._append([PublishValid(event) for event, _, _ in self._events]) if self._events else []
        duplicates = 0
        for (event, origin, place), outcome in zip(self._events, outcomes, strict=True):
            match outcome:
                case Duplicate():
                    duplicates += 1
                case Refused(RefusedEvent() as refusal):
                    text = written(write_event(event))
                    self._letters.append(DeadLetter(origin, str(place), event.id, text, refusal.errors))
                case Refused(problem):
                    broken = BrokenRule("form", None, None, str(problem))
                    text = written(write_event(event))
                    self._letters.append(DeadLetter(origin, str(place), event.id, text, (broken,)))
        if self._letters:
            self._store.bury(self._letters)
        refused = sum(isinstance(outcome, Refused) for outcome in outcomes)
        self.taken += Taken(len(outcomes) - duplicates - refused, duplicates, len(self._letters))
        self._events, self._letters = [], []
