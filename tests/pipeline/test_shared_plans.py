"""Plans by URI: uploaded by the planner, fetched by workers. On a folder and on a real S3 server."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import tidings.spark
from tests.docs.pages import ROOT
from tests.pipeline.market import Market, opening
from tests.services.s3 import SECRET, Bucket, s3_bucket
from tidings.events import EventBatch
from tidings.matching.plan.folder import open_plan
from tidings.matching.plan.saved_files import UnusablePlan
from tidings.pipeline.batch.batch_plan import ForeignPlan
from tidings.pipeline.plans import shared_plans
from tidings.pipeline.plans.planner import Planner
from tidings.pipeline.plans.plans import NoPlan, Plans
from tidings.pipeline.plans.shared_plans import FetchedPlans, PlanUploads
from tidings.pipeline.spark.location import Location, LocationUnusable, location_of
from tidings.pipeline.spark.worker_cache import opened
from tidings.pipeline.stream.payloads import read_payloads
from tidings.schema import Catalog
from tidings.store import Store


@pytest.fixture(scope="module")
def bucket() -> Iterator[Bucket]:
    with s3_bucket() as made:
        yield made


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.slow)])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    if request.param == "folder":
        return location_of(str(tmp_path / "shared"), lambda _: None)
    bucket = request.getfixturevalue("bucket")
    return location_of(f"{bucket.uri}/{tmp_path.name}/plans", bucket.settings.get)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "tidings.db") as store:
        store.append(opening())
        yield store


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has fetched nothing yet, and no pause between two looks."""
    monkeypatch.setenv("TIDINGS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(shared_plans, "_STALE", 0.0)
    return tmp_path / "cache"


def planner_of(store: Store, location: Location, folder: Path, **options: int) -> Planner:
    return Planner(store, Plans(folder, PlanUploads(location)), **options)


def events_of(store: Store) -> EventBatch:
    rows = pa.Table.from_batches(store.event_rows(0, store.tail())).combine_chunks()
    positions, accepted = (rows.column(name).chunk(0) for name in ("position", "accepted"))
    batch, _ = read_payloads(rows.column("payload").to_pylist(), positions, accepted, store.catalog())
    return batch


def matches_of(folders: list[Path], batch: EventBatch) -> set[tuple[int, str]]:
    found = set()
    for folder in folders:
        matcher = open_plan(folder, threads=1)
        matches = matcher.match(batch)
        ids = matcher.spans.ids_of(matches.numbers).to_pylist()
        found |= set(zip(matches.events().tolist(), ids, strict=True))
    return found


def test_a_worker_fetches_what_the_planner_published(store: Store, location: Location, tmp_path: Path) -> None:
    market = Market(seed=5)
    store.append(list(market.drafts(400, changes=0.3)))
    plans = Plans(tmp_path / "plans", PlanUploads(location))
    published = Planner(store, plans, most_bytes=25_000).catch_up()
    assert published.shards > 1
    worker = pickle.loads(pickle.dumps(plans.for_workers()))
    assert worker.newest() == published
    batch = events_of(store)
    fetched = [worker.usable(published.version, shard, published.shards) for shard in range(published.shards)]
    assert all(not folder.is_relative_to(tmp_path / "plans") for (folder,) in fetched)
    own = [plans.path(published.version, shard) for shard in range(published.shards)]
    assert matches_of([folder for (folder,) in fetched], batch) == matches_of(own, batch)
    assert len(matches_of(own, batch)) > 300


def test_nothing_is_fetched_or_uploaded_twice(
    store: Store, location: Location, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    written: list[str] = []
    reading, writing = Location.read, Location.write
    monkeypatch.setattr(Location, "read", lambda self, name: read.append(name) or reading(self, name))
    monkeypatch.setattr(
        Location, "write", lambda self, name, content: written.append(name) or writing(self, name, content)
    )
    market, planner, worker = Market(seed=6), planner_of(store, location, tmp_path / "plans"), FetchedPlans(location)
    store.append([market.subscribe() for _ in range(3_000)])
    first = planner.catch_up()
    worker.usable(first.version, 0, 1)
    worker.usable(first.version, 0, 1)
    store.append([market.subscribe()])
    second = planner.catch_up()
    worker.usable(second.version, 0, 1)
    for names in (read, written):
        pieces = [name for name in names if name.startswith("pieces/")]
        assert len(pieces) == len(set(pieces)) >= 3
    assert set(location.names()) == set(written)


def test_what_is_no_longer_needed_is_removed_at_both_ends(
    store: Store, location: Location, tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_SWEEP", "_KEPT"):
        monkeypatch.setattr(shared_plans, name, -1.0)
    monkeypatch.setattr("tidings.pipeline.plans.planner._KEPT", -10_000)  # all but the newest version
    market, planner, worker = Market(seed=7), planner_of(store, location, tmp_path / "plans"), FetchedPlans(location)
    for _ in range(5):
        store.append([market.subscribe() for _ in range(20)])
        published = planner.catch_up()
        (folder,) = worker.usable(published.version, 0, 1)
    manifest = json.loads((folder / "manifest.json").read_text())["manifest"]
    pieces = {f"pieces/{checksum}-{size}.arrow" for size, checksum in manifest["files"].values()}
    there = {name for name in location.names() if name.startswith("pieces/")}
    assert pieces <= there
    assert len(there) < 15, "five versions of three pieces or more"
    (cache,) = (own_cache).glob("plans-*")
    assert sorted(path.name for path in cache.iterdir() if path.name.isdigit()) == [f"{published.version:012}"]
    assert {f"pieces/{path.name}" for path in (cache / "pieces").iterdir()} == pieces


def test_a_pointer_that_is_half_written(store: Store, location: Location, tmp_path: Path) -> None:
    planner, worker = planner_of(store, location, tmp_path / "plans"), FetchedPlans(location)
    assert worker.newest() is None
    published = planner.catch_up()
    whole = location.read("current.json")
    location.write("current.json", whole[:-5])
    assert worker.newest() is None
    location.write("current.json", whole)
    assert worker.newest() == published


def test_a_version_that_is_gone(
    store: Store, location: Location, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planner, worker = planner_of(store, location, tmp_path / "plans"), FetchedPlans(location)
    published = planner.catch_up()
    (folder,) = worker.usable(published.version - 1, 0, 1)
    assert folder.parent.name == f"{published.version:012}"
    monkeypatch.setattr("tidings.pipeline.plans.plans._PATIENCE", 0.0)
    with pytest.raises(NoPlan, match="--plans"):
        worker.usable(published.version + 1, 0, 1)


def test_damage_at_the_location_and_in_the_cache(store: Store, location: Location, tmp_path: Path) -> None:
    store.append([Market(seed=8).subscribe() for _ in range(50)])
    planner, worker = planner_of(store, location, tmp_path / "plans"), FetchedPlans(location)
    published = planner.catch_up()
    piece = next(name for name in location.names() if name.startswith("pieces/"))
    whole = location.read(piece)
    location.write(piece, bytes(len(whole)))
    with pytest.raises(UnusablePlan, match="checksum"):
        worker.usable(published.version, 0, 1)
    location.write(piece, whole)
    (folder,) = worker.usable(published.version, 0, 1)
    damaged = next(path for path in folder.iterdir() if path.suffix == ".arrow")
    damaged.write_bytes(bytes(damaged.stat().st_size))
    with pytest.raises(UnusablePlan):
        opened(folder)
    worker.drop(folder)
    opened(*worker.usable(published.version, 0, 1))


def test_a_location_that_was_emptied_is_filled_again(
    store: Store, location: Location, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_plans, "_LOOK", -1.0)
    planner, worker = planner_of(store, location, tmp_path / "plans"), FetchedPlans(location)
    first = planner.catch_up()
    location.delete(location.names())
    second = planner.catch_up()
    assert second.version > first.version
    opened(*worker.usable(second.version, 0, 1))


def test_another_machine_goes_on_with_the_location(store: Store, location: Location, tmp_path: Path) -> None:
    """The driver's folder is lost, and its clock may be behind the one before."""
    first = planner_of(store, location, tmp_path / "plans").catch_up()
    assert Plans(tmp_path / "elsewhere", PlanUploads(location)).next_version(now=1) == first.version + 1
    second = planner_of(store, location, tmp_path / "elsewhere").catch_up()
    assert second.version > first.version
    assert FetchedPlans(location).newest() == second


def test_a_location_out_of_reach(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"spark.hadoop.fs.s3a.endpoint": "http://127.0.0.1:1", "spark.hadoop.fs.s3a.secret.key": SECRET}
    settings |= {"spark.hadoop.fs.s3a.access.key": "k", "spark.hadoop.fs.s3a.endpoint.region": "us-east-1"}
    nowhere = location_of("s3a://tidings/plans", settings.get)
    with pytest.raises(LocationUnusable, match="s3a://tidings/plans cannot be used") as raised:
        planner_of(store, nowhere, tmp_path / "plans").catch_up()
    assert SECRET not in f"{raised.value}{nowhere!r}{nowhere}"
    with pytest.raises(LocationUnusable):
        FetchedPlans(nowhere).newest()
    with pytest.raises(LocationUnusable, match="nonsense"):
        location_of("nonsense://x/y", settings.get).read("current.json")


def test_a_short_outage_is_bridged(
    store: Store, location: Location, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = planner_of(store, location, tmp_path / "plans").catch_up()
    worker = FetchedPlans(location)
    assert worker.newest() == published

    def out(self: Location, name: str) -> bytes:
        raise LocationUnusable(self.uri, "no route")

    monkeypatch.setattr(Location, "read", out)
    assert worker.newest() == published
    monkeypatch.setattr(shared_plans, "_BRIDGED", -1.0)
    with pytest.raises(LocationUnusable, match="no route"):
        worker.newest()


def test_settings_of_one_bucket_win() -> None:
    settings = {"spark.hadoop.fs.s3a.access.key": "all", "spark.hadoop.fs.s3a.bucket.b.access.key": "one"}
    assert location_of("s3a://b/x/", settings.get) == Location("s3a://b/x", (("access.key", "one"),))
    assert location_of("s3a://c/x", settings.get) == Location("s3a://c/x", (("access.key", "all"),))
    assert location_of("abfs://c@a.dfs.core.windows.net/x", settings.get).settings == ()


def test_a_job_of_ones_own_fetches_its_plan(
    spark: SparkSession, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once saved under a URI, then used from there; the session says how to reach it."""
    for name, value in bucket.settings.items():
        spark.conf.set(name, value)
    try:
        columns = "id string, event_type string, title string, price double, category string, ends string"
        desk = ("a1", "auction", "Oak dining table", 240.0, "dining table", "2026-05-03")
        events = spark.createDataFrame([desk], columns)
        schema, uri = ROOT / "examples" / "schema.json", f"{bucket.uri}/own"
        found = tidings.spark.match(events, ROOT / "examples" / "subscriptions.jsonl", schema, folder=uri)
        assert "furniture" in [row.subscription for row in found.collect()]
        again = tidings.spark.match(events, uri, schema)
        assert again.collect() == found.collect()
        with pytest.raises(ForeignPlan, match="s3a://tidings/own"):
            tidings.spark.match(events.select("id", "event_type"), uri, Catalog())
    finally:
        for name in bucket.settings:
            spark.conf.unset(name)
