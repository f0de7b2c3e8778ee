"""Direct matching by a real Spark: files in, Parquet out, and the newest plan at each batch."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.pipeline.market import Market, opening
from tidings.events import EventBatch, validate
from tidings.language import Filter, Subscription
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.naive import matches
from tidings.matching.plan.folder import save_plan
from tidings.pipeline.direct import found as lists
from tidings.pipeline.direct.direct import DirectStage, NewestPlan, found_rows, plan_folders, start_direct
from tidings.pipeline.direct.letter_box import LettersInFolder
from tidings.pipeline.direct.match_sinks import KafkaSink, ParquetSink, SinkOfAnotherQuery, parse_sink
from tidings.pipeline.ingest.folder_source import FolderSource
from tidings.pipeline.ingest.sources import UnknownPlace, WrongOption
from tidings.pipeline.plans.plans import NoPlan, Plans, Published
from tidings.schema import Catalog
from tidings.store import Publish, Store

Matched = set[tuple[str, str, str]]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "tidings.db") as store:
        store.append(opening())
        yield store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    made.mkdir()
    return made


def raw_events(market: Market, count: int) -> list[dict[str, object]]:
    drafts = [market.event() for _ in range(count)]
    return [draft.raw for draft in drafts if isinstance(draft, Publish) and isinstance(draft.raw, dict)]


def move_in(folder: Path, name: str, raws: list[dict[str, object]], *more: str) -> None:
    (folder / f".{name}").write_text("\n".join([*(json.dumps(raw) for raw in raws), *more]))
    (folder / f".{name}").rename(folder / name)


def plan(filters: dict[str, str], catalog: Catalog, folder: Path, withdrawn: str | None = None) -> Path:
    """Subscriptions at journal positions, as the planner has them."""
    matcher = BoxMatcher(catalog)
    for position, (id, text) in enumerate(filters.items(), 100):
        matcher.add(Subscription(id, Filter.parse(text, catalog)), at=position)
    if withdrawn is not None:
        matcher.withdraw(withdrawn, at=1_000)
    folder.parent.mkdir(parents=True, exist_ok=True)
    save_plan(matcher, folder)
    return folder


def expected(raws: list[dict[str, object]], filters: dict[str, str], catalog: Catalog) -> Matched:
    """By the specification, pair by pair."""
    parsed = {id: Filter.parse(text, catalog) for id, text in filters.items()}
    found = set()
    for raw in raws:
        event = validate(raw, catalog)
        for id, filter in parsed.items():
            if matches(filter.tree, event.bindings(), catalog):
                found.add((event.id, event.source, id))
    return found


def written(folder: Path) -> list[tuple[str, str, str]]:
    rows = pq.read_table(folder).to_pylist()
    return sorted((row["event"], row["source"], row["subscription"]) for row in rows)


def filters_of(market: Market, count: int) -> dict[str, str]:
    return {f"s{number}": market.filter() for number in range(count)}


@pytest.mark.slow
def test_files_to_parquet(spark: SparkSession, store: Store, folder: Path, tmp_path: Path) -> None:
    market = Market(seed=1)
    filters, raws = filters_of(market, 200), raw_events(market, 300)
    made = plan({**filters, "gone": "price >= 0"}, store.catalog(), tmp_path / "plan", withdrawn="gone")
    move_in(folder, "a.jsonl", raws[:200])
    move_in(folder, "b.jsonl", raws[200:], "no JSON", '{"id": "x", "event_type": "sail"}')
    move_in(folder, "c.csv", [], "id;event_type")
    sink = ParquetSink(tmp_path / "out")
    start_direct(
        spark, partial(plan_folders, made), FolderSource(folder, most=1), sink, tmp_path / "checkpoint", once=True
    ).awaitTermination()
    found = written(sink.folder)
    assert found == sorted(expected(raws, filters, store.catalog()))
    assert len(found) > 500
    lines = [line for file in (tmp_path / "out.refused").iterdir() for line in file.read_text().splitlines()]
    refused = [json.loads(line) for line in lines]
    assert sorted((one["origin"], one["place"], one["id"], one["errors"][0]["rule"]) for one in refused) == [
        ("b.jsonl", "101", None, "form"),
        ("b.jsonl", "102", "x", "type"),
        ("c.csv", "file", None, "form"),
    ]
    assert store.tail() == len(opening())  # past the journal


def test_the_newest_plan_at_each_batch(spark: SparkSession, store: Store, folder: Path, tmp_path: Path) -> None:
    market = Market(seed=2)
    plans = Plans(tmp_path / "plans")
    filters, raws = filters_of(market, 60), raw_events(market, 200)
    first, all_of_them = dict(list(filters.items())[:20]), filters
    plan(first, store.catalog(), plans.path(1, 0))
    plans.publish(Published(1, 0, 1, store.incarnation()))
    source, sink = FolderSource(folder), ParquetSink(tmp_path / "out")
    query = start_direct(spark, NewestPlan(plans), source, sink, tmp_path / "checkpoint", store_url=store.url)
    try:
        move_in(folder, "a.jsonl", raws[:100], "no JSON")
        query.processAllAvailable()
        halves = [dict(list(filters.items())[:30]), dict(list(filters.items())[30:])]
        for shard, half in enumerate(halves):
            plan(half, store.catalog(), plans.path(2, shard))
        plans.publish(Published(2, 0, 2, store.incarnation()))
        shutil.rmtree(plans.path(1, 0).parent)
        move_in(folder, "b.jsonl", raws[100:])
        query.processAllAvailable()
    finally:
        query.stop()
    earlier = expected(raws[:100], first, store.catalog())
    later = expected(raws[100:], all_of_them, store.catalog())
    assert written(sink.folder) == sorted(earlier | later)
    assert earlier
    assert later
    (stored,) = store.dead_letters()
    assert (stored.letter.origin, stored.letter.place, stored.letter.raw) == ("a.jsonl", "101", "")
    assert not (tmp_path / "out.refused").exists()


@dataclass
class _First:
    """Names these folders before it asks for the newest."""

    folders: list[Path]
    newest: NewestPlan

    def __call__(self) -> list[Path]:
        return [self.folders.pop()] if self.folders else self.newest()


def test_a_folder_of_another_query_is_refused(spark: SparkSession, store: Store, folder: Path, tmp_path: Path) -> None:
    """Spark would take the first batches of the new query for done, since it numbers them by checkpoint."""
    made = plan({"s": "price >= 0"}, store.catalog(), tmp_path / "plan")
    source, sink = FolderSource(folder), ParquetSink(tmp_path / "out")
    move_in(folder, "a.jsonl", [{"id": "e1", "event_type": "sale", "attributes": {"price": 1}}])
    for _ in range(2):  # the second run goes on where the first ended
        start_direct(
            spark, partial(plan_folders, made), source, sink, tmp_path / "checkpoint", once=True
        ).awaitTermination()
    with pytest.raises(SinkOfAnotherQuery, match="another checkpoint"):
        start_direct(spark, partial(plan_folders, made), source, sink, tmp_path / "other", once=True)
    assert written(sink.folder) == [("e1", "", "s")]


def test_a_plan_that_was_swept_away_meanwhile(store: Store, folder: Path, tmp_path: Path) -> None:
    plans = Plans(tmp_path / "plans")
    plan({"s": "price >= 0"}, store.catalog(), plans.path(2, 0))
    plans.publish(Published(2, 0, 1, store.incarnation()))
    move_in(folder, "a.jsonl", [{"id": "e1", "event_type": "sale", "attributes": {"price": 1}}])
    letters, newest = LettersInFolder(tmp_path / "refused"), NewestPlan(plans)
    stage = DirectStage(_First([plans.path(1, 0)], newest), FolderSource(folder), letters, "run")
    rows = iter([pa.RecordBatch.from_pydict({"path": [f"file:{folder / 'a.jsonl'}"]})])
    found = [row for batch in pickle.loads(pickle.dumps(stage))(rows) for row in batch.to_pylist()]
    assert found == [{"event": "e1", "source": "", "subscriptions": ["s"]}]


def test_nothing_starts_without_a_plan(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(NoPlan):
        start_direct(
            spark,
            NewestPlan(Plans(tmp_path)),
            FolderSource(folder),
            ParquetSink(tmp_path / "out"),
            tmp_path / "checkpoint",
        )


def test_rows_are_cut_where_matches_are_many(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    market = Market(seed=3)
    catalog = store.catalog()
    matcher = BoxMatcher(catalog)
    filters, raws = filters_of(market, 100), raw_events(market, 100)
    for id, text in filters.items():
        matcher.add(Subscription(id, Filter.parse(text, catalog)))
    batch = EventBatch.of([validate(raw, catalog) for raw in raws], catalog)
    for most in (1, 20, 1_000_000):
        monkeypatch.setattr(lists, "_MOST_MATCHES", most)
        made = list(found_rows(batch, matcher))
        sizes = [len(one.column("subscriptions").flatten()) for one in made]
        assert all(size <= most or one.num_rows == 1 for size, one in zip(sizes, made, strict=True))
        rows = [row for one in made for row in one.to_pylist()]
        found = {(row["event"], row["source"], id) for row in rows for id in row["subscriptions"]}
        assert found == expected(raws, filters, catalog)
        assert sum(sizes) == len(found)


def test_sinks_by_name() -> None:
    assert parse_sink("parquet:/data/out") == ParquetSink(Path("/data/out"))
    assert parse_sink("kafka://a:1,b:2/x") == KafkaSink("a:1,b:2", "x")
    assert parse_sink("kafka://a:1/x?properties=c.p") == KafkaSink("a:1", "x", Path("c.p"))
    assert [str(parse_sink(text)) for text in ("parquet:out", "kafka://a:1/x")] == ["parquet:out", "kafka://a:1/x"]
    with pytest.raises(UnknownPlace, match="parquet:FOLDER or kafka"):
        parse_sink("files:/data/out")
    with pytest.raises(WrongOption, match="is not known"):
        parse_sink("kafka://a:1/x?most=3")
