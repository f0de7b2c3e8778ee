"""Nothing that users meet is missing from the pages, and no link leads nowhere."""

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

import tidings
from tests.docs.pages import LINKED, PAGES, ROOT, anchors, links, read
from tidings.cli.main import app
from tidings.errors import TidingsError


def leaves(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Each command that does something, by its whole name."""
    if not hasattr(command, "commands"):
        yield name, command
        return
    if command.invoke_without_command and name != "tidings":
        yield name, command
    for word, below in command.commands.items():
        yield from leaves(below, f"{name} {word}")


COMMANDS = dict(leaves(typer.main.get_command(app), "tidings"))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_with_its_options(name: str) -> None:
    page = read("docs/commands.md")
    heading = f"## `{name}`\n"
    assert heading in page
    section = page.partition(heading)[2].partition("\n## ")[0]
    assert f"$ {name} " in section
    for parameter in COMMANDS[name].params:
        for option in parameter.opts:
            if option.startswith("--") and option != "--help":
                assert option in section, f"{name} {option}"


def errors(kind: type[TidingsError]) -> Iterator[type[TidingsError]]:
    for below in kind.__subclasses__():
        if below.__module__.startswith("tidings."):
            yield below
            yield from errors(below)


def test_every_error() -> None:
    for module in pkgutil.walk_packages(tidings.__path__, "tidings."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    text = "".join(read(page) for page in PAGES)
    missing = [kind.__name__ for kind in errors(TidingsError) if not re.search(rf"`{kind.__name__}`", text)]
    assert missing == []


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    for link in links(page):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_room_is_in_the_table_of_rooms() -> None:
    package = ROOT / "src" / "tidings"
    rooms = [found.parent.name for found in package.glob("*/__init__.py")]
    flow = read("docs/flow.md")
    for room in rooms:
        assert f"| `{room}` |" in flow
