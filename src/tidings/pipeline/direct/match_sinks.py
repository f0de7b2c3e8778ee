"""Where direct matching writes its matches: `kafka://HOST:PORT/TOPIC`, a JSON message each, or `parquet:FOLDER`.

Spark's own streaming sinks do the writing, so their guarantees hold: a folder of Parquet gets each match exactly once,
a Kafka topic at least once (Spark has no transactions with Kafka)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.errors import Explained, PipelineError
from tidings.pipeline.ingest.kafka_source import KafkaTopic, bring_connector
from tidings.pipeline.ingest.sources import KAFKA, UnknownPlace, options_of, properties_of
from tidings.pipeline.spark.location import is_uri

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamWriter

_PARQUET = re.compile(r"parquet:(?P<folder>.+)")


class SinkOfAnotherQuery(Explained, PipelineError):
    """A folder of Parquet that another checkpoint has written to. Spark numbers batches by checkpoint, so it would take
    the new query's first batches for done, and leave them out."""

    template = (
        "{folder} was written by a query with another checkpoint; name another folder, or move this one away. "
        "Nothing was written"
    )
    folder: str


@dataclass(frozen=True, slots=True)
class KafkaSink(KafkaTopic):
    """One message a match: the event's id is the key, `{"event", "source", "subscription"}` the value."""

    def prepare(self, spark: SparkSession, checkpoint: Path | str) -> None:
        bring_connector(spark)

    def writer(self, matches: DataFrame) -> DataStreamWriter:
        from pyspark.sql.functions import col, struct, to_json

        value = to_json(struct("event", "source", "subscription")).alias("value")
        messages = matches.select(col("event").alias("key"), value)
        return messages.writeStream.format("kafka").options(**self.options(), topic=self.topic)


@dataclass(frozen=True, slots=True)
class ParquetSink:
    """A folder of Parquet files, with the columns event, source and subscription; each batch adds some. Spark's list of
    what was committed is in its `_spark_metadata`, which Spark's own readers heed."""

    folder: Path

    def __str__(self) -> str:
        return f"parquet:{self.folder}"

    def prepare(self, spark: SparkSession, checkpoint: Path | str) -> None:
        known = is_uri(checkpoint) or (Path(checkpoint) / "metadata").exists()
        if (self.folder / "_spark_metadata").is_dir() and not known:
            raise SinkOfAnotherQuery(str(self.folder))

    def writer(self, matches: DataFrame) -> DataStreamWriter:
        return matches.writeStream.format("parquet").option("path", str(self.folder.absolute()))


MatchSink = KafkaSink | ParquetSink


def parse_sink(text: str) -> MatchSink:
    """`parquet:FOLDER` or `kafka://HOST:PORT[,HOST:PORT]/TOPIC?properties=FILE`. Raises UnknownPlace or WrongOption."""
    if found := _PARQUET.fullmatch(text):
        return ParquetSink(Path(found["folder"]))
    if found := KAFKA.fullmatch(text):
        options = options_of(text, found["options"], ("properties",))
        return KafkaSink(found["servers"], found["topic"], properties_of(options))
    raise UnknownPlace(text, ("parquet:FOLDER", "kafka://HOST:PORT/TOPIC"))
