"""A real Kafka before and behind a real Spark."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.market import opening
from tests.services.kafka import Broker, kafka
from tidings.language import Filter, Subscription
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.plan.folder import save_plan
from tidings.pipeline.direct.direct import start_direct
from tidings.pipeline.direct.match_sinks import parse_sink
from tidings.pipeline.ingest.ingest import Ingest, Taken, parse_source, start_ingest
from tidings.pipeline.ingest.kafka_source import JARS
from tidings.schema.growth import AppendValue
from tidings.store import Grow, Store

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with kafka() as broker:
        yield broker


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "tidings.db") as store:
        store.append(opening())
        yield store


def sale(id: str, price: object = 1, **more: object) -> str:
    return json.dumps({"id": id, "source": "shop", "event_type": "sale", "attributes": {"price": price, **more}})


def send(spark: SparkSession, broker: Broker, topic: str, messages: Sequence[str | bytes | None]) -> None:
    rows = [(m.encode() if isinstance(m, str) else m, number % 2) for number, m in enumerate(messages)]
    frame = spark.createDataFrame(rows, "value binary, partition int")
    frame.write.format("kafka").option("kafka.bootstrap.servers", broker.servers).option("topic", topic).save()


def ids(store: Store) -> list[str]:
    return sorted(json.loads(entry.body)["id"] for entry in store.entries() if entry.kind == "event")


def take_all(spark: SparkSession, store: Store, text: str, checkpoint: Path) -> Taken:
    ingest = Ingest(store.url, parse_source(text))
    ingest.start(spark, checkpoint, once=True).awaitTermination()
    return ingest.total


def test_messages_are_appended_or_buried(
    with_kafka: SparkSession, broker: Broker, store: Store, tmp_path: Path
) -> None:
    topic = broker.topic()
    wrong = ["no JSON", b"\xff", "[1]", sale("e4", "cheap"), sale("e5", brand="audi"), None, '{"id": "e7"}']
    send(with_kafka, broker, topic, [*wrong, *(sale(f"good-{number}") for number in range(500))])
    source = f"kafka://{broker.servers}/{topic}"
    assert take_all(with_kafka, store, f"{source}?most=100", tmp_path / "checkpoint") == Taken(500, 0, 7)
    assert ids(store) == sorted(f"good-{number}" for number in range(500))

    letters = {stored.letter.raw: stored.letter for stored in store.dead_letters()}
    assert set(letters) == {"no JSON", "\ufffd", "[1]", wrong[3], wrong[4], "", '{"id": "e7"}'}
    origins = {(letter.origin, letter.place) for letter in letters.values()}
    assert {origin for origin, _ in origins} == {f"kafka:{topic}/0", f"kafka:{topic}/1"}
    assert all(0 <= int(place) < 507 for _, place in origins)
    rules = {raw: [(error.rule, error.attribute) for error in letter.errors] for raw, letter in letters.items()}
    assert rules["no JSON"] == rules["[1]"] == rules[""] == [("form", None)]
    assert rules[str(wrong[3])] == [("domain", "price")]
    assert letters[str(wrong[3])].id == "e4"
    assert rules['{"id": "e7"}'] == [("mandatory", "event_type")]

    # Nothing new: nothing happens. Without its checkpoint it reads all again, and adds nothing.
    assert take_all(with_kafka, store, source, tmp_path / "checkpoint") == Taken()
    shutil.rmtree(tmp_path / "checkpoint")
    assert take_all(with_kafka, store, source, tmp_path / "checkpoint") == Taken(0, 500, 7)
    assert len(ids(store)) == 500
    assert len(store.dead_letters()) == 7


def test_what_comes_while_it_runs_and_a_schema_that_grows(
    with_kafka: SparkSession, broker: Broker, store: Store, tmp_path: Path
) -> None:
    topic = broker.topic()
    send(with_kafka, broker, topic, [sale("early", brand="audi"), sale("e1")])
    source = parse_source(f"kafka://{broker.servers}/{topic}")
    query = start_ingest(with_kafka, store.url, source, tmp_path / "checkpoint")
    try:
        query.processAllAvailable()
        assert ids(store) == ["e1"]
        store.append([Grow(AppendValue("brand", "audi"))])
        send(with_kafka, broker, topic, [sale("late", brand="audi"), sale("e1")])
        query.processAllAvailable()
    finally:
        query.stop()
    assert ids(store) == ["e1", "late"]
    assert [stored.letter.id for stored in store.dead_letters()] == ["early"]


def test_client_properties(with_kafka: SparkSession, broker: Broker, store: Store, tmp_path: Path) -> None:
    topic = broker.topic()
    send(with_kafka, broker, topic, [sale("e1")])
    properties = tmp_path / "client.properties"
    text = f"kafka://{broker.servers}/{topic}?properties={properties}"
    properties.write_text("# a comment\nsecurity.protocol = PLAINTEXT\n\nclient.id=tidings\n")
    assert take_all(with_kafka, store, text, tmp_path / "checkpoint") == Taken(1)
    properties.write_text("security.protocol=NONSENSE\nssl.keystore.key=Sesam\nssl.key.password=Sesam\n")
    with pytest.raises(Exception, match="NONSENSE") as refused:
        take_all(with_kafka, store, text, tmp_path / "other")
    assert "Sesam" not in str(refused.value)


def test_direct_from_topic_to_topic(with_kafka: SparkSession, broker: Broker, store: Store, tmp_path: Path) -> None:
    matcher = BoxMatcher(store.catalog())
    for id, text in {"cheap": "price < 10", "mini": "brand = 'mini'", "dear": "price > 1000"}.items():
        matcher.add(Subscription(id, Filter.parse(text, store.catalog())))
    save_plan(matcher, tmp_path / "plan")
    come, go = broker.topic(), broker.topic()
    messages = [sale(f"e{number}", number, brand="mini" if number % 2 else "opel") for number in range(100)]
    send(with_kafka, broker, come, [*messages, "no JSON"])
    source = parse_source(f"kafka://{broker.servers}/{come}?most=30")
    sink = parse_sink(f"kafka://{broker.servers}/{go}")
    start_direct(
        with_kafka, lambda: [tmp_path / "plan"], source, sink, tmp_path / "checkpoint", once=True
    ).awaitTermination()
    reader = with_kafka.read.format("kafka").option("kafka.bootstrap.servers", broker.servers)
    written = reader.option("subscribe", go).load().select("key", "value").collect()
    found = [(json.loads(row.value), row.key.decode()) for row in written]
    assert all(set(one) == {"event", "source", "subscription"} and one["event"] == key for one, key in found)
    assert sorted((one["event"], one["source"], one["subscription"]) for one, _ in found) == sorted(
        [(f"e{number}", "shop", "cheap") for number in range(10)]
        + [(f"e{number}", "shop", "mini") for number in range(1, 100, 2)]
    )
    (refused,) = (tmp_path / "checkpoint.refused").iterdir()
    (letter,) = [json.loads(line) for line in refused.read_text().splitlines()]
    assert (letter["raw"], letter["origin"].partition("/")[0]) == ("no JSON", f"kafka:{come}")

    properties = tmp_path / "client.properties"
    properties.write_text("security.protocol=NONSENSE\nssl.keystore.key=Sesam\nssl.key.password=Sesam\n")
    broken = parse_sink(f"kafka://{broker.servers}/{go}?properties={properties}")
    query = start_direct(with_kafka, lambda: [tmp_path / "plan"], source, broken, tmp_path / "other", once=True)
    with pytest.raises(Exception, match="WriteToMicroBatchDataSource KafkaTable") as failed:  # it tells the plan
        query.awaitTermination()
    assert "Sesam" not in str(failed.value)


_WITHOUT = """
from tidings.pipeline.ingest.kafka_source import KafkaSource, NoKafkaConnector
from tidings.pipeline.spark.session import spark_session
try:
    KafkaSource("127.0.0.1:1", "sales").stream(spark_session("local[1]"))
except NoKafkaConnector as problem:
    print(problem)
"""


def test_a_session_without_the_connector() -> None:
    """In a process of its own: a session of this one may have got it already."""
    environment = {name: value for name, value in os.environ.items() if name != JARS}
    done = subprocess.run([sys.executable, "-c", _WITHOUT], env=environment, capture_output=True, text=True, check=True)
    assert "start it with spark.jars.packages=org.apache.spark:spark-sql-kafka-0-10_2.13:" in done.stdout
