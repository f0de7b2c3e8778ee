"""Files that somebody writes to while they are looked at."""

import os
import threading
from pathlib import Path

import pytest

from tidings.feeds import SourceUnreachable
from tidings.feeds.mapping.mapping import Origin
from tidings.feeds.sources import sources
from tidings.feeds.sources.folder_source import FolderSource
from tidings.feeds.sources.sources import open_source


class Slowly(threading.Event):
    """Each wait ends at once; until there are no more lines, one is written meanwhile."""

    def __init__(self, path: Path, rows: int) -> None:
        super().__init__()
        self.path, self.rows = path, rows

    def wait(self, timeout: float | None = None) -> bool:
        if self.rows:
            self.rows -= 1
            with self.path.open("a") as file:
                file.write("row\n")
        return False


def test_a_look_waits_for_a_file_that_is_being_written(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("ro")
    source = FolderSource(tmp_path, "*", 1.0, patience=5.0)
    (content,) = source.look(Slowly(path, 2))
    assert content.body == b"rorow\nrow\n"


def test_a_file_that_is_written_on_and_on_is_left_out_and_told(tmp_path: Path) -> None:
    (tmp_path / "whole.csv").write_text("whole")
    os.utime(tmp_path / "whole.csv", (1, 1))
    path = tmp_path / "a.csv"
    path.write_text("ro")
    source = FolderSource(tmp_path, "*", 1.0, patience=5.0)
    looked = source.look(Slowly(path, 100))
    assert next(looked).body == b"whole"
    with pytest.raises(SourceUnreachable, match=r"a\.csv: it is still being written, so it was left out"):
        next(looked)


def test_a_single_look_waits_and_a_sample_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_SETTLED", 1_000.0)
    (tmp_path / "a.csv").write_text("row")
    origin = Origin(folder=tmp_path)
    with pytest.raises(SourceUnreachable, match="being written"):
        list(open_source(origin, once=True).look())
    assert list(open_source(origin).look()) == []
    assert [content.body for content in open_source(origin, sample=True).look()] == [b"row"]


def test_files_in_subfolders_are_read_once_each_and_again_when_changed(tmp_path: Path) -> None:
    for name in ("a.csv", "old/a.csv", "old/older/a.csv", "old/a.txt", ".hidden/a.csv", "old/b.csv.part"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    source = FolderSource(tmp_path, "**/*.csv", 0.0)

    def looked() -> set[str]:
        found = set()
        for content in source.look():
            found.add(content.body.decode())
            source.done(content)
        return found

    assert looked() == {"a.csv", "old/a.csv", "old/older/a.csv"}
    assert looked() == set()
    (tmp_path / "old" / "a.csv").write_text("changed")
    assert looked() == {"changed"}
    source.again(str(tmp_path / "old" / "older" / "a.csv"))
    assert looked() == {"old/older/a.csv"}
    later = FolderSource(tmp_path, "**/*.csv", 0.0)
    later.restore(source.kept(set()))
    source = later
    assert looked() == set()
