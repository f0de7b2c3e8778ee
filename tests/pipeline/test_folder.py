"""Whose a data folder is."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tidings.pipeline.folder import DataFolder, FolderInUse, ForeignCheckpoint


def test_one_pipeline_at_a_time(tmp_path: Path) -> None:
    first, second = DataFolder(tmp_path), DataFolder(tmp_path)
    first.lock()
    with pytest.raises(FolderInUse, match=f"process {os.getpid()}"):
        second.lock()
    first.unlock()
    second.lock()
    second.unlock()


def test_a_process_that_died_holds_nothing(tmp_path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from tidings.pipeline.folder import DataFolder; "
        "DataFolder(Path(sys.argv[1])).lock(); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert done.returncode == -9
    folder = DataFolder(tmp_path)
    folder.lock()
    folder.unlock()


def test_a_checkpoint_belongs_to_a_journal_and_a_query(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    checkpoint = folder.checkpoint("journal", "one")
    assert folder.checkpoint("journal", "one") == checkpoint
    with pytest.raises(ForeignCheckpoint, match=r"over journal one, not of .*over journal two"):
        folder.checkpoint("journal", "two")


@pytest.mark.parametrize("owner", ["", "{", '{"journal": "one"}', None])
def test_what_is_not_ours_is_not_touched(tmp_path: Path, owner: str | None) -> None:
    checkpoint = tmp_path / "checkpoints" / "journal"
    checkpoint.mkdir(parents=True)
    (checkpoint / "metadata").write_text("{}")
    if owner is not None:
        (checkpoint / "tidings.json").write_text(owner)
    with pytest.raises(ForeignCheckpoint, match="move it away"):
        DataFolder(tmp_path).checkpoint("journal", "one")
    assert (checkpoint / "metadata").exists()


def test_set_aside(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    for number in (1, 2):
        folder.checkpoint("journal", "one")
        aside = folder.set_aside("journal", "one")
        assert aside == f"journal.set-aside-{number}"
        assert json.loads((tmp_path / "checkpoints" / aside / "tidings.json").read_text())["journal"] == "one"


def test_checkpoints_at_a_uri(tmp_path: Path) -> None:
    """Only Spark can read them: each journal has names of its own, and one that is set aside is never used again."""
    folder = DataFolder(tmp_path / "data", "s3a://bucket/checkpoints/")
    assert folder.checkpoint("journal", "one") == "s3a://bucket/checkpoints/journal-one"
    assert folder.checkpoint("journal", "two") == "s3a://bucket/checkpoints/journal-two"
    assert folder.set_aside("journal", "one") == "s3a://bucket/checkpoints/journal-one"
    second = folder.checkpoint("journal", "one")
    assert second.startswith("s3a://bucket/checkpoints/journal-one-")
    assert DataFolder(tmp_path / "data", "s3a://bucket/checkpoints").checkpoint("journal", "one") == second
    assert folder.checkpoint("ingest-1", "one") == "s3a://bucket/checkpoints/ingest-1-one"
    time.sleep(0.002)
    assert folder.set_aside("journal", "one") == second
    assert folder.checkpoint("journal", "one") not in (second, "s3a://bucket/checkpoints/journal-one")
