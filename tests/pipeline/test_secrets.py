"""The store's password reaches the workers, and nothing that Spark shows to people.

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

from tests.pipeline.market import Market, opening
from tidings.pipeline.pipeline import Pipeline, PipelineSettings
from tidings.store import Store

PASSWORD = "Sesam-oeffne-dich-4711"


@pytest.mark.slow
def test_the_password_is_nowhere_to_be_seen(postgresql_url: str, tmp_path: Path) -> None:
    url = postgresql_url.replace("tidings@", f"tidings:{PASSWORD}@")
    with Store.open(url) as store:
        store.append([*opening(), *Market(seed=4).drafts(50, changes=0.2)])
        (tmp_path / "inbox").mkdir()
        (tmp_path / "inbox" / "wrong.jsonl").write_text('{"id": "w1"}\n')
        done = subprocess.run(
            [sys.executable, "-m", "tests.pipeline.test_secrets", str(tmp_path)],
            capture_output=True, text=True, check=False, env=os.environ | {"TIDINGS_STORE": url},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert store.committed() == store.tail()
    (tmp_path / "log").write_text(done.stderr)
    (tmp_path / "shown").write_text(done.stdout)
    assert "mapInArrow" in done.stdout or "MapInArrow" in done.stdout, "the plans were explained"
    assert "java" in done.stdout, "the command lines were listed"
    assert "MicroBatchExecution" in done.stderr, "the log is a wordy one"
    numbers = re.compile(rb"\D+".join(str(byte).encode() for byte in PASSWORD.encode()))
    searched = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"events", "checkpoints", "plans"} <= {part for path in searched for part in path.parts}
    for path in searched:
        content = path.read_bytes()
        assert PASSWORD.encode() not in content, path
        assert not numbers.search(content), path


def main(folder: Path) -> None:
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
        folder / "data", os.environ["TIDINGS_STORE"], sources=(f"files:{folder / 'inbox'}",), spark=tuple(spark.items())
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
        if len(shown) == 2 and pipeline.store.committed() == pipeline.store.tail():
            stopped.set()

    with Pipeline(settings) as pipeline:
        pipeline.run(stopped, watch=watch)


def _command_lines() -> Iterator[str]:
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            yield process.read_bytes().replace(b"\0", b" ").decode(errors="replace")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
