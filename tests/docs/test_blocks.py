"""Every example on every page runs."""

import io
import json
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lxml import etree
from typer.testing import CliRunner

from tests.docs.pages import ROOT, Block, blocks
from tidings.cli.main import app
from tidings.events import read_events, validate
from tidings.schema import Catalog, json_form, xml_form
from tidings.schema.files import read_catalog
from tidings.service.api.events.event_routes import PublishedMany


def by_page(language: str) -> list[list[Block]]:
    return [list(group) for _, group in groupby(blocks(language), key=lambda block: block.page)]


@pytest.fixture
def catalog() -> Catalog:
    return read_catalog(ROOT / "examples" / "schema.json")[0]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the examples, so that what a command writes does not stay in the repository."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


PROCESSES = ("serve", "pipeline", "outbox", "demo", "torture", "backtest", "query", "replay")
# They start Spark several times.
SLOW = ("back-test.md", "back-up.md", "commands.md", "find-out-why.md", "match-in-your-own-job.md", "pipeline.md")


def marked(pages: list[list[Block]]) -> list[Any]:
    """Each page under its name."""
    names = [page[0].page.name for page in pages]
    marks = [(pytest.mark.slow,) if name in SLOW else () for name in names]
    return [pytest.param(page, id=name, marks=mark) for page, name, mark in zip(pages, names, marks, strict=True)]


@pytest.mark.parametrize("page", marked(by_page("python")))
def test_python(page: list[Block], folder: Path) -> None:
    """The blocks of a page follow each other in one program."""
    names: dict[str, Any] = {}
    for block in page:
        exec(compile("\n" * block.line + block.text, str(block.page), "exec"), names)


@pytest.mark.parametrize("page", marked(by_page("console")))
def test_console(page: list[Block], folder: Path) -> None:
    """Each command prints the lines shown below it, in their order; what it prints besides is not shown."""
    for block in page:
        for command, shown in commands(block):
            printed = run(command)
            place = 0
            for line in shown:
                found = printed.find(line, place)
                assert found >= 0, f"{block.name}: after {command!r} there is no {line!r} in:\n{printed}"
                place = found + len(line)


def commands(block: Block) -> list[tuple[str, list[str]]]:
    """The commands of a block with the lines shown below each; `make` is not run from its own tests."""
    found: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.strip():
            found[-1][1].append(line.strip())
    for command, _ in found:
        assert command.startswith(("tidings ", "make ")), f"{block.name}: {command}"
    return [(command, shown) for command, shown in found if command.startswith("tidings ")]


def run(command: str) -> str:
    """Standard output, then standard error, lines trimmed. In this process, which has the libraries loaded, but for
    commands that start Spark or set signals' handlers."""
    arguments = shlex.split(command)
    if arguments[1] in PROCESSES or "spark" in arguments:
        done = subprocess.run(
            [sys.executable, "-m", "tidings.cli.main", *arguments[1:]],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        stdout, stderr = done.stdout, done.stderr
    else:
        result = CliRunner().invoke(app, arguments[1:], prog_name="tidings")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        stdout, stderr = result.stdout, result.stderr
    assert "Traceback" not in stderr, stderr
    return "\n".join(line.strip() for line in (stdout + stderr).splitlines())


@pytest.mark.parametrize("block", blocks("json"), ids=lambda block: block.name)
def test_json(block: Block, catalog: Catalog) -> None:
    parsed = json.loads(block.text)
    if "event_type" in parsed:
        validate(parsed, catalog)
    elif "domains" in parsed:
        json_form.read(parsed)
    elif "results" in parsed:
        told = msgspec.convert(parsed, PublishedMany)
        states = Counter(result.status for result in told.results)
        assert states == {"accepted": told.accepted, "duplicate": told.duplicates, "refused": told.refused}
    else:
        assert parsed.keys() == {"line", "id", "errors"}


@pytest.mark.parametrize("block", blocks("xml"), ids=lambda block: block.name)
def test_xml(block: Block, catalog: Catalog) -> None:
    if block.text.startswith("<EVENTS>"):
        (reading,) = read_events(io.BytesIO(block.text.encode()), catalog, "xml")
        assert reading.refused == []
        assert dict(reading.batch.event(0).attributes)["paint"] == ("red", "white")
        return
    if block.text.startswith("<PUBLISH_EVENT "):  # what a composite found
        event = etree.fromstring(block.text)
        (detection,) = event.iter("DETECTION")
        *_, last = detection.iter("CONSTITUENT")
        assert last.attrib.items() == [(name, event.get(name)) for name in ("id", "source", "time")]
        assert detection.get("time") == last.get("time")
        return
    read, notes = xml_form.read(block.text)
    assert read.event_type_names == ("car",)
    assert notes == ()


@pytest.mark.parametrize("block", blocks("csv"), ids=lambda block: block.name)
def test_csv(block: Block, catalog: Catalog) -> None:
    (reading,) = read_events(io.BytesIO(block.text.encode()), catalog, "csv")
    assert reading.refused == []
    assert reading.batch.event(0).event_types == ("auction", "car")
    assert dict(reading.batch.event(0).attributes)["paint"] == ("red", "white")


def test_the_tour_runs() -> None:
    tour = [sys.executable, str(ROOT / "examples" / "tour.py")]
    done = subprocess.run(tour, capture_output=True, text=True, encoding="utf-8", check=True)
    assert '{"event": "e1", "subscription": "two-tone"}' in done.stdout
    assert "schema version 1 became 2" in done.stderr
