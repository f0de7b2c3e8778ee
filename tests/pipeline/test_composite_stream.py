"""Composites on a real Spark: what is stored is what the oracle says of the journal, also after SIGKILL."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.composite_batches import run_all
from tests.pipeline.composite_oracle import detections_of, stored_detections
from tests.pipeline.market import opening
from tests.pipeline.test_stream import run_once, running
from tidings.pipeline.composites.sink import CompositeSink
from tidings.pipeline.stream.staging import StagedFiles
from tidings.schema import Instant
from tidings.store import Accepted, Draft, Edit, Pause, Publish, Resume, Store, Subscribe, Withdraw
from tidings.store.clock.clock import now
from tidings.store.notifications.progress import COMPOSITES, move

ROOT = Path(__file__).parents[2]
TEXTS = (
    "[price < 5] before [price > 15] within 20 s by brand",
    "[price < 10] as a before [price >= 10] as b within 5 s select last, first where b.price > 1.5 * a.price by brand",
    "[price < 3] unless [price > 17] within 8 s by brand",
    "times([price between 5 and 9], 3) within 10 s by brand",
    "absent([price > 18]) within 3 s by brand",
    "[price = 1] and [price = 2] within 30 s consume unique",
    "nth([price = 7], 4)",
    "[price < 3] before [price > 17] before [price = 10] within 6 s by brand report expired",
)
LATENESS = 2.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "tidings.db") as store:
        store.append(opening())
        yield store


class Sales:
    """Events of the next minute, out of order, a few of them too late; the same for the same seed and beginning."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._begin = int(now())
        self._count = 0

    def go_on_now(self) -> None:
        """What comes next happens from now on, however long Spark took: a composite edited now begins now."""
        self._begin = max(self._begin, int(now()) - self._count * 50_000)

    def drafts(self, count: int) -> list[Draft]:
        return [self._draft() for _ in range(count)]

    def _draft(self) -> Draft:
        draw = self._random
        self._count += 1
        late = draw.choice([0, 0, 0, 1, 1.9, 5])
        happened = Instant(self._begin + self._count * 50_000 - int(late * 1_000_000))
        attributes = {"price": draw.randrange(20), "brand": draw.choice(["opel", "mini"])}
        raw = {"id": f"e{self._count}", "source": "shop", "time": str(happened)}
        return Publish(raw | {"event_type": "sale", "attributes": attributes})


def put(store: Store, *drafts: Draft) -> None:
    assert all(isinstance(one, Accepted) for one in store.append(drafts))


def subscribed(store: Store) -> None:
    put(store, *(Subscribe(f"c{number}", composite=text) for number, text in enumerate(TEXTS)))


