"""`tidings pipeline` as a user starts it."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Tidings, process
from tidings.pipeline.folder import DataFolder
from tidings.store import Store


@pytest.fixture
def data(tidings: Tidings, tmp_path: Path) -> Path:
    loaded = tidings(
        "journal", "load", "--data", "data", "--schema", "schema.json", "--subscriptions", "subscriptions.jsonl"
    )
    assert loaded.exit_code == 0
    return tmp_path / "data"


@pytest.mark.slow
def test_files_in_notifications_out(data: Path, tmp_path: Path) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    shutil.copy("events.jsonl", inbox)
    (inbox / "damaged.parquet").write_bytes(b"no parquet")
    metrics = tmp_path / "tidings.prom"
    done = process(
        "pipeline", "--data", "data", "--source", f"files:{inbox}", "--once", "--json", "--metrics", str(metrics)
    )
    assert done.returncode == 0, done.stderr
    assert "3 events matched, 6 notifications stored" in done.stderr
    looks = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert looks[-1]["lag"] == 0
    assert "tidings_pipeline_notifications_total 6" in metrics.read_text()
    with Store.open(data / "tidings.db") as store:
        assert len(store.notifications()) == 6
        places = {(letter.letter.origin, letter.letter.place) for letter in store.dead_letters()}
        assert places == {("events.jsonl", "4"), ("damaged.parquet", "file")}
    checked = process("replay", "--data", "data", "--check")
    assert checked.returncode == 0, checked.stderr


def test_a_folder_in_use(tidings: Tidings, data: Path) -> None:
    folder = DataFolder(data)
    folder.lock()
    try:
        done = tidings("pipeline", "--data", "data", "--once")
    finally:
        folder.unlock()
    assert done.exit_code == 1
    assert "a pipeline runs on" in done.stderr


def test_a_checkpoint_of_another_journal(tidings: Tidings, data: Path) -> None:
    DataFolder(data).checkpoint("journal", "another")
    done = tidings("pipeline", "--data", "data", "--once")
    assert done.exit_code == 1
    assert "move it away" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--direct"], "--direct needs a --source"),
        (["--sink", "parquet:out"], "add --direct"),
        (["--plan-limit", "much"], "is not a size"),
        (["--spark", "executor.memory=2g"], "not a Spark setting"),
    ],
)
def test_usage(tidings: Tidings, data: Path, options: list[str], said: str) -> None:
    done = tidings("pipeline", "--data", "data", "--once", *options)
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_source_that_is_none(tidings: Tidings, data: Path) -> None:
    done = tidings("pipeline", "--data", "data", "--once", "--source", "ftp://somewhere")
    assert done.exit_code == 1
    assert "files:FOLDER" in done.stderr


def test_sqlite_is_refused_with_a_cluster(tidings: Tidings, data: Path) -> None:
    done = tidings("pipeline", "--data", "data", "--once", "--master", "spark://127.0.0.1:1")
    assert done.exit_code == 1
    assert "PostgreSQL" in done.stderr
