"""How far a long file is."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.records.records import Located, located_records
from tidings.feeds.sources.content import Content
from tidings.feeds.sources.folder_source import FolderSource
from tidings.feeds.sources.pace import Pace


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_rate_and_the_time_left_are_told_every_five_seconds(pack: Callable[[bytes], bytes]) -> None:
    now = 0.0
    heard: list[str] = []
    content = Content("cars.csv", pack(b"x\n" * 9_999))
    pace = Pace(heard.append, clock=lambda: now)
    for now in (1.0, 4.9, 5.0, 7.0, 10.0):
        pace.see(content, Located({}, int(now * 500) + 1, int(now * 500)))
    assert heard == [
        "cars.csv: 2,500 records, 500/s, 25%, about 15 s left",
        "cars.csv: 5,000 records, 500/s, 50%, about 10 s left",
    ]


def test_without_lines_the_records_are_counted_and_else_the_rate_alone_is_told() -> None:
    now = 0.0
    heard: list[str] = []
    pace = Pace(heard.append, clock=lambda: now)
    now = 10.0
    pace.see(Content("cars.json", b"[]"), Located({}, 0, 2_000, 8_000))
    now = 20.0
    pace.see(Content("page.html", b""), Located({}, 0, 2_000))
    assert heard == ["cars.json: 2,000 records, 200/s, 25%, about 30 s left", "page.html: 4,000 records, 200/s"]


def test_thousands_of_small_files_are_one_long_look(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number:03}.csv").write_text("a\n1\n2\n")
    now = 0.0
    heard: list[str] = []
    pace = Pace(heard.append, clock=lambda: now)
    source = FolderSource(tmp_path, "*.csv", 0.0)
    for content in source.look():
        *_, last = located_records(content, Layout("csv"), ["a"])
        now += 0.0625
        pace.see(content, last)
        source.done(content)
    assert len(heard) == 2
    assert ": file 80 of 200, 160 records, 32/s, 40%, about 8 s left" in heard[0]
    (tmp_path / "new.csv").write_text("a\n1\n")
    (new,) = source.look()
    assert (new.number, new.of) == (1, 1)
