"""Executors that ingest, and direct matching, under a clock that jumps."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.pipeline.market import opening
from tests.services.sqlite import new_store
from tests.store.samples import SteadyClock
from tidings.pipeline.ingest.folder_source import FolderSource
from tidings.pipeline.ingest.ingest import Intake, IntakeStage
from tidings.pipeline.pipeline import Pipeline, PipelineSettings
from tidings.schema import Instant
from tidings.store import Store, Subscribe
from tidings.store.clock.clock import OFFSET_FILE, now

DAY = 86_400
SECOND = 1_000_000


def sale(id: str, price: int = 1, **members: object) -> dict[str, object]:
    return {"id": id, "event_type": "sale", "attributes": {"price": price}} | members


def rows_of(path: Path) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_pydict({"path": [f"file:{path}"]})]


JUMPS = [600, -600, 40 * DAY, -40 * DAY, 365 * DAY, -365 * DAY]


@pytest.mark.parametrize("jump", JUMPS)
def test_an_executor_waits_and_refuses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: int) -> None:
    """Neither is the wrong time believed, nor are events with the right time taken for events of the future."""
    offset, folder = tmp_path / "offset", tmp_path / "in"
    folder.mkdir()
    monkeypatch.setenv(OFFSET_FILE, str(offset))
    monkeypatch.setattr("tidings.pipeline.ingest.ingest._UNTIL_NEXT_TRY", 0.05)
    events = [sale("e1", time=str(now())), sale("e2")]
    (folder / "a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events))
    with Store.open(new_store(tmp_path / "tidings.db")) as store:
        store.append(opening())
        offset.write_text(str(jump))
        with executor(store, folder) as taken:
            offset.write_text("0")
        assert taken == [{"events": 2, "duplicates": 0, "refused": 0}]
        assert store.dead_letters() == []
        assert all(abs(entry.accepted - now()) < 60 * SECOND for entry in store.entries(len(opening())))


@pytest.mark.parametrize("jump", JUMPS)
def test_an_executor_goes_on_once_a_jump_for_good_is_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: int
) -> None:
    offset, folder = tmp_path / "offset", tmp_path / "in"
    folder.mkdir()
    monkeypatch.setenv(OFFSET_FILE, str(offset))
    monkeypatch.setattr("tidings.pipeline.ingest.ingest._UNTIL_NEXT_TRY", 0.05)
    (folder / "a.jsonl").write_text("".join(json.dumps(sale(f"e{number}")) + "\n" for number in range(2)))
    with Store.open(new_store(tmp_path / "tidings.db")) as store:
        store.append(opening())
        offset.write_text(str(jump))
        with executor(store, folder) as taken:
            store.confirm_clock()
        assert taken == [{"events": 2, "duplicates": 0, "refused": 0}]
        assert store.dead_letters() == []


@contextmanager
def executor(store: Store, folder: Path) -> Iterator[list[dict[str, int]]]:
    """One that takes in the folder's file and waits, since the clock is wrong; after the block it has gone on. What it
    took."""
    taken: list[dict[str, int]] = []

    def ingest() -> None:
        stage = IntakeStage(store.url, FolderSource(folder))
        taken.extend(row for batch in stage(iter(rows_of(folder / "a.jsonl"))) for row in batch.to_pylist())

    task = threading.Thread(target=ingest, daemon=True)
    task.start()
    time.sleep(0.5)
    assert (task.is_alive(), store.tail()) == (True, len(opening()))
    yield taken
    task.join(120)


def test_one_event_that_fails_is_buried_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tidings.store import draft_group

    written = draft_group.write_event

    def broken(event):  # type: ignore[no-untyped-def]
        if event.id == "e2":
            raise RecursionError
        return written(event)

    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(sale(f"e{number}")) + "\n" for number in range(4)))
    with Store.open(new_store(tmp_path / "tidings.db")) as store:
        store.append(opening())
        intake = Intake(store)
        for arrived in FolderSource(tmp_path).arrivals(iter(rows_of(path)), store.catalog, store.clock.now):
            intake.take(arrived)
        monkeypatch.setattr(draft_group, "write_event", broken)
        intake.finish()
        assert (intake.taken.events, intake.taken.refused) == (3, 1)
        (letter,) = store.dead_letters()
        assert (letter.letter.id, letter.letter.place) == ("e2", "3")
        assert "a defect in Tidings (RecursionError)" in letter.letter.errors[0].message


@pytest.mark.parametrize("jump", [0, 365 * DAY])
def test_direct_matching_respects_expiry(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: int
) -> None:
    """By the time of the batch; and a wrong clock expires nothing."""
    monkeypatch.setenv(OFFSET_FILE, str(tmp_path / "offset"))
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "a.jsonl").write_text(json.dumps(sale("e1")) + "\n")
    told: list[str] = []
    soon = Instant(now() + 3 * SECOND)
    with Store.open(tmp_path / "tidings.db") as store:
        store.append(opening())
        store.append([Subscribe("soon", "price >= 0", expiry=soon), Subscribe("never", "price >= 0")])
        store.append([Subscribe("later", "price >= 0", expiry=Instant(now() + DAY * SECOND))])
    settings = PipelineSettings(tmp_path, sources=(f"files:{folder}",), direct_to=f"parquet:{out}")
    with Pipeline(settings, told.append) as pipeline:
        pipeline.planner.catch_up()
        if jump:
            (tmp_path / "offset").write_text(str(jump))
        while not jump and now() < soon:
            time.sleep(0.1)
        pipeline.run(threading.Event(), once=True, spark=spark)
    matched = {row["subscription"] for row in pq.read_table(out).to_pylist()}
    assert matched == ({"soon", "never", "later"} if jump else {"never", "later"})
    assert any("clock jumped" in line for line in told) == bool(jump)


def test_plans_grow_evenly_whatever_the_clock(tmp_path: Path) -> None:
    """A version far ahead would keep older ones from ever being removed."""
    from tidings.pipeline.plans.planner import Planner
    from tidings.pipeline.plans.plans import Plans

    clock = SteadyClock()
    with Store.open(new_store(tmp_path / "tidings.db"), clock) as store:
        store.append(opening())
        planner = Planner(store, Plans(tmp_path / "plans"))
        first = planner.catch_up()
        store.append([Subscribe("s", "price >= 0")])
        clock.jump(365 * DAY)
        assert planner.catch_up().version - first.version < 1_000
