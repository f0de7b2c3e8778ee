"""A standalone Spark cluster on loopback: a master and two workers, each a process of its own, from the pip package
alone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"


@dataclass
class Cluster:
    url: str
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def kill_worker(self, place: int) -> int:
        """SIGKILL to a worker and to the executors it started; says how many processes that were."""
        victims = [self.workers[place].pid, *_descendants(self.workers[place].pid)]
        for victim in victims:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                continue  # went with its parent
        self.workers[place].wait()
        return len(victims)


@contextmanager
def spark_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """Runs until the block ends; its logs are in the folder."""
    port = _free_port()
    cluster = Cluster(f"spark://127.0.0.1:{port}")
    master = _start(folder, "master", "org.apache.spark.deploy.master.Master", "--port", str(port), "--webui-port", "0")
    try:
        _until_listening(port)
        for number in range(workers):
            options = (
                "--cores",
                "1",
                "--memory",
                "1g",
                "--webui-port",
                "0",
                "--work-dir",
                str(folder / f"work{number}"),
            )
            name = "org.apache.spark.deploy.worker.Worker"
            cluster.workers.append(_start(folder, f"worker{number}", name, *options, cluster.url))
        yield cluster
    finally:
        for process in (*cluster.workers, master):
            for victim in (*_descendants(process.pid), process.pid):
                try:
                    os.kill(victim, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            process.wait()


def _start(folder: Path, name: str, kind: str, *options: str) -> subprocess.Popen[bytes]:
    own = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}
    with open(folder / f"{name}.log", "wb") as log:
        command = [str(_CLASS), kind, "--host", "127.0.0.1", *options]
        return subprocess.Popen(command, env=os.environ | own, stdout=log, stderr=log)


def _descendants(pid: int) -> list[int]:
    """Children and theirs, as /proc tells them."""
    found: list[int] = []
    try:
        lists = [(task / "children").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return found
    for child in map(int, " ".join(lists).split()):
        found += [child, *_descendants(child)]
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _until_listening(port: int, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert time.monotonic() < deadline, "the master never listened"
            time.sleep(0.1)