def until(holds: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_what_the_sink_stores_is_what_the_oracle_says(store: Store, spark: SparkSession, tmp_path: Path) -> None:
    """Batches as Spark's query hands them over, each of two stretches; the second is given twice."""
    subscribed(store)
    sales = Sales(seed=3)
    put(store, *sales.drafts(300))
    put(store, Pause("c0"), Withdraw("c1"), Edit("c2", composite=TEXTS[0]), *sales.drafts(100), Resume("c0"))
    put(store, *sales.drafts(200))
    assert store.begin_composites()
    assert store.take_pipeline_lease("here", 300) == "here"
    sink = CompositeSink(store.url, int(LATENESS * 1_000_000), 2, "here", StagedFiles(tmp_path / "staged"))
    for number, last in enumerate([350, 350, store.tail()]):
        first = store.committed(COMPOSITES) + 1 if number != 1 else 11
        middle = (first + last) // 2
        rows = [(first, middle, 0, 1), (middle + 1, last, 0, 1)]
        sink(spark.createDataFrame(rows, "first long, last long, plan long, shards int").repartition(2), number)
    assert store.committed(COMPOSITES) == store.tail()
    found = stored_detections(store)
    assert found == detections_of(store, int(LATENESS * 1_000_000))
    assert {name for name, *_ in found} >= {"c0", "c2", "c3", "c6", "c7"}
    assert {expired for *_, expired in found} >= {"", "[price = 10]"}
    put(store, Subscribe("crowd", composite="[price < 20] before [price > 20] within 1 h"), *sales.drafts(150))
    rows = [(store.committed(COMPOSITES) + 1, store.tail(), 0, 1)]
    assert store.figures().crowded == 0
    replace(sink, most_waiting=2)(spark.createDataFrame(rows, "first long, last long, plan long, shards int"), 3)
    assert store.figures().crowded > 0


@pytest.mark.slow
def test_what_a_stream_stores_is_what_the_oracle_says(store: Store, spark: SparkSession) -> None:
    run_once(store, spark)
    assert store.composite_progress() is None  # without composites there is no second query
    subscribed(store)
    sales = Sales(seed=1)
    put(store, *sales.drafts(300))
    run_once(store, spark, lateness=LATENESS)
    sales.go_on_now()
    put(store, Pause("c0"), Withdraw("c1"), Edit("c2", composite=TEXTS[0]), *sales.drafts(100), Resume("c0"))
    put(store, *sales.drafts(200))
    run_once(store, spark, lateness=LATENESS)
    assert store.committed(COMPOSITES) == store.tail()
    found = stored_detections(store)
    assert found == detections_of(store, int(LATENESS * 1_000_000))
    assert {name for name, *_ in found} >= {"c0", "c2", "c3", "c6", "c7"}
    assert {expired for *_, expired in found} >= {"", "[price = 10]"}
    assert store.late_events()
    shutil.rmtree(Path(store.url.removeprefix("sqlite:///")).parent / "checkpoints" / COMPOSITES)
    run_once(store, spark, lateness=LATENESS)
    assert stored_detections(store) == found
    sales.go_on_now()
    put(store, Subscribe("crowd", composite="[price < 20] before [price > 20] within 1 h"), *sales.drafts(150))
    assert store.figures().crowded == 0
    run_once(store, spark, lateness=LATENESS, waiting_instances=2)
    assert store.figures().crowded > 0


@pytest.mark.slow
def test_a_composite_posted_while_it_runs_is_told_of_silence(store: Store, spark: SparkSession) -> None:
    with running(store, spark, lateness=0.5):
        put(store, Subscribe("quiet", composite="[price < 5] unless [price > 15] within 1 s"))
        put(store, Publish({"id": "one", "event_type": "sale", "attributes": {"price": 3}}))
        until(lambda: len(stored_detections(store)) == 1)  # by ticks alone
        put(store, Withdraw("quiet"))
        until(lambda: store.composite_progress() is None)
    assert [entry.kind for entry in store.entries() if entry.kind == "tick"]


def driver(folder: Path, where: str, batch: int = 0) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.pipeline.driver", str(folder), where, str(batch)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["before-detections", "amid-detections", "after-detections"])
def test_the_driver_dies_around_the_commit_of_detections(store: Store, tmp_path: Path, where: str) -> None:
    """After the sink's commit Spark's own is missing: the batch is run again, and must add nothing."""
    subscribed(store)
    put(store, *Sales(seed=2).drafts(700))
    assert store.begin_composites()
    with store.database.writing("pipeline") as connection:  # small batches, so that there are several
        move(connection, COMPOSITES, replace(store.place(COMPOSITES), batch_limit=150))
    process = driver(tmp_path, where, batch=2)
    _, said = process.communicate(timeout=240)
    assert process.returncode == -signal.SIGKILL, said.decode()
    assert store.committed(COMPOSITES) < store.tail()
    finished = driver(tmp_path, "never")
    _, said = finished.communicate(timeout=240)
    assert finished.returncode == 0, said.decode()
    assert store.committed(COMPOSITES) == store.tail()
    assert stored_detections(store) == detections_of(store, 10_000_000)


@pytest.mark.slow
def test_the_driver_dies_at_any_time_while_composites_detect(store: Store, tmp_path: Path) -> None:
    """Within a batch, between two, in its transaction or while states are loaded: nothing is missing or twice."""
    subscribed(store)
    sales, draw = Sales(seed=4), random.Random(4)
    put(store, *sales.drafts(100))
    assert store.begin_composites()
    for number in range(2):
        before, process = store.committed(COMPOSITES), driver(tmp_path, "running")
        deadline, moment = time.monotonic() + 600, None
        try:
            while moment is None or time.monotonic() < moment:
                if store.tail() - store.committed(COMPOSITES) < 400:
                    put(store, *sales.drafts(20))
                if moment is None and store.committed(COMPOSITES) > before:
                    moment = time.monotonic() + draw.random() * 3
                    put(store, Edit("c2", composite=TEXTS[number]), Pause("c0"), *sales.drafts(20), Resume("c0"))
                assert process.poll() is None, process.stderr and process.stderr.read().decode()
                assert time.monotonic() < deadline
                time.sleep(0.05)
        finally:
            process.kill()
            process.communicate()
        assert process.returncode == -signal.SIGKILL
    run_all(store, 10_000_000)  # the rest, by the same stages without Spark
    assert store.committed(COMPOSITES) == store.tail()
    found = stored_detections(store)
    assert found == detections_of(store, 10_000_000)
    assert {name for name, *_ in found} >= {"c0", "c3"}
