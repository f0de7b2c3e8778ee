"""One pipeline at a time on a store: the second waits, says so, and takes over."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.market import Market, opening
from tests.pipeline.oracle import notifications_of, stored
from tests.services.sqlite import new_store
from tidings.pipeline.lease import PipelineLease, StoreInUse
from tidings.pipeline.plans.planner import Planner
from tidings.pipeline.plans.plans import Plans
from tidings.pipeline.stream.sink import RemoteSink, new_query
from tidings.store import LeaseLost, Store

SHORT = 0.01  # seconds


def lease(store: Store, folder: Path, seconds: float = 15) -> PipelineLease:
    return PipelineLease(store, folder, seconds, standby=SHORT)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(new_store(tmp_path / "tidings.db")) as store:
        yield store


def test_the_second_waits_until_the_first_gives_it_back(store: Store, tmp_path: Path) -> None:
    one, two = (lease(store, tmp_path / name) for name in ("one", "two"))
    assert one.take(threading.Event(), False, pytest.fail)
    waited: list[str] = []

    def waiting(holder: str) -> None:
        waited.append(holder)
        if len(waited) == 3:
            one.give_back()

    assert two.take(threading.Event(), False, waiting)
    assert waited == [one.holder] * 3
    assert "one" in one.holder
    two.give_back()


def test_one_that_is_stopped_waits_no_longer(store: Store, tmp_path: Path) -> None:
    one, two = (lease(store, tmp_path / name) for name in ("one", "two"))
    assert one.take(threading.Event(), False, pytest.fail)
    stopped = threading.Event()
    assert not two.take(stopped, False, lambda _: stopped.set())
    one.give_back()


def test_one_run_is_refused_while_another_is_at_work_but_not_for_a_dead_one(store: Store, tmp_path: Path) -> None:
    one, two = lease(store, tmp_path / "one"), lease(store, tmp_path / "two", SHORT)
    store.take_pipeline_lease("killed", 0.1)
    assert one.take(threading.Event(), True, lambda _: None), "it ran out"
    with pytest.raises(StoreInUse, match="one"):
        two.take(threading.Event(), True, lambda _: None)
    one.give_back()


def test_a_pipeline_started_again_on_its_folder_need_not_wait(store: Store, tmp_path: Path) -> None:
    assert lease(store, tmp_path).take(threading.Event(), False, pytest.fail)
    again = lease(store, tmp_path)
    assert again.take(threading.Event(), False, pytest.fail)
    again.give_back()


def test_one_that_was_taken_for_dead_notices(store: Store, tmp_path: Path) -> None:
    one = lease(store, tmp_path / "one", seconds=0.1)
    assert one.take(threading.Event(), False, pytest.fail)
    until = store.now() + 100_000_000
    with store.database.writing("pipeline") as connection:  # as it would, once the lease has run out
        connection.exec_driver_sql(f"UPDATE leases SET holder = 'two', until = {until} WHERE name = 'pipeline'")
    _until(lambda: one.lost is not None)
    one.give_back()
    assert store.take_pipeline_lease("three", 10) == "two", "what is another's is not given back"


@pytest.mark.slow
def test_a_query_that_outlives_its_client_leaves_its_successor_alone(
    store: Store, tmp_path: Path, spark: SparkSession
) -> None:
    """Under Spark Connect the query is the server's: it goes on when the client is killed."""
    store.append([*opening(), *Market(seed=6).drafts(100, changes=0.2)])
    plans = Plans(tmp_path / "plans")
    planned = Planner(store, plans).catch_up()
    row = (1, store.tail(), planned.version, planned.shards)
    frame = spark.createDataFrame([row], "first long, last long, plan long, shards int")
    store.take_pipeline_lease("killed", 0)
    query = new_query()
    orphan = RemoteSink(store.url, plans.for_workers(), 1, query, "killed")
    store.stage(f"{query}-batch-run", 0, b"left behind")
    store.stage("successor-batch-run", 0, b"matches")
    orphan(frame, 0)
    assert (store.staged("successor-batch-run", 0), store.staged(f"{query}-batch-run", 0)) == (b"matches", None)
    assert stored(store) == notifications_of(store)
    store.take_pipeline_lease("successor", 15)
    with pytest.raises(LeaseLost, match="the pipeline killed lost its lease to successor"):
        orphan(frame, 1)
    assert store.staged("successor-batch-run", 0) == b"matches"


@pytest.mark.slow
def test_a_second_process_takes_over_when_the_first_is_killed(postgresql_url: str, tmp_path: Path) -> None:
    market = Market(seed=5)
    with Store.open(postgresql_url) as store:
        store.append([*opening(), *market.drafts(200, changes=0.2)])
        with _pipeline(postgresql_url, tmp_path / "one") as one:
            _until(lambda: store.committed() == store.tail())
            with _pipeline(postgresql_url, tmp_path / "two") as two:
                _until(lambda: "waits_for" in _log(tmp_path / "two"))
                time.sleep(20)  # the first renews its lease
                store.append(list(market.drafts(200, changes=0.2)))
                _until(lambda: store.committed() == store.tail())
                assert "lag" not in _log(tmp_path / "two"), "it does nothing yet"
                assert not (tmp_path / "two" / "plans" / "current.json").exists()
                one.kill()
                store.append(list(market.drafts(200, changes=0.2)))
                _until(lambda: store.committed() == store.tail())
                assert two.poll() is None
        assert stored(store) == notifications_of(store)
        looks = [json.loads(line) for line in _log(tmp_path / "two").splitlines() if line.startswith("{")]
        assert str(tmp_path / "one") in looks[0]["waits_for"]
        assert looks[-1]["lag"] == 0


@contextmanager
def _pipeline(url: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    folder.mkdir()
    command = [sys.executable, "-m", "tidings.cli.main", "pipeline", "--data", str(folder), "--store", url, "--json"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            assert process.wait(120) == 0, _log(folder)
        process.wait()


def _log(folder: Path) -> str:
    return (folder / "log").read_text()


def _until(done: Callable[[], bool], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)
