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
from tests.pipeline.two_machines import PASSWORD
from tests.services.machines import two_machines
from tests.services.missing import missing, need
from tests.services.s3a import s3a_jars
from tests.services.spark_cluster import spark_cluster
from tests.services.wheel import ROOT, installed_wheel
from tidings.pipeline.pipeline import Pipeline, PipelineSettings
from tidings.pipeline.spark.session import LocalStoreOnly
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
            assert process.wait(180) == 0, (tmp_path / "pipeline.log").read_text()
        finally:
            process.kill()
            process.wait()
            log.close()
        looks = [json.loads(line) for line in (tmp_path / "pipeline.log").read_text().splitlines() if line[:1] == "{"]
        assert looks[-1]["lag"] == 0
        assert stored(store) == notifications_of(store)
        assert len(stored(store)) > 1_000


@pytest.mark.slow
def test_two_machines(tmp_path: Path) -> None:
    """Separate networks, file systems and interpreters; the worker has the wheel and a bucket, nothing else of ours.
    Its executors are killed while events come."""
    need("ip", "iproute2")
    if os.getuid() != 0:
        missing("network namespaces and mounts are root's")
    venv, jars = installed_wheel(tmp_path, "postgresql"), s3a_jars()
    driver = {"/opt/tidings": Path(sys.prefix), "/opt/jars": jars, str(ROOT / "src"): ROOT / "src"}
    with two_machines(tmp_path, (driver, {"/opt/tidings": venv})) as machines:
        for machine, sees in zip(machines, (True, False), strict=True):
            assert ("no" in machine.run("sh", "-c", f"test -e {ROOT}/src/tidings || echo no")) is not sees
        program = "import tidings; print(tidings.__file__)"
        assert "site-packages" in machines[1].run("/opt/tidings/bin/python", "-c", program)
        told = {"folder": str(tmp_path), "jars": str(jars), "machines": [vars(one) for one in machines]}
        command = [sys.executable, "-m", "tests.pipeline.two_machines", json.dumps(told, default=str)]
        done = subprocess.run(
            ["ip", "netns", "exec", machines[0].namespace, *command], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr[-20_000:]
    for log in tmp_path.glob("*.log"):
        assert PASSWORD not in log.read_text(), log


def _until(condition: object, process: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + 600
    while not condition():  # type: ignore[operator]
        assert process.poll() is None, (folder / "pipeline.log").read_text()
        assert time.monotonic() < deadline, (folder / "pipeline.log").read_text()
        time.sleep(0.1)
