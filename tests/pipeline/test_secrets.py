"""The store's password and what logs in to Kafka reach the workers, and nothing that Spark shows to people.

A pipeline runs with an event log, and logs at level INFO (at DEBUG Spark writes out the pickled source). Then its
files, its log, its plans as Spark explains them, its progress and the command lines of its processes are searched for
the password, also as the numbers of its bytes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.market import Market, opening
from tests.pipeline.test_kafka import broker, sale, send  # noqa: F401  # a fixture
from tests.services.kafka import Broker
from tidings.pipeline.pipeline import Pipeline, PipelineSettings
from tidings.store import Store, Subscribe

pytestmark = pytest.mark.slow
PASSWORD = "Sesam-oeffne-dich-4711"
# The broker speaks PLAINTEXT: the client is given the secrets and does not use them.
CLIENT = f"""security.protocol=PLAINTEXT
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="ann" password="{PASSWORD}";
ssl.keystore.key={PASSWORD}
ssl.key.password={PASSWORD}
"""


def test_the_password_is_nowhere_to_be_seen(
    with_kafka: SparkSession, broker: Broker, postgresql_url: str, tmp_path: Path, properties: Path,  # noqa: F811
) -> None:  # fmt: skip
    url = postgresql_url.replace("tidings@", f"tidings:{PASSWORD}@")
    topic = broker.topic()
    send(with_kafka, broker, topic, [sale(f"k{number}") for number in range(20)])
    with Store.open(url) as store:
        store.append([*opening(), *Market(seed=4).drafts(50, changes=0.2), Subscribe("of-kafka", "price < 5")])
        (tmp_path / "inbox").mkdir()
        (tmp_path / "inbox" / "wrong.jsonl").write_text('{"id": "w1"}\n')
        before = store.tail()
        run(tmp_path, url, f"files:{tmp_path / 'inbox'}", f"kafka://{broker.servers}/{topic}?properties={properties}")
        assert store.committed() == store.tail() == before + 20
    search(tmp_path)


def test_kafkas_password_is_nowhere_to_be_seen_when_matched_directly(
    with_kafka: SparkSession, broker: Broker, tmp_path: Path, properties: Path,  # noqa: F811
) -> None:  # fmt: skip
    come, go = (f"kafka://{broker.servers}/{broker.topic()}" for _ in range(2))
    send(with_kafka, broker, come.rpartition("/")[2], [sale(f"k{number}") for number in range(20)])
    with Store.open(tmp_path / "tidings.db") as store:
        store.append([*opening(), Subscribe("cheap", "price < 5")])
        run(tmp_path, store.url, f"{come}?properties={properties}", sink=f"{go}?properties={properties}")
    search(tmp_path)


@pytest.fixture
def properties(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In a folder that is not searched."""
    file = tmp_path_factory.mktemp("secret") / "kafka.properties"
    file.write_text(CLIENT)
    return file


def run(folder: Path, store: str, *sources: str, sink: str = "") -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.pipeline.test_secrets", str(folder), sink, *sources],
        capture_output=True, text=True, check=False, env=os.environ | {"TIDINGS_STORE": store},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (folder / "log").write_text(done.stderr)
    (folder / "shown").write_text(done.stdout)
    assert "mapInArrow" in done.stdout or "MapInArrow" in done.stdout, "the plans were explained"
    assert "java" in done.stdout, "the command lines were listed"
    assert "MicroBatchExecution" in done.stderr, "the log is a wordy one"
    assert "kafka" in done.stdout, "the plans of Kafka's query, too"


def search(folder: Path) -> None:
    numbers = re.compile(rb"\D+".join(str(byte).encode() for byte in PASSWORD.encode()))
    searched = [path for path in folder.rglob("*") if path.is_file()]
    assert {"events", "checkpoints", "plans"} <= {part for path in searched for part in path.parts}
    for path in searched:
        content = path.read_bytes()
        assert PASSWORD.encode() not in content, path
        assert not numbers.search(content), path


def main(folder: Path, sink: str, sources: tuple[str, ...]) -> None:
    """The pipeline, in a process of its own: an event log must be asked for before Java starts."""
    (folder / "events").mkdir()
    spark = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.log.level": "INFO",
        "spark.ui.enabled": "true",
        "spark.sql.streaming.pollingDelay": "200ms",
    }
    settings = PipelineSettings(
        folder / "data", os.environ["TIDINGS_STORE"], sources=sources, direct_to=sink, spark=tuple(spark.items())
    )
    stopped, shown = threading.Event(), set()

    def watch(_: Any) -> None:
        from pyspark.sql import SparkSession

        session = SparkSession.getActiveSession()
        assert session is not None
        for query in session.streams.active:
            if query.lastProgress and query.name not in shown:
                print(query.lastProgress)
                query.explain(extended=True)
                shown.add(query.name)
        if shown:
            print(*_command_lines(), sep="\n")
        is_done = bool(sink) or pipeline.store.committed() == pipeline.store.tail()
        if len(shown) == len(sources) + (not sink) and is_done:
            stopped.set()

    with Pipeline(settings) as pipeline:
        pipeline.run(stopped, watch=watch)


def _command_lines() -> Iterator[str]:
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            yield process.read_bytes().replace(b"\0", b" ").decode(errors="replace")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], tuple(sys.argv[3:]))
