"""Files into the journal, by a real Spark: nothing twice, nothing lost, and what is wrong is buried."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.pipeline.market import opening
from tidings.pipeline.ingest.folder_source import FolderSource, NoFolder
from tidings.pipeline.ingest.ingest import Ingest, Taken, start_ingest
from tidings.schema.growth import AppendValue
from tidings.store import DeadLetter, Grow, Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "tidings.db") as store:
        store.append(opening())
        yield store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "come in"
    made.mkdir()
    (tmp_path / "come").mkdir()
    return made


def sale(id: str, price: object = 1, **more: object) -> str:
    return json.dumps({"id": id, "event_type": "sale", "attributes": {"price": price, **more}}) + "\n"


def take_all(spark: SparkSession, store: Store, source: FolderSource, checkpoint: Path) -> Taken:
    ingest = Ingest(store.url, source)
    ingest.start(spark, checkpoint, once=True).awaitTermination()
    return ingest.total


def events(store: Store) -> dict[str, dict[str, object]]:
    """The attributes of all events in the journal, by id; fails when one is there twice."""
    found = [json.loads(entry.body) for entry in store.entries() if entry.kind == "event"]
    assert len({one["id"] for one in found}) == len(found)
    return {one["id"]: one["attributes"] for one in found}


def letters(store: Store) -> dict[tuple[str, str], DeadLetter]:
    return {(stored.letter.origin, stored.letter.place): stored.letter for stored in store.dead_letters()}


def test_every_form_is_taken_once(spark: SparkSession, store: Store, folder: Path, tmp_path: Path) -> None:
    (folder / "a.jsonl").write_text(sale("a1", 1) + sale("a2", 2, brand="mini"))
    (folder / "b.csv").write_text("id,event_type,price,offers\nb1,sale,3,4|5\n")
    pq.write_table(pa.table({"id": ["c1"], "event_type": ["sale"], "price": [6.5]}), folder / "c.parquet")
    (folder / "d.xml").write_text(
        '<EVENTS><PUBLISH_EVENT id="d1"><EVENT_TYPE><VALUE type="sale"/></EVENT_TYPE>'
        '<ATTRIBUTES><ATTR type="price">7</ATTR></ATTRIBUTES></PUBLISH_EVENT></EVENTS>'
    )
    (folder / "e [1] {2} 50%25 ü.jsonl.gz").write_bytes(gzip.compress(sale("e1", 8).encode()))
    (folder / "below" / "further").mkdir(parents=True)
    (folder / "below" / "further" / "f.jsonl").write_text(sale("f1", 9))
    for hidden in (".g.jsonl", "_g.jsonl", "_g=1.jsonl", "below/.g.jsonl"):
        (folder / hidden).write_text(sale("g1"))
    (folder / "_below").mkdir()
    (folder / "_below" / "g.jsonl").write_text(sale("g1"))
    old = folder / "old.jsonl"
    old.write_text(sale("old"))
    os.utime(old, (0, 0))  # moved in with its old date

    source = FolderSource(folder, most=2)
    assert take_all(spark, store, source, tmp_path / "checkpoint") == Taken(8)
    assert events(store) == {
        "a1": {"price": 1},
        "a2": {"price": 2, "brand": "mini"},
        "b1": {"price": 3, "offers": [4, 5]},
        "c1": {"price": 6.5},
        "d1": {"price": 7},
        "e1": {"price": 8},
        "f1": {"price": 9},
        "old": {"price": 1},
    }
    assert store.dead_letters() == []
    assert take_all(spark, store, source, tmp_path / "checkpoint") == Taken()

    # A name whose folder looks like a pattern; the checkpoint is gone: all is read again and nothing is added.
    shutil.rmtree(tmp_path / "checkpoint")
    folder = folder.rename(tmp_path / "in [ab]*{c,d}")
    (tmp_path / "link").symlink_to(folder)
    roundabout = tmp_path / "come" / ".." / "link"
    assert take_all(spark, store, FolderSource(roundabout), tmp_path / "checkpoint") == Taken(0, duplicates=8)
    assert len(events(store)) == 8


def test_wrong_files_and_events_are_buried(spark: SparkSession, store: Store, folder: Path, tmp_path: Path) -> None:
    (folder / "good.jsonl").write_text(sale("g1"))
    (folder / "mixed.jsonl").write_text(
        sale("m1")
        + sale("m2", "cheap")
        + "no JSON\n"
        + '{"id": "m4", "event_type": "sail", "attributes": {"price": 1}}\n'
        + '{"id": "m5", "event_type": "sale", "time": "2999-01-01T00:00:00Z", "attributes": {"price": 1}}\n'
        + sale("m6")
    )
    (folder / "half.jsonl.gz").write_bytes(gzip.compress(sale("h1").encode() * 10)[:-20])
    (folder / "foreign.csv").write_bytes(b"PAR1 and so on")
    (folder / "broken.xml").write_text("<EVENTS><PUBLISH_EVENT id='x1'></EVENTS>")
    (folder / "not.parquet").write_text("no Parquet")
    (folder / "header.csv").write_text("id,event_type,prise\n1,sale,1\n")
    (folder / "notes.txt").write_text("read me")
    source = FolderSource(folder)
    assert take_all(spark, store, source, tmp_path / "checkpoint") == Taken(3, refused=10)
    assert set(events(store)) == {"g1", "m1", "m6"}
    buried = letters(store)
    assert {place: [(e.rule, e.attribute) for e in letter.errors] for place, letter in buried.items()} == {
        ("mixed.jsonl", "2"): [("domain", "price")],
        ("mixed.jsonl", "3"): [("form", None)],
        ("mixed.jsonl", "4"): [("type", "event_type")],
        ("mixed.jsonl", "5"): [("form", "time")],
        **{(name, "file"): [("form", None)] for name in (
            "half.jsonl.gz", "foreign.csv", "broken.xml", "not.parquet", "header.csv", "notes.txt")}
    }  # fmt: skip
    assert buried["mixed.jsonl", "2"].id == "m2"
    assert json.loads(buried["mixed.jsonl", "2"].raw) == json.loads(sale("m2", "cheap"))
    assert "Parquet" in buried["foreign.csv", "file"].errors[0].message
    assert "did you mean 'price'?" in buried["header.csv", "file"].errors[0].message

    # All once more, and one of the files put right under a new name.
    shutil.rmtree(tmp_path / "checkpoint")
    (folder / "header-2.csv").write_text("id,event_type,price\n1,sale,1\n")
    assert take_all(spark, store, source, tmp_path / "checkpoint") == Taken(1, duplicates=3, refused=10)
    assert len(store.dead_letters()) == len(buried)


def test_what_comes_while_it_runs_and_a_schema_that_grows(
    spark: SparkSession, store: Store, folder: Path, tmp_path: Path
) -> None:
    query = start_ingest(spark, store.url, FolderSource(folder), tmp_path / "checkpoint")
    try:
        (folder / ".one.jsonl").write_text(sale("e1", brand="mini") + sale("early", brand="audi"))
        (folder / ".one.jsonl").rename(folder / "one.jsonl")
        query.processAllAvailable()
        assert set(events(store)) == {"e1"}
        store.append([Grow(AppendValue("brand", "audi"))])
        (folder / ".two.jsonl").write_text(sale("late", brand="audi"))
        query.processAllAvailable()
        assert set(events(store)) == {"e1"}
        (folder / ".two.jsonl").rename(folder / "two.jsonl")
        query.processAllAvailable()
        assert set(events(store)) == {"e1", "late"}
    finally:
        query.stop()
    assert [letter.id for letter in letters(store).values()] == ["early"]


def test_one_event_in_two_files_at_once(spark: SparkSession, store: Store, folder: Path, tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d"):
        (folder / f"{name}.jsonl").write_text("".join(sale(f"e{number}") for number in range(12_000)))
    taken = take_all(spark, store, FolderSource(folder), tmp_path / "checkpoint")
    assert taken == Taken(12_000, duplicates=36_000)
    assert len(events(store)) == 12_000


def test_a_store_that_fails_ends_the_query(spark: SparkSession, store: Store, folder: Path, tmp_path: Path) -> None:
    (folder / "one.jsonl").write_text(sale("e1"))
    url = f"sqlite:///{tmp_path / 'nowhere' / 'tidings.db'}"
    with pytest.raises(Exception, match=r"tidings\.store\.errors\.StoreUnreachable"):
        start_ingest(spark, url, FolderSource(folder), tmp_path / "checkpoint", once=True).awaitTermination()
    # What was not taken is not marked as taken.
    assert take_all(spark, store, FolderSource(folder), tmp_path / "checkpoint") == Taken(1)


def test_a_folder_that_is_not_there(spark: SparkSession, store: Store, tmp_path: Path) -> None:
    with pytest.raises(NoFolder, match="create it, or name another"):
        start_ingest(spark, store.url, FolderSource(tmp_path / "nowhere"), tmp_path / "checkpoint")
