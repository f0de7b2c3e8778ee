"""The journal's query on a real Spark: what it stores is the pure function of the journal, however batches are cut."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.market import Market, opening
from tests.pipeline.oracle import notifications_of, stored
from tidings.pipeline.pipeline import Pipeline, PipelineSettings
from tidings.pipeline.plans.plans import Plans, Published
from tidings.schema import Instant
from tidings.store import Accepted, Publish, RetentionDays, Store, Subscribe, retention
from tidings.store.clock.clock import now


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "tidings.db") as store:
        store.append(opening())
        yield store


def settings(store: Store, **changes: Any) -> PipelineSettings:
    return PipelineSettings(data=Path(store.url.removeprefix("sqlite:///")).parent, **changes)


def run_once(store: Store, spark: SparkSession, **changes: Any) -> list[str]:
    """All that is there now; gives what the pipeline told."""
    told: list[str] = []
    with Pipeline(settings(store, **changes), told.append) as pipeline:
        pipeline.run(threading.Event(), once=True, spark=spark)
    return told


@contextmanager
def running(store: Store, spark: SparkSession, **changes: Any) -> Iterator[Pipeline]:
    """A pipeline that goes on until the block ends."""
    stopped = threading.Event()
    problems: list[Exception] = []
    with Pipeline(settings(store, **changes)) as pipeline:

        def run() -> None:
            try:
                pipeline.run(stopped, spark=spark)
            except Exception as problem:
                problems.append(problem)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield pipeline
        finally:
            stopped.set()
            thread.join()
    assert not problems


def until(condition: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to pass"
        time.sleep(0.02)


def test_all_is_stored_whatever_changed_in_between(store: Store, spark: SparkSession) -> None:
    market = Market(seed=1)
    for most_rows in (60, 20_000, 29):
        store.append(list(market.drafts(200, changes=0.2)))
        run_once(store, spark, most_rows=most_rows)
        assert store.committed() == store.tail()
    assert stored(store) == notifications_of(store)
    assert len(stored(store)) > 500


@pytest.mark.slow
def test_old_events_go_where_no_outbox_runs(
    store: Store, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "_EVERY", 0.1)
    long_ago, market = Instant(now() - 10 * 86_400_000_000), Market(seed=7)
    with Store.open(tmp_path / "tidings.db", lambda: long_ago) as past:
        with past.database.writing() as connection:
            connection.exec_driver_sql(f"UPDATE journal SET accepted = {int(long_ago)}")
            connection.exec_driver_sql(f"UPDATE about SET accepted = {int(long_ago)}")
        past.append(list(market.drafts(50)))
    store.append(list(market.drafts(1, changes=0.0)))
    assert store.figures().events > 10
    with running(store, spark, keep=RetentionDays(events=3)):
        until(lambda: store.figures().events == 1)
    assert store.complete_from() <= store.committed()


def test_changes_while_it_runs(store: Store, spark: SparkSession) -> None:
    market = Market(seed=2)
    with running(store, spark) as pipeline:
        until(lambda: store.committed() == store.tail())  # it runs: what comes now comes in between
        for _ in range(40):
            store.append(list(market.drafts(25, changes=0.1)))
            time.sleep(0.05)
        until(lambda: store.committed() == store.tail())
        assert pipeline.sink.total.batches > 1
    assert stored(store) == notifications_of(store)


def test_a_subscription_counts_for_the_very_next_event(store: Store, spark: SparkSession) -> None:
    with running(store, spark):
        for number in range(10):
            (subscribed,) = store.append([Subscribe(f"s{number}", f"price = {number}")])
            raw = {"id": f"e{number}", "event_type": "sale", "attributes": {"price": number}}
            (published,) = store.append([Publish(raw)])
            assert isinstance(subscribed, Accepted)
            assert isinstance(published, Accepted)
        until(lambda: store.committed() == store.tail())
    assert {id for _, id in stored(store)} == {f"s{number}" for number in range(10)}
    assert stored(store) == notifications_of(store)


def test_an_expired_subscription_counts_no_more(tmp_path: Path, spark: SparkSession) -> None:
    times = iter(range(1_000_000, 100_000_000, 1_000_000))
    with Store.open(tmp_path / "tidings.db", lambda: Instant(next(times))) as store:
        store.append(opening())
        store.append([Subscribe("brief", "price > 0", expiry=Instant(5_000_000)), Subscribe("long", "price > 0")])
        for number in range(6):
            store.append([Publish({"id": f"e{number}", "event_type": "sale", "attributes": {"price": 1}})])
        run_once(store, spark)
        assert stored(store) == notifications_of(store)
        assert sorted(id for _, id in stored(store)) == ["brief"] * 2 + ["long"] * 6


@pytest.mark.slow
def test_shards_give_the_same_answer_and_stay_within_the_limit(store: Store, spark: SparkSession) -> None:
    market = Market(seed=3)
    store.append([market.subscribe() for _ in range(1_000)])
    store.append(list(market.drafts(150, changes=0.05)))
    limit = 50_000
    told = run_once(store, spark, plan_limit=limit)
    assert any("shards" in line for line in told)
    plans = settings(store).data / "plans"
    newest = json.loads((plans / "current.json").read_text())
    shards = sorted((plans / f"{newest['version']:012}").iterdir())
    assert len(shards) == newest["shards"] > 1
    for shard in shards:
        assert sum(path.stat().st_size for path in shard.rglob("*") if path.is_file()) <= limit
    store.append(list(market.drafts(150, changes=0.05)))
    run_once(store, spark, plan_limit=limit)
    assert stored(store) == notifications_of(store)


def test_a_lost_checkpoint_goes_on_where_the_store_is(store: Store, spark: SparkSession) -> None:
    market = Market(seed=4)
    store.append(list(market.drafts(200, changes=0.2)))
    run_once(store, spark)
    shutil.rmtree(settings(store).data / "checkpoints")
    store.append(list(market.drafts(200, changes=0.2)))
    run_once(store, spark)
    assert stored(store) == notifications_of(store)


@pytest.mark.slow
def test_a_checkpoint_ahead_of_the_store_is_set_aside(store: Store, spark: SparkSession, tmp_path: Path) -> None:
    """The store was put back from an older copy: nothing between may be left out."""
    market = Market(seed=5)
    store.append(list(market.drafts(200, changes=0.2)))
    run_once(store, spark)
    checkpoint = settings(store).data / "checkpoints"
    shutil.copytree(checkpoint, tmp_path / "later")
    (tmp_path / "restored").mkdir()
    with Store.open(tmp_path / "restored" / "tidings.db") as earlier:
        data = settings(earlier).data
        _copy_journal(store, earlier)
        shutil.copytree(tmp_path / "later", data / "checkpoints")
        for owner in data.glob("checkpoints/*/tidings.json"):
            owner.write_text(owner.read_text().replace(store.id, earlier.id))
        told = run_once(earlier, spark)  # with nothing new: the journal need not grow past the checkpoint first
        assert any("set aside" in line for line in told)
        assert stored(earlier) == notifications_of(earlier)


def _copy_journal(store: Store, other: Store) -> None:
    other.append(opening())
    market = Market(seed=5)
    other.append(list(market.drafts(200, changes=0.2)))
    assert [entry.body for entry in store.entries()] == [entry.body for entry in other.entries()]


def test_plans_deleted_under_it_are_made_again(store: Store, spark: SparkSession) -> None:
    market = Market(seed=6)
    store.append(list(market.drafts(200, changes=0.2)))
    with running(store, spark):
        until(lambda: store.committed() == store.tail())
        shutil.rmtree(settings(store).data / "plans", ignore_errors=True)
        store.append(list(market.drafts(200, changes=0.2)))
        until(lambda: store.committed() == store.tail())
    assert stored(store) == notifications_of(store)


@pytest.mark.slow
def test_a_damaged_plan_is_made_again(store: Store, spark: SparkSession) -> None:
    market = Market(seed=7)
    store.append(list(market.drafts(200, changes=0.2)))
    run_once(store, spark)
    for path in (settings(store).data / "plans").glob("*/shard-0/manifest.json"):
        path.write_text(path.read_text()[:-40])
    store.append(list(market.drafts(200, changes=0.2)))
    told = run_once(store, spark)
    assert any("made again" in line for line in told)
    assert stored(store) == notifications_of(store)


@dataclass(frozen=True)
class DeadlyPlans:
    """Kills the workers that ask for it the first times, as the kernel does when memory is short."""

    plans: Plans
    deaths: Path  # a folder with a file for each death that is due

    def newest(self) -> Published | None:
        return self.plans.newest()

    def usable(self, version: int, shard: int, shards: int) -> list[Path]:
        for due in self.deaths.iterdir():
            with suppress(FileNotFoundError):
                due.unlink()
                os.kill(os.getpid(), signal.SIGKILL)
        return self.plans.usable(version, shard, shards)

    def drop(self, folder: Path) -> None:
        self.plans.drop(folder)


@pytest.mark.slow
def test_a_round_whose_workers_die_is_tried_again_with_less(
    store: Store, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three times in a row; nothing is stored twice, and the query goes on."""
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    for number in range(3):
        (deaths / str(number)).touch()
    monkeypatch.setattr(Plans, "for_workers", lambda self: DeadlyPlans(self, deaths))
    store.append(list(Market(seed=8).drafts(200, changes=0.2)))
    assert run_once(store, spark) == [], "no batch was taken for done in part, which the next one would show"
    assert list(deaths.iterdir()) == []
    assert stored(store) == notifications_of(store)
    assert list((settings(store).data / "staged").iterdir()) == []
