"""A real cluster of two workers on loopback, a real PostgreSQL; one worker dies while events come."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.pipeline.market import Market, opening
from tests.pipeline.oracle import notifications_of, stored
from tests.services.spark_cluster import spark_cluster
from tidings.pipeline.pipeline import LocalStoreOnly, Pipeline, PipelineSettings
from tidings.store import Store


def test_sqlite_is_refused_with_a_cluster(tmp_path: Path) -> None:
    with (
        pytest.raises(LocalStoreOnly, match="PostgreSQL"),
        Pipeline(PipelineSettings(tmp_path, master="spark://somewhere:7077")),
    ):
        pass


@pytest.mark.slow
def test_a_worker_dies_while_events_come(postgresql_url: str, tmp_path: Path) -> None:
    market = Market(seed=21)
    command = [
        sys.executable,
        "-m",
        "tidings.cli.main",
        "pipeline",
        "--data",
        str(tmp_path / "data"),
        "--store",
        postgresql_url,
    ]
    spark = [
        "--spark",
        "spark.cores.max=2",
        "--spark",
        "spark.executor.cores=1",
        "--spark",
        "spark.executor.memory=512m",
    ]
    with Store.open(postgresql_url) as store, spark_cluster(tmp_path) as cluster:
        store.append(opening())
        store.append(list(market.drafts(500, changes=0.2)))
        log = open(tmp_path / "pipeline.log", "wb")  # noqa: SIM115
        process = subprocess.Popen(
            [*command, "--master", cluster.url, "--json", *spark], stdout=log, stderr=log, env=os.environ
        )
        try:
            _until(lambda: store.committed() == store.tail(), process, tmp_path)
            killed = 0
            for step in range(60):
                store.append(list(market.drafts(50, changes=0.1)))
                if step == 20:
                    killed = cluster.kill_worker(0)
                time.sleep(0.1)
            assert killed > 1, "a worker with an executor"
            _until(lambda: store.committed() == store.tail(), process, tmp_path)
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0, (tmp_path / "pipeline.log").read_text()
        finally:
            process.kill()
            process.wait()
            log.close()
        looks = [json.loads(line) for line in (tmp_path / "pipeline.log").read_text().splitlines() if line[:1] == "{"]
        assert looks[-1]["lag"] == 0
        assert stored(store) == notifications_of(store)
        assert len(stored(store)) > 1_000


def _until(condition: object, process: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + 180
    while not condition():  # type: ignore[operator]
        assert process.poll() is None, (folder / "pipeline.log").read_text()
        assert time.monotonic() < deadline, (folder / "pipeline.log").read_text()
        time.sleep(0.1)
