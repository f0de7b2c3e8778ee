"""The commands in a folder of their own that holds the examples; some with a running server: the real application in a
real uvicorn on loopback."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.client.conftest import settings  # noqa: F401  # a fixture
from tests.service.conftest import Service, service  # noqa: F401  # a fixture
from tidings.cli.main import app

EXAMPLES = Path(__file__).parents[2] / "examples"
SCHEMA = ("--schema", "schema.json")
EVENT = {
    "id": "x",
    "event_type": "auction",
    "attributes": {"title": "Oak chair", "price": 10, "category": "chair", "ends": "2026-05-08"},
}
PASSWORD = "correct horse battery"
CAR = {"id": "e1", "event_type": "car", "attributes": {"brand": "mini", "year": 1990}}

# What the examples give, in this order.
MATCHES = [
    {"event": "e1", "subscription": "bargain"},
    {"event": "e1", "subscription": "cheap-mini"},
    {"event": "e1", "subscription": "not-blue"},
    {"event": "e1", "subscription": "two-tone"},
    {"event": "e2", "subscription": "ending-soon"},
    {"event": "e2", "subscription": "furniture"},
]

Tidings = Callable[..., Result]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The examples, copied, in the current directory."""
    for name in ("schema.json", "subscriptions.jsonl", "events.jsonl"):
        shutil.copy(EXAMPLES / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def tidings() -> Tidings:
    """Runs a command in this process; whatever it raises besides an exit is a failure of the test."""

    def run(*arguments: str) -> Result:
        result = CliRunner().invoke(app, list(arguments))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def url(tmp_path: Path) -> str:
    return str(tmp_path / "server.db")


@pytest.fixture
def server(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:  # noqa: F811
    """The server that the commands speak to by default, with ann's token saved."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("TIDINGS_SERVER", service.address)
    monkeypatch.delenv("TIDINGS_TOKEN", raising=False)
    done = CliRunner().invoke(app, ["register", "ann"], input=PASSWORD + "\n")
    assert done.exit_code == 0, done.output
    return service


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def subscriptions(*filters: str, name: str = "own.jsonl") -> str:
    """A file of subscriptions s1, s2, … with these filters."""
    lines = [json.dumps({"id": f"s{number}", "filter": text}) for number, text in enumerate(filters, 1)]
    Path(name).write_text("".join(line + "\n" for line in lines))
    return name


def process(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs a command as a process of its own."""
    command = [sys.executable, "-m", "tidings.cli.main", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run(command, text=True, check=False, **pipes)  # type: ignore[call-overload, no-any-return]


def exit_code_when_nobody_reads(*arguments: str) -> tuple[int, str]:
    """The exit code and standard error of a command whose reader has gone away."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "tidings.cli.main", *arguments]
    with subprocess.Popen(command, stdout=write, stderr=subprocess.PIPE, text=True) as child:
        os.close(write)
        return child.wait(), child.stderr.read() if child.stderr else ""


def left_behind(folder: Path) -> list[str]:
    """What is in the folder besides the examples."""
    known = {"schema.json", "subscriptions.jsonl", "events.jsonl", "own.jsonl"}
    return sorted(path.name for path in folder.iterdir() if path.name not in known)
