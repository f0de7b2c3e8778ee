"""Kafka for tests: one broker or several, in a temporary folder, on loopback only, ended by their process ids.

Broker and connector come from Maven Central, once, into the cache folder (TIDINGS_CACHE may name another)."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyspark

from tests.services.missing import missing
from tidings.kernels.cache_folder import cache_folder

_KAFKA = "3.9.2"
_CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg"  # any id will do
_WAIT = 60  # seconds for the broker to answer
_FETCH = 600  # seconds to download
_SPARK = "org.apache.spark:spark-sql-kafka-0-10_2.13:{}"
# The connector belongs to a version of Spark. A mirror of Maven Central may lag behind, so there is a second choice:
# jars of 4.2 that work with Spark 4.3, named one by one since such a mirror lacks some that they name.
_CONNECTORS = {
    pyspark.__version__: (_SPARK.format(pyspark.__version__),),
    "4.2.0": (
        _SPARK.format("4.2.0") + "!",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0!",
        f"org.apache.kafka:kafka-clients:{_KAFKA}",
        "org.apache.commons:commons-pool2:2.12.0",
    ),
}
_POM = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>tidings</groupId><artifactId>{name}</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>{dependencies}</dependencies>
</project>
"""
_DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>{}</dependency>"
_ALONE = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
_SETTINGS = """process.roles=broker,controller
node.id={node}
controller.quorum.voters={voters}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={data}
num.partitions=2
auto.create.topics.enable=true
default.replication.factor={copies}
min.insync.replicas={in_sync}
offsets.topic.num.partitions=1
offsets.topic.replication.factor={copies}
transaction.state.log.replication.factor={copies}
transaction.state.log.min.isr={in_sync}
group.initial.rebalance.delay.ms=0
"""


class CannotFetch(Exception):
    """The packages cannot be had here."""


@dataclass
class Broker:
    """One broker or several that keep copies for each other."""

    servers: str
    processes: list[subprocess.Popen[bytes]]

    def topic(self) -> str:
        """A name that nobody has used; the first message makes the topic, in two partitions."""
        return f"topic-{uuid.uuid4().hex[:12]}"

    def kill(self, number: int) -> None:
        self.processes[number].kill()
        self.processes[number].wait(_WAIT)


@contextmanager
def kafka(brokers: int = 1) -> Iterator[Broker]:
    """Skips the test where Kafka cannot be had."""
    try:
        jars = _fetched(f"kafka-{_KAFKA}", (f"org.apache.kafka:kafka_2.13:{_KAFKA}",))
    except CannotFetch as unavailable:
        missing(str(unavailable))
    folder = Path(tempfile.mkdtemp(prefix="tidings-kafka-"))
    java = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*"]
    ports = _free_ports(2 * brokers)
    voters = ",".join(f"{node + 1}@127.0.0.1:{ports[brokers + node]}" for node in range(brokers))
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for node in range(brokers):
            own = folder / str(node)
            own.mkdir()
            settings = own / "server.properties"
            settings.write_text(
                _SETTINGS.format(
                    node=node + 1, voters=voters, port=ports[node], controller=ports[brokers + node],
                    data=own / "data", copies=brokers, in_sync=max(1, brokers - 1),
                )
            )  # fmt: skip
            made = subprocess.run(
                [*java, "kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", settings],
                capture_output=True,
                text=True,
            )
            assert made.returncode == 0, made.stderr
            with (own / "log").open("wb") as log:
                processes.append(subprocess.Popen([*java, "kafka.Kafka", settings], stdout=log, stderr=log, cwd=own))
        for node, process in enumerate(processes):
            _await(ports[node], process, folder / str(node) / "log")
        yield Broker(",".join(f"127.0.0.1:{port}" for port in ports[:brokers]), processes)
    finally:
        for process in processes:
            process.kill()  # nobody needs the data any more
            process.wait(_WAIT)
        shutil.rmtree(folder, ignore_errors=True)


@cache
def connector() -> Path:
    """A folder with the jars that Spark needs beside its own; skips the test where they cannot be had."""
    problem = ""
    for version, packages in _CONNECTORS.items():
        try:
            return _fetched(f"kafka-connector-{version}", packages, without=Path(pyspark.__file__).parent / "jars")
        except CannotFetch as unavailable:
            problem = problem or str(unavailable)
    missing(problem)


def _fetched(name: str, packages: tuple[str, ...], without: Path | None = None) -> Path:
    """The folder with these packages and all that they need, less what is in another folder under any version."""
    cached = cache_folder() / name
    if cached.is_dir():
        return cached
    maven = shutil.which("mvn")
    if maven is None:
        raise CannotFetch("Maven is not installed (Debian: apt-get install maven)")
    cached.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cached.parent, prefix=f".{name}.") as work:
        dependencies = "".join(_dependency(package) for package in packages)
        (Path(work) / "pom.xml").write_text(_POM.format(name=name, dependencies=dependencies))
        # A repository of its own: what Maven leaves half done in the user's, Spark's own resolver stumbles over.
        command = [maven, "-B", "-q", f"-Dmaven.repo.local={cache_folder() / 'maven'}", "dependency:copy-dependencies"]
        command += ["-DincludeScope=runtime", "-DoutputDirectory=lib"]
        fetched = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=_FETCH)
        if fetched.returncode != 0:
            said = next((line for line in fetched.stdout.splitlines() if "ERROR" in line), "without a word")
            raise CannotFetch(f"Maven could not fetch {packages[0]}: {said[:300]}")
        there = {_artifact(jar) for jar in without.glob("*.jar")} if without else set()
        for jar in (Path(work) / "lib").glob("*.jar"):
            if _artifact(jar) in there:
                jar.unlink()
        os.rename(Path(work) / "lib", cached)
    return cached


def _dependency(package: str) -> str:
    """`group:artifact:version`, with an exclamation mark when it comes alone."""
    group, artifact, version = package.removesuffix("!").split(":")
    return _DEPENDENCY.format(group, artifact, version, _ALONE if package.endswith("!") else "")


def _artifact(jar: Path) -> str:
    return re.sub(r"-\d.*", "", jar.stem)


def _await(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _WAIT
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
