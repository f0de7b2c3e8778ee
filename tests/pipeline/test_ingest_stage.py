"""What a worker does with what arrives, without Spark; and the texts that name sources."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from tests.pipeline.market import opening
from tests.services.sqlite import new_store
from tidings.pipeline.ingest.folder_source import FolderSource
from tidings.pipeline.ingest.ingest import Intake, IntakeStage, packages_for, parse_source
from tidings.pipeline.ingest.kafka_source import JARS, KafkaSource, UnreadableProperties
from tidings.pipeline.ingest.sources import UnknownPlace, WrongOption
from tidings.schema import Instant
from tidings.store import Store

MINUTE = 60_000_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(new_store(tmp_path / "tidings.db")) as store:
        store.append(opening())
        yield store


def sale(id: str, **more: object) -> dict[str, object]:
    return {"id": id, "event_type": "sale", "attributes": {"price": 1}, **more}


def paths(*files: Path) -> Iterator[pa.RecordBatch]:
    """As Spark's file source names them."""
    yield pa.RecordBatch.from_pydict({"path": [f"file:{file}" for file in files]})


def messages(*values: bytes | None, partitions: tuple[int, ...] = (0, 1)) -> Iterator[pa.RecordBatch]:
    columns = {
        "topic": ["sales"] * len(values),
        "partition": [partitions[number % len(partitions)] for number in range(len(values))],
        "offset": [100 + number for number in range(len(values))],
        "value": pa.array(values, pa.binary()),
    }
    yield pa.RecordBatch.from_pydict(columns)


def counts(stage: IntakeStage, rows: Iterator[pa.RecordBatch]) -> tuple[int, ...]:
    """What the stage says after the way to a worker, in its one row."""
    (row,) = [row for batch in pickle.loads(pickle.dumps(stage))(rows) for row in batch.to_pylist()]
    return tuple(row.values())


