"""All that uses a session, as a client of a real Spark Connect server.

A process has either a Spark of its own or Spark Connect, so each test is a client in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipeline.market import Market, opening
from tests.pipeline.oracle import notifications_of, stored
from tests.services.postgresql import Server, postgresql
from tests.services.spark_connect import connect_server
from tidings.store import Store

pytestmark = pytest.mark.slow
pytest.importorskip("grpc", reason="Spark Connect needs pyspark[connect]")


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with connect_server(tmp_path_factory.mktemp("connect")) as url:
        yield url


@pytest.fixture(scope="module")
def database() -> Iterator[Server]:
    with postgresql() as server:
        yield server


def client(connect: str, task: str, **given: str) -> str:
    """Runs one of the functions below in a process of its own; gives what it printed."""
    command = [sys.executable, "-m", "tests.pipeline.test_connect", connect, task, json.dumps(given)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"TZ": "UTC"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_once(session: object, url: str, folder: str) -> None:
    import tidings.spark

    tidings.spark.run_pipeline(
        session, url, plans=f"{folder}/plans", checkpoints=f"{folder}/checkpoints", once=True,  # type: ignore[arg-type]
    )  # fmt: skip


def test_the_pipeline(connect: str, database: Server, tmp_path: Path) -> None:
    url, market = database.database(), Market(seed=31)
    with Store.open(url) as store:
        store.append(opening())
        for _ in range(2):
            store.append(list(market.drafts(300, changes=0.2)))
            client(connect, "run_once", url=url, folder=str(tmp_path))
            assert store.committed() == store.tail()
        assert stored(store) == notifications_of(store)
        assert len(stored(store)) > 500


def test_a_store_that_was_put_back(connect: str, database: Server, tmp_path: Path) -> None:
    """The checkpoint is ahead of it. What the sink says of this comes back as text only."""
    url, market = database.database(), Market(seed=32)
    with Store.open(url) as store:
        store.append([*opening(), *market.drafts(200, changes=0.2)])
    copy = database._create(f" TEMPLATE {url.rpartition('/')[2]}")
    client(connect, "run_once", url=url, folder=str(tmp_path))
    printed = client(connect, "run_once", url=copy, folder=str(tmp_path))
    assert "set aside" in printed
    with Store.open(copy) as earlier:
        assert earlier.committed() == earlier.tail()
        assert stored(earlier) == notifications_of(earlier)
        assert len(stored(earlier)) > 50


def refuse_sqlite(session: object, folder: str) -> None:
    import tidings.spark
    from tidings.pipeline.spark.session import LocalStoreOnly

    with pytest.raises(LocalStoreOnly, match="Spark Connect"):
        tidings.spark.run_pipeline(session, f"{folder}/tidings.db", data=folder)  # type: ignore[arg-type]


def test_sqlite_is_refused(connect: str, tmp_path: Path) -> None:
    client(connect, "refuse_sqlite", folder=str(tmp_path))


def match_frames(session: object, folder: str) -> None:
    """As docs/how-to/match-in-your-own-job.md has it."""
    import tidings.spark

    events = session.createDataFrame(  # type: ignore[attr-defined]
        [
            ("a1", "auction", "Oak dining table", 240.0, "dining table", "2026-05-03"),
            ("a2", "auction", "Red Mini", 900.0, "convertible", "2026-05-08"),
            ("a3", "auction", "Nothing", -1.0, "no such thing", "2026-05-08"),
        ],
        "id string, event_type string, title string, price double, category string, ends string",
    )
    found = tidings.spark.match(events, "examples/subscriptions.jsonl", "examples/schema.json", folder=f"{folder}/plan")
    assert ("a1", "furniture") in {(row.event, row.subscription) for row in found.collect()}
    cheap = tidings.spark.query(events, "price < 500 and category under furniture", "examples/schema.json")
    assert [row.id for row in cheap.collect()] == ["a1"]
    (refused,) = tidings.spark.refused(events, "examples/schema.json").collect()
    assert refused.event == "a3"


def test_frames(connect: str, tmp_path: Path) -> None:
    client(connect, "match_frames", folder=str(tmp_path))


def ask_the_journal(session: object, url: str) -> None:
    import pyarrow as pa

    from tidings.language import Filter
    from tidings.pipeline.batch.history import NOTIFIED, replayed
    from tidings.pipeline.batch.query import STORED, matching
    from tidings.pipeline.spark.session import parallelism

    assert parallelism(session) == 2  # type: ignore[arg-type]
    with Store.open(url) as store:
        for ask in (
            lambda spark: pa.Table.from_batches(replayed(store, 0, store.tail(), spark), NOTIFIED),
            lambda spark: pa.Table.from_batches(
                matching(store, Filter.parse("price < 30", store.catalog()), 0, store.tail(), spark), STORED
            ),
        ):
            here, there = ask(None), ask(session)
            assert there.equals(here)
            assert len(here) > 20


def test_stored_events(connect: str, database: Server) -> None:
    url = database.database()
    with Store.open(url) as store:
        store.append([*opening(), *Market(seed=33).drafts(300, changes=0.2)])
    client(connect, "ask_the_journal", url=url)


def match_a_file(session: object, folder: str) -> None:
    from tidings.matching.subscription_batch import SubscriptionBatch
    from tidings.pipeline.batch.batch_plan import plan_of
    from tidings.pipeline.batch.file_match import match_file
    from tidings.schema.files import read_catalog

    catalog = read_catalog("examples/schema.json")[0]
    with open("examples/subscriptions.jsonl", "rb") as file:
        plan = plan_of(SubscriptionBatch.read(file, catalog), catalog, "local[2]", Path(folder) / "plan")
    answers = list(match_file(session, Path("examples/events.jsonl"), catalog, plan, None))  # type: ignore[arg-type]
    assert sum(answer.matches for answer in answers) == 6


def test_a_file(connect: str, tmp_path: Path) -> None:
    client(connect, "match_a_file", folder=str(tmp_path))


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    globals()[sys.argv[2]](SparkSession.builder.remote(sys.argv[1]).getOrCreate(), **json.loads(sys.argv[3]))
