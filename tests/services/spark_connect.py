"""A Spark Connect server on loopback, a process of its own, from the pip package alone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyspark

_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
_WAIT = 120  # seconds for the server to answer


@contextmanager
def connect_server(folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """Its URL; its log is in the folder."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    ours = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    } | dict(settings or {})
    options = [part for name, value in ours.items() for part in ("--conf", f"{name}={value}")]
    command = [str(_SUBMIT), "--class", _SERVER, "--master", "local[2]", *options]
    with open(folder / "connect.log", "wb") as log:
        own = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        process = subprocess.Popen(
            command, env=os.environ | own, stdout=log, stderr=log, cwd=folder, start_new_session=True
        )
    try:
        deadline = time.monotonic() + _WAIT
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, (folder / "connect.log").read_text()
                assert time.monotonic() < deadline, (folder / "connect.log").read_text()
                time.sleep(0.2)
        yield f"sc://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
