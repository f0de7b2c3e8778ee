"""How commands speak to people: results on standard output, everything else on standard error, exit codes that mean something."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tidings.errors import TidingsError

INPUT_WAS_WRONG = 1
USAGE = 2

messages = Console(stderr=True, highlight=False, soft_wrap=True)
output = Console(highlight=False, soft_wrap=True)


@contextmanager
def plain_errors() -> Iterator[None]:
    """An error of the input ends the command with a message and exit code 1, without a traceback."""
    try:
        yield
    except TidingsError as problem:
        fail(str(problem))
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except OSError as problem:
        where = f"{problem.filename}: " if problem.filename else ""
        fail(f"{where}{problem.strerror or problem}")


def fail(message: str, code: int = INPUT_WAS_WRONG) -> NoReturn:
    messages.print(f"[bold red]error:[/] {escape(message)}")
    raise typer.Exit(code)


def note(message: str) -> None:
    messages.print(f"[yellow]note:[/] {escape(message)}")


def warn(message: str) -> None:
    messages.print(f"[yellow]warning:[/] {escape(message)}")


@contextmanager
def progress() -> Iterator[Progress]:
    """A bar on a terminal (nothing elsewhere), gone when the work is done."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    shown = messages.is_terminal
    with Progress(*columns, console=messages, transient=True, disable=not shown) as bar:
        yield bar


@contextmanager
def written_whole(path: Path | None) -> Iterator[BinaryIO]:
    """A file that appears when everything has been written, and not at all when something fails. None: standard output."""
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "wb") as file:
            yield file
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
