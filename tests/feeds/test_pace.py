"""How far a long file is."""

import gzip
from collections.abc import Callable

import pytest

from tidings.feeds.records.records import Located
from tidings.feeds.sources.content import Content
from tidings.feeds.sources.pace import Pace


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_rate_and_the_time_left_are_told_every_five_seconds(pack: Callable[[bytes], bytes]) -> None:
    now = 0.0
    heard: list[str] = []
    pace = Pace(Content("cars.csv", pack(b"x\n" * 9_999)), heard.append, clock=lambda: now)
    for now in (1.0, 4.9, 5.0, 7.0, 10.0):
        pace.see(Located({}, int(now * 500) + 1, int(now * 500)))
    assert heard == [
        "cars.csv: 2,500 records, 500/s, 25%, about 15 s left",
        "cars.csv: 5,000 records, 500/s, 50%, about 10 s left",
    ]


def test_without_lines_the_rate_alone_is_told() -> None:
    now = 0.0
    heard: list[str] = []
    pace = Pace(Content("cars.json", b"[]"), heard.append, clock=lambda: now)
    now = 10.0
    pace.see(Located({}, 0, 2_000))
    assert heard == ["cars.json: 2,000 records, 200/s"]
