"""`tidings simulate xevent` prints and draws what XEvent and SCRIBE carry."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tidings

SMALL = ("simulate", "xevent", "--peers", "200", "--paths", "20", "--documents", "3", "--crashes", "1")


def test_figures_for_each_system(tidings: Tidings) -> None:
    done = tidings(*SMALL, "--crashed", "0.2", "--json")
    assert done.exit_code == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row.get("system") for row in rows] == [
        *("XEvent", "SCRIBE", "unicast"), None, *("XEvent", "SCRIBE", "basic SCRIBE")
    ]  # fmt: skip
    assert [row["missed"] for row in rows[:3]] == [0, 0, 0]
    assert rows[2]["penalty"]["mean"] == 1
    assert [(row["crashed"], len(row["reached"])) for row in rows[4:]] == [(0.2, 61)] * 3
    assert rows[4]["reached"][-1] == 1


def test_two_tables(tidings: Tidings) -> None:
    done = tidings(*SMALL)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split()[:3] == ["system", "mean", "RDP"]
    assert [line.split()[0] for line in lines[1:4]] == ["XEvent", "SCRIBE", "unicast"]
    assert lines[4].startswith("matches that covering found without a test: ")
    assert [line.split("%")[0].split()[-1] for line in lines[6:]] == ["10"] * 3 + ["20"] * 3 + ["30"] * 3


def test_plots(tidings: Tidings, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    done = tidings(*SMALL, "--plot", str(tmp_path / "plots"))
    assert done.exit_code == 0, done.stderr
    names = sorted(path.name for path in (tmp_path / "plots").iterdir())
    assert names == [f"xevent-{number}.{form}" for number in (7, 8, 9) for form in ("png", "svg")]


def test_without_crashes_there_is_one_table(tidings: Tidings) -> None:
    done = tidings(*SMALL[:-1], "0")
    assert done.exit_code == 0, done.stderr
    assert len(done.stdout.splitlines()) == 5


def test_usage(tidings: Tidings) -> None:
    assert tidings("simulate", "xevent", "--peers", "1").exit_code == 2
    assert tidings("simulate", "xevent", "--crashed", "1").exit_code == 2
