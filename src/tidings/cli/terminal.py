"""How commands speak to people.

Results go to standard output, everything else to standard error, and exit codes mean something: 0 done, 1 the
input was wrong, 2 usage.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tidings.errors import TidingsError, shown
from tidings.logs import VARIABLE, is_logged, logged
from tidings.whole_file import whole_file

_log = logging.getLogger(__name__)

INPUT_WAS_WRONG = 1
USAGE = 2

# The extra `service` of pyproject.toml: workers and the other commands do without.
_OF_THE_SERVICE = (
    "apprise",
    "argon2",
    "cryptography",
    "fastapi",
    "httptools",
    "jinja2",
    "starlette",
    "uvicorn",
    "uvloop",
)

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class _Console(Console):
    """Leaves a closed pipe to the code that prints, where the command ends quietly."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


# Without emoji: what an event says, such as `:car:`, is shown as it is.
messages = _Console(stderr=True, emoji=False, highlight=False, soft_wrap=True)
# Beside a terminal nobody knows the width: tables take what they need.
output = _Console(emoji=False, highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 1000)


@contextmanager
def plain_errors() -> Iterator[None]:
    """An error of the input ends the command with a message and exit code 1, without a traceback."""
    try:
        yield
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except TidingsError as problem:
        fail(str(problem))
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except OSError as problem:
        where = f"{problem.filename}: " if problem.filename else ""
        fail(f"{where}{problem.strerror or problem}")
    except UnicodeEncodeError as problem:
        fail(f"{shown(problem.object)} cannot be written as {problem.encoding}")
    except ModuleNotFoundError as problem:
        missing = (problem.name or "").partition(".")[0]
        if missing not in _OF_THE_SERVICE:
            raise
        fail(f"this command needs packages that are not installed ({missing}): pip install 'tidings[service]'")
    except Exception:
        if not is_logged():
            raise
        _log.critical("unexpected error", exc_info=True)
        raise typer.Exit(INPUT_WAS_WRONG) from None


def service_log(process: str, form: str = "", *, people_watch: bool = False) -> AbstractContextManager[None]:
    """The log of a process of the service; where people watch a terminal, they get plain messages instead."""
    if people_watch and messages.is_terminal:
        return nullcontext()
    return logged(process, form or os.environ.get(VARIABLE, "text"))


def fail(message: str, code: int = INPUT_WAS_WRONG) -> NoReturn:
    if is_logged():
        _log.error("%s", message)
        raise typer.Exit(code)
    messages.print(f"[bold red]error:[/] {plain(message)}")
    raise typer.Exit(code)


def note(message: str) -> None:
    if is_logged():
        _log.info("%s", message)
        return
    messages.print(f"[yellow]note:[/] {plain(message)}")


def warn(message: str) -> None:
    if is_logged():
        _log.warning("%s", message)
        return
    messages.print(f"[yellow]warning:[/] {plain(message)}")


def plain(text: str) -> str:
    """For `print`: brackets mean nothing, and what an event holds cannot steer the terminal."""
    return escape(_CONTROL.sub(lambda found: repr(found[0])[1:-1], text))


def counted(number: int, one: str, many: str = "") -> str:
    """`1 event`, `2,000 events`"""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


@contextmanager
def progress() -> Iterator[Progress]:
    """A bar on a terminal (nothing elsewhere), gone when the work is done."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    shown = messages.is_terminal
    with Progress(*columns, console=messages, transient=True, disable=not shown) as bar:
        yield bar


@contextmanager
def written_whole(path: Path | None) -> Iterator[BinaryIO]:
    """A file that appears when all is written, and not at all when something fails. None: standard output."""
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with whole_file(path) as file:
        yield file
