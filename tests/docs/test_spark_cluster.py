"""docs/how-to/spark-cluster.md on one machine: a standalone cluster, Spark Connect and PostgreSQL on loopback, a folder
in place of the bucket. Each block starts a pipeline that goes on; it must match what is appended."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark
import pytest

from tests.docs.pages import ROOT, page_blocks
from tests.docs.story import PATIENCE
from tests.pipeline.market import Market, opening
from tests.pipeline.oracle import notifications_of, stored
from tests.services.postgresql import postgresql
from tests.services.spark_cluster import spark_cluster
from tests.services.spark_connect import connect_server
from tidings.store import Store

pytestmark = pytest.mark.slow
PAGE = ROOT / "docs" / "how-to" / "spark-cluster.md"
# What a notebook of a managed platform has beside the session.
NOTEBOOK = """
import os
from types import SimpleNamespace
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
dbutils = SimpleNamespace(secrets=SimpleNamespace(get=lambda scope, key: os.environ["TIDINGS_STORE"]))
"""


def test_every_block_runs_a_pipeline(tmp_path: Path) -> None:
    exports, command, program, submit, notebook, connect = (block.text for block in page_blocks(PAGE))
    market = Market(seed=8)
    with postgresql() as server, Store.open(server.database()) as store:
        store.append(opening())
        here = {
            "postgresql://tidings:secret@db.example.org/tidings": store.url,
            "/opt/tidings/bin/python": sys.executable,
            "/var/lib/tidings": f"{tmp_path}/data",
            "s3a://bucket": f"{tmp_path}/bucket",
            "/Volumes": f"{tmp_path}/volumes",
            "spark.executor.memory=2g": "spark.executor.memory=512m",
        }

        def matches(script: list[str], **more: str) -> None:
            store.append(list(market.drafts(200, changes=0.2)))
            with _running(script, tmp_path, environment | more) as process:
                deadline = time.monotonic() + PATIENCE
                while store.committed() < store.tail():
                    said = (tmp_path / "log").read_text()
                    assert process.poll() is None, said
                    assert time.monotonic() < deadline, said
                    time.sleep(0.2)

        exported = dict(
            word.split("=", 1) for word in shlex.split(_here(exports, here), comments=True) if word != "export"
        )
        binaries = [str(Path(sys.executable).parent), str(Path(pyspark.__file__).parent / "bin"), os.environ["PATH"]]
        environment = os.environ | exported | {"PATH": os.pathsep.join(binaries), "SPARK_LOCAL_IP": "127.0.0.1"}
        (tmp_path / "matching.py").write_text(_here(program, here))
        with spark_cluster(tmp_path) as cluster:
            here["spark://master.example.org:7077"] = cluster.url
            matches(["bash", "-euc", f"exec {_here(command, here)}"])
            matches(["bash", "-euc", f"exec {_here(submit, here)}"])
        matches([sys.executable, "-c", NOTEBOOK + _here(notebook, here)])
        with connect_server(tmp_path) as url:
            here["sc://connect.example.org"] = url
            matches([sys.executable, "-c", _here(connect, here)])
        assert stored(store) == notifications_of(store)
        assert len(stored(store)) > 500


def _here(text: str, replaced: dict[str, str]) -> str:
    for written, meant in replaced.items():
        text = text.replace(written, meant)
    assert "example.org" not in text
    return text


@contextmanager
def _running(command: list[str], folder: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        yield process
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does
        process.wait(PATIENCE)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(60)
