"""Where direct matching writes its matches: `kafka://HOST:PORT/TOPIC`, a JSON message each, or `parquet:FOLDER`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.pipeline.kafka_source import KafkaTopic, bring_connector
from tidings.pipeline.sources import KAFKA, UnknownPlace, options_of, properties_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PARQUET = re.compile(r"parquet:(?P<folder>.+)")


@dataclass(frozen=True, slots=True)
class KafkaSink(KafkaTopic):
    """One message a match: the event's id is the key, `{"event", "source", "subscription"}` the value."""

    def prepare(self, spark: SparkSession) -> None:
        bring_connector(spark)

    def write(self, matches: DataFrame) -> None:
        from pyspark.sql.functions import col, struct, to_json

        value = to_json(struct("event", "source", "subscription")).alias("value")
        messages = matches.select(col("event").alias("key"), value)
        messages.write.format("kafka").options(**self.options(), topic=self.topic).save()


@dataclass(frozen=True, slots=True)
class ParquetSink:
    """A folder of Parquet files, with the columns event, source and subscription; each batch adds some."""

    folder: Path

    def __str__(self) -> str:
        return f"parquet:{self.folder}"

    def prepare(self, spark: SparkSession) -> None:
        """Nothing: the folder is made with the first batch."""

    def write(self, matches: DataFrame) -> None:
        matches.write.mode("append").parquet(str(self.folder.absolute()))


MatchSink = KafkaSink | ParquetSink


def parse_sink(text: str) -> MatchSink:
    """`parquet:FOLDER` or `kafka://HOST:PORT[,HOST:PORT]/TOPIC?properties=FILE`. Raises UnknownPlace or WrongOption."""
    if found := _PARQUET.fullmatch(text):
        return ParquetSink(Path(found["folder"]))
    if found := KAFKA.fullmatch(text):
        options = options_of(text, found["options"], ("properties",))
        return KafkaSink(found["servers"], found["topic"], properties_of(options))
    raise UnknownPlace(text, ("parquet:FOLDER", "kafka://HOST:PORT/TOPIC"))
