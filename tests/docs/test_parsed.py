"""Every block of every page is run by some test, or, where it cannot be, read as what it is.

Which blocks are only read, and why, is listed here."""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.docs.pages import PAGES, ROOT, Block, blocks, page_blocks
from tidings.cli.main import app
from tidings.feeds import read_mapping
from tidings.settings import Settings, read_settings

# Where each language's blocks are run, and what of them is only read.
RUN = {
    "console": "test_blocks: commands that need no server",
    "python": "test_blocks",
    "json": "test_blocks: validated",
    "xml": "test_blocks: read",
    "csv": "test_blocks: read",
    "sh": "test_stories, but for commands.md and performance.md, see below",
    "py": "test_stories, tests/client/test_guide.py and tests/feeds/test_guide.py",
    "text": "test_stories: compared with what is printed",
    "toml": "test_stories, where it is a file; all of them are read below",
    "diff": "test_stories: changes a file as its reader would",
    "sql": "test_stories: on a PostgreSQL of its own",
    "ts": "tests/service/contract/test_clients.py: compiled in strict mode and run",
}
ONLY_READ = {
    "": "commands.md: sessions with a server, or that go on: their commands are parsed by the real command line",
    "sh": "commands.md, performance.md: they measure for minutes: parsed likewise",
    "ini": "a unit of systemd, which tests cannot start: its form is read, and its command parsed likewise",
    "nginx": "there may be no nginx: its braces are counted and the address must be the service's own",
}


def test_no_language_is_unknown() -> None:
    found = {block.language for page in PAGES for block in page_blocks(page)}
    assert found <= RUN.keys() | ONLY_READ.keys()
    assert ONLY_READ.keys() <= found  # what is no more, needs no excuse


def commands() -> list[tuple[str, str]]:
    """The place and the text of every command that is shown in a block that is only read."""
    found = []
    for block in [*blocks(""), *(block for block in blocks("sh") if block.text.startswith("$ "))]:
        lines = [line[2:] for line in block.text.splitlines() if line.startswith("$ ")]
        assert lines or block.page.name not in ("commands.md", "performance.md"), f"{block.name} shows no command"
        found += [(block.name, line) for line in lines]
    for block in blocks("sh"):
        if block.page.name == "performance.md" and not block.text.startswith("$ "):
            found += [(block.name, line) for line in block.text.splitlines() if line.startswith("tidings ")]
    return found


@pytest.mark.parametrize(("place", "command"), commands())
def test_command(place: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # some name a file of the examples
    parse(command)


def parse(command: str) -> None:
    """Raises a usage error where the command line would."""
    program, *words = shlex.split(command.split(" | ")[0])
    assert program.rpartition("/")[2] == "tidings", command
    found: Any = typer.main.get_command(app)
    context = None
    while hasattr(found, "commands"):
        if found.invoke_without_command and context is not None and (not words or words[0] not in found.commands):
            break
        name, *words = words
        context = found.make_context("tidings", [name], parent=context) if context is None else context
        found = found.commands[name]
    with found.make_context(found.name, list(words), parent=context) as made:
        assert made.params is not None


@pytest.mark.parametrize("block", blocks("toml"), ids=lambda block: block.name)
def test_toml(block: Block, tmp_path: Path) -> None:
    """Settings, or a feed's mapping."""
    file = tmp_path / "block.toml"
    file.write_text(block.text, encoding="utf-8")
    if "fields" in tomllib.loads(block.text):
        assert read_mapping(file).fields
    else:
        assert read_settings({}, {}, file) != Settings()


@pytest.mark.parametrize("block", blocks("ini"), ids=lambda block: block.name)
def test_unit(block: Block) -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(block.text)
    assert unit.sections() == ["Unit", "Service", "Install"]
    parse(unit["Service"]["ExecStart"])
    variable, _, value = unit["Service"]["Environment"].partition("=")
    assert read_settings({}, {variable: value}) != Settings()


@pytest.mark.parametrize("block", blocks("nginx"), ids=lambda block: block.name)
def test_proxy(block: Block) -> None:
    assert block.text.count("{") == block.text.count("}")
    for line in block.text.splitlines():
        assert not line.strip() or line.rstrip()[-1] in ";{}", line
    default = Settings()
    assert f"proxy_pass http://{default.host}:{default.port};" in block.text
    limit = re.search(r"client_max_body_size (\d+)g;", block.text)
    assert limit is not None
    assert int(limit[1]) << 30 == default.largest_stream
