"""`tidings simulate network` prints and draws what a network would carry."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tidings

SMALL = ("simulate", "network", "--servers", "8", "--subscriptions", "8", "--events", "10")


def test_figures_for_each_distribution(tidings: Tidings) -> None:
    done = tidings(*SMALL, "--topology", "ring", "--selectivity", "0.1", "--selectivity", "1", "--json")
    assert done.exit_code == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    names = ["flooding", "events", "subscriptions", "advertisements"]
    assert [(row["selectivity"], row["distribution"]) for row in rows] == [
        (s, name) for s in (0.1, 1) for name in names
    ]
    assert [row["missed"] for row in rows] == [0] * 8
    assert rows[0]["messages_per_event"] == 9  # each link both ways, but the seven that the event came by
    assert rows[1]["messages_per_event"] == rows[5]["messages_per_event"] == rows[6]["messages_per_event"] == 7
    assert rows[2]["messages_per_event"] < 7


def test_a_table_with_the_time_to_repair(tidings: Tidings) -> None:
    done = tidings(*SMALL, "--topology", "star", "--fault", "crash", "--fault", "growth")
    assert done.exit_code == 0, done.stderr
    header, *rows = done.stdout.splitlines()
    assert header.split()[-5:] == ["missed", "after", "crash", "after", "growth"]
    assert [row.split()[1] for row in rows] == ["flooding", "events", "subscriptions", "advertisements"]


def test_what_covering_saves(tidings: Tidings) -> None:
    done = tidings(*SMALL, "--selectivity", "0.5", "--saved", "--json")
    assert done.exit_code == 0, done.stderr
    rows = {row["distribution"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert rows["flooding"]["filters_uncovered"] is None
    assert rows["subscriptions"]["filters_uncovered"] > rows["subscriptions"]["filters_per_server"]


def test_a_plot(tidings: Tidings, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    shares = ("--selectivity", "0.1", "--selectivity", "1")
    done = tidings(*SMALL, *shares, "--fault", "growth", "--plot", str(tmp_path / "plots"))
    assert done.exit_code == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == [
        "network-traffic.png",
        "network-traffic.svg",
    ]
    drawn = (tmp_path / "plots" / "network-traffic.svg").read_text()
    for text in ("messages per event", "filters held by a server", "99 in 100", "after the fault"):
        assert text in drawn


def test_usage(tidings: Tidings) -> None:
    assert tidings("simulate", "network", "--topology", "moebius").exit_code == 2
    assert tidings("simulate", "network", "--selectivity", "2").exit_code == 2
    assert tidings("simulate", "network", "--fault", "flood").exit_code == 2
