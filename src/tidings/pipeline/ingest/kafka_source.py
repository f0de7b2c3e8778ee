"""A Kafka topic of events, a JSON object each: `kafka://HOST:PORT/TOPIC`; and what Spark needs to speak to Kafka.

No connector comes with PySpark. It is fetched from Maven Central when the session starts (`packages_for`), or, where
that cannot be reached, taken from the folder that TIDINGS_KAFKA_JARS names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow.compute as pc

from tidings.errors import Explained, PipelineError
from tidings.events.files.chunk import Chunk
from tidings.events.files.json_lines import raw_columns
from tidings.events.files.lines import LONGEST_LINE
from tidings.events.refusal import Refused, refused_line
from tidings.events.validation import MOST_VALUES
from tidings.pipeline.ingest.arrivals import LONGEST_RAW, Arrived, Clock, arrived
from tidings.schema import Catalog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JARS = "TIDINGS_KAFKA_JARS"
_CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13"


class NoKafkaConnector(Explained, PipelineError):
    coordinates: str
    template = (
        "this Spark session has no Kafka connector; start it with spark.jars.packages={coordinates}, "
        f"or put the connector's jars into a folder and name it by {JARS}"
    )


class UnreadableProperties(Explained, PipelineError):
    file: str
    reason: str
    template = "{file}: not a file of Kafka client properties: {reason}"


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """`properties`: a file of Kafka client properties, for TLS and passwords."""

    servers: str
    topic: str
    properties: Path | None = None

    def __str__(self) -> str:
        return f"kafka://{self.servers}/{self.topic}"

    def options(self) -> dict[str, str]:
        """What Spark must be told to reach it. Secrets are among these options, since its connector takes them in no
        other way; Spark shows them in no plan, log or error (tests/pipeline/test_secrets.py)."""
        return {"kafka.bootstrap.servers": self.servers} | _properties(self.properties)


@dataclass(frozen=True, slots=True)
class KafkaSource(KafkaTopic):
    """`most`: messages in one batch; `most_values` as in `validate`."""

    most: int = 100_000
    most_values: int = MOST_VALUES

    trigger = "0 seconds"

    def stream(self, spark: SparkSession) -> DataFrame:
        """All messages that Kafka still has, from the first on; where some are gone that were never read, it fails."""
        bring_connector(spark)
        reader = spark.readStream.format("kafka").options(**self.options())
        reader = reader.options(subscribe=self.topic, startingOffsets="earliest", maxOffsetsPerTrigger=str(self.most))
        return reader.load().select("topic", "partition", "offset", "value")

    def arrivals(self, rows: Iterator[Any], catalog: Callable[[], Catalog], clock: Clock | None) -> Iterator[Arrived]:
        for batch in rows:
            newest = catalog()
            for partition in pc.unique(batch.column("partition")).to_pylist():
                some = batch.filter(pc.equal(batch.column("partition"), partition))
                offsets, values = (some.column(name).to_pylist() for name in ("offset", "value"))
                texts = _Texts(dict(zip(offsets, values, strict=True)))
                origin, chunk = f"kafka:{self.topic}/{partition}", _chunk(offsets, values, newest)
                yield arrived(origin, chunk, newest, clock, self.most_values, texts)


def packages_for(place: object) -> tuple[str, ...]:
    """The Maven packages without which a session cannot read this source or write to this sink."""
    return (_coordinates(),) if isinstance(place, KafkaTopic) and JARS not in os.environ else ()


def bring_connector(spark: SparkSession) -> None:
    """Adds the jars at hand to a session; raises NoKafkaConnector where it still has no connector."""
    from pyspark.errors import AnalysisException

    if JARS in os.environ:
        for jar in sorted(Path(os.environ[JARS]).glob("*.jar")):
            spark.sql(f"ADD JAR '{jar}'")
    try:
        spark.read.format("kafka").option("kafka.bootstrap.servers", "nowhere:1").option("subscribe", "none").load()
    except AnalysisException:
        raise NoKafkaConnector(_coordinates()) from None


def _coordinates() -> str:
    import pyspark

    return f"{_CONNECTOR}:{pyspark.__version__}"


def _chunk(offsets: list[int], values: list[bytes | None], catalog: Catalog) -> Chunk:
    """The messages of one partition as raw columns, by offset; what is no JSON is refused at once."""
    decode = msgspec.json.Decoder().decode
    parsed: list[Any] = []
    places: list[int] = []
    refused: list[Refused] = []
    for offset, value in zip(offsets, values, strict=True):
        try:
            parsed.append(decode(_bounded(value)))
            places.append(offset)
        except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
            refused.append(refused_line(offset, f"the message is not an event: {problem}"))
    return Chunk(raw_columns(parsed, catalog), places, refused)


def _bounded(value: bytes | None) -> bytes:
    if value is None:
        raise ValueError("it has no value")
    if len(value) > LONGEST_LINE:
        raise ValueError(f"it is longer than {LONGEST_LINE:,} bytes")
    return value


@dataclass(frozen=True, slots=True)
class _Texts:
    """The messages of a partition as text, by offset; what is no UTF-8 is shown as far as it is."""

    values: dict[int, bytes | None]

    def __call__(self, offset: int) -> str:
        return (self.values[offset] or b"")[:LONGEST_RAW].decode(errors="replace")


def _properties(file: Path | None) -> dict[str, str]:
    if file is None:
        return {}
    try:
        lines = [line.strip() for line in file.read_text().splitlines()]
    except (OSError, UnicodeDecodeError) as problem:
        raise UnreadableProperties(str(file), str(problem)) from None
    pairs = [line.partition("=") for line in lines if line and not line.startswith(("#", "!"))]
    return {f"kafka.{name.strip()}": value.strip() for name, _, value in pairs}