def test_a_large_file_is_appended_in_several_transactions(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    path.write_text("".join(json.dumps(sale(f"e{number}")) + "\n" for number in range(25_000)))
    assert counts(IntakeStage(store.url, FolderSource(tmp_path)), paths(path)) == (25_000, 0, 0)
    assert len({entry.accepted for entry in store.entries(after=len(opening()))}) == 3


def test_many_small_files_share_a_transaction(store: Store, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.jsonl" for number in range(50)]
    for number, path in enumerate(files):
        path.write_text(json.dumps(sale(f"e{number}")) + "\nno JSON\n")
    assert counts(IntakeStage(store.url, FolderSource(tmp_path)), paths(*files)) == (50, 0, 50)
    assert len({entry.accepted for entry in store.entries(after=len(opening()))}) == 1
    assert {stored.letter.origin for stored in store.dead_letters()} == {path.name for path in files}


def test_an_attribute_has_only_so_many_values(store: Store, tmp_path: Path) -> None:
    few, many = (
        sale("few", attributes={"price": 1, "offers": [1, 2]}),
        sale("many", attributes={"price": 1, "offers": [1, 2, 3]}),
    )
    path = tmp_path / "some.jsonl"
    path.write_text(json.dumps(few) + "\n" + json.dumps(many) + "\n")
    folder = parse_source(f"files:{tmp_path}", most_values=2)
    assert counts(IntakeStage(store.url, folder), paths(path)) == (1, 0, 1)
    topic = parse_source("kafka://nowhere:1/sales", most_values=2)
    assert counts(IntakeStage(store.url, topic), messages(json.dumps(few).encode(), json.dumps(many).encode())) == (
        0,
        1,
        1,
    )
    assert {one.rule for stored in store.dead_letters() for one in stored.letter.errors} == {"unique"}


def test_a_file_that_has_vanished_is_told(store: Store, tmp_path: Path) -> None:
    source = FolderSource(tmp_path)
    assert counts(IntakeStage(store.url, source), paths(tmp_path / "gone.jsonl")) == (0, 0, 1)
    (stored,) = store.dead_letters()
    assert (stored.letter.origin, stored.letter.place) == ("gone.jsonl", "file")
    assert "No such file" in stored.letter.errors[0].message


def test_messages_by_partition_and_offset(store: Store) -> None:
    source = KafkaSource("127.0.0.1:1", "sales")
    good = json.dumps(sale("e1", source="shop")).encode()
    rows = messages(good, b"{", None, good, b"7", b"x" * 1_000_001)
    assert counts(IntakeStage(store.url, source), rows) == (1, 1, 4)
    told = {(s.letter.origin, s.letter.place): s.letter.errors[0].message for s in store.dead_letters()}
    assert set(told) == {
        ("kafka:sales/1", "101"), ("kafka:sales/0", "102"), ("kafka:sales/0", "104"), ("kafka:sales/1", "105")
    }  # fmt: skip
    assert told["kafka:sales/0", "102"] == "the message is not an event: it has no value"
    assert told["kafka:sales/1", "105"] == "the message is not an event: it is longer than 1,000,000 bytes"


def test_what_only_the_journal_refuses_is_buried_too(tmp_path: Path) -> None:
    """The worker's clock runs ahead of the one that says when an event is accepted."""
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(sale("e1")) + "\n" + json.dumps(sale("e2", time=str(Instant(30 * MINUTE)))) + "\n")
    with Store.open(tmp_path / "tidings.db", lambda: Instant(0)) as store:
        store.append(opening())
        intake = Intake(store)
        for arrived in FolderSource(tmp_path).arrivals(paths(path), store.catalog, lambda: Instant(40 * MINUTE)):
            assert arrived.letters == []
            intake.take(arrived)
        intake.finish()
        assert (intake.taken.events, intake.taken.refused) == (1, 1)
        (stored,) = store.dead_letters()
        assert (stored.letter.origin, stored.letter.place, stored.letter.id) == ("one.jsonl", "2", "e2")
        assert stored.letter.errors[0].attribute == "time"
        assert json.loads(stored.letter.raw)["id"] == "e2"


def test_every_broken_rule_is_named(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps({**sale("e1", time="2999-01-01"), "attributes": {"price": "x", "colour": 1}}) + "\n")
    assert counts(IntakeStage(store.url, FolderSource(tmp_path)), paths(path)) == (0, 0, 1)
    (stored,) = store.dead_letters()
    assert [error.attribute for error in stored.letter.errors] == ["time", "colour", "price"]


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("files:/data/in", FolderSource(Path("/data/in"))),
        ("files:in?most=5", FolderSource(Path("in"), 5)),
        ("files:a?b", FolderSource(Path("a?b"))),
        ("kafka://127.0.0.1:9092/sales", KafkaSource("127.0.0.1:9092", "sales")),
        ("kafka://a:1,b:2/x.y-z?most=7", KafkaSource("a:1,b:2", "x.y-z", None, 7)),
        ("kafka://a:1/x?properties=/c.p&most=7", KafkaSource("a:1", "x", Path("/c.p"), 7)),
    ],
)
def test_sources_by_name(text: str, source: object) -> None:
    assert parse_source(text) == source
    assert str(source) == text.partition("?most")[0].partition("?properties")[0]
    assert pickle.loads(pickle.dumps(source)) == source


@pytest.mark.parametrize(
    "text", ["", "files:", "/data/in", "kafka://a:1", "kafka://a:1/", "kafka://a:1/a b", "ftp://x"]
)
def test_no_source(text: str) -> None:
    with pytest.raises(UnknownPlace, match=r"expected files:FOLDER or kafka://HOST:PORT/TOPIC"):
        parse_source(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("files:in?most=0", "a number of at least 1"),
        ("files:in?most=many", "a number of at least 1"),
        ("kafka://a:1/x?mst=1", "did you mean 'most'"),
        ("kafka://a:1/x?most", "a number of at least 1"),
    ],
)
def test_wrong_options(text: str, message: str) -> None:
    with pytest.raises(WrongOption, match=message):
        parse_source(text)


def test_packages_only_for_kafka(monkeypatch: pytest.MonkeyPatch) -> None:
    import pyspark

    source = parse_source("kafka://a:1/x")
    assert packages_for(parse_source("files:in")) == ()
    assert packages_for(source) == (f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}",)
    monkeypatch.setenv(JARS, "/jars")
    assert packages_for(source) == ()


def test_properties_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableProperties, match="No such file"):
        KafkaSource("a:1", "x", tmp_path / "none").options()
